/* tests/fakegpu/mpi.c – goes before a real MPI (LD_PRELOAD) and says that it takes CUDA's memory,
 * which is the host's where the driver is a stand-in. What a real one would fail at is told behind
 * "fakempi:": memory of a device after it was said that none is taken (FAKEMPI_CUDA=0), a call
 * while such a message is under way by a thread that has no device. In the end stderr has how many
 * messages were started in devices' memory. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static MPI_Request on_device[MOST]; /* messages in devices' memory */
static int n;
static long started[2]; /* received, sent */
static bool sends[MOST];

__attribute__((visibility("default"))) int MPIX_Query_cuda_support(void);

int MPIX_Query_cuda_support(void)
{
    const char *text = getenv("FAKEMPI_CUDA");
    return !text || atoi(text);
}

/* What the driver's stand-in shows for this. */
static int ask_driver(const char *name, const void *at)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*ask)(const void *) = NULL;
    if (driver)
        *(void **)&ask = dlsym(driver, name);
    return ask ? ask(at) : 0;
}

static void look(const void *buffer, MPI_Request request, bool is_sent)
{
    if (!ask_driver("fakegpu_has", buffer))
        return;
    if (!MPIX_Query_cuda_support())
        fprintf(stderr, "fakempi: a message in a device's memory, which nobody takes\n");
    if (n < MOST) {
        sends[n] = is_sent;
        on_device[n++] = request;
    }
}

static int find(MPI_Request request)
{
    for (int i = 0; i < n; i++)
        if (on_device[i] == request)
            return i;
    return -1;
}

static void look_at_thread(void)
{
    if (n && !ask_driver("fakegpu_taken", NULL))
        fprintf(stderr, "fakempi: a thread without a device moves a message in its memory\n");
}

int MPI_Send_init(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    const int code = PMPI_Send_init(buffer, count, type, to, tag, comm, request);
    look(buffer, *request, true);
    return code;
}

int MPI_Recv_init(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    const int code = PMPI_Recv_init(buffer, count, type, from, tag, comm, request);
    look(buffer, *request, false);
    return code;
}

int MPI_Request_free(MPI_Request *request)
{
    const int i = find(*request);
    if (i >= 0) {
        on_device[i] = on_device[--n];
        sends[i] = sends[n];
    }
    return PMPI_Request_free(request);
}

int MPI_Start(MPI_Request *request)
{
    const int i = find(*request);
    if (i >= 0)
        started[sends[i]]++;
    look_at_thread();
    return PMPI_Start(request);
}

int MPI_Testall(int count, MPI_Request request[], int *flag, MPI_Status status[])
{
    look_at_thread();
    return PMPI_Testall(count, request, flag, status);
}

int MPI_Finalize(void)
{
    fprintf(stderr, "messages in devices' memory: %ld sent, %ld received\n", started[1],
            started[0]);
    return PMPI_Finalize();
}
