/* tests/fakegpu/mpi.c – wraps a real MPI (LD_PRELOAD) and claims that it accepts CUDA device
 * memory, which under the fake driver is host memory. Uses that would fail on a real GPU are
 * reported on stderr as "fakempi: …": a message in device memory after support was denied
 * (FAKEMPI_CUDA=0), and an MPI call without a current device while such messages exist. At the end
 * it prints how many messages in device memory were started. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MESSAGES = 4096 };

static MPI_Request on_device[MAX_MESSAGES]; /* persistent messages in device memory */
static int n;
static long started[2]; /* received, sent */
static bool sends[MAX_MESSAGES];

__attribute__((visibility("default"))) int MPIX_Query_cuda_support(void);

int MPIX_Query_cuda_support(void)
{
    const char *text = getenv("FAKEMPI_CUDA");
    return !text || atoi(text);
}

/* Asks the fake driver. */
static int ask_driver(const char *name, const void *at)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*ask)(const void *) = NULL;
    if (driver)
        *(void **)&ask = dlsym(driver, name);
    return ask ? ask(at) : 0;
}

static void note_message(const void *buffer, MPI_Request request, bool is_sent)
{
    if (!ask_driver("fakegpu_has", buffer))
        return;
    if (!MPIX_Query_cuda_support())
        fprintf(stderr, "fakempi: a message in device memory, which this MPI does not accept\n");
    if (n < MAX_MESSAGES) {
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

static void check_thread(void)
{
    if (n && !ask_driver("fakegpu_current", NULL))
        fprintf(stderr,
                "fakempi: a thread without a current device moves a message in device memory\n");
}

int MPI_Send_init(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    const int code = PMPI_Send_init(buffer, count, type, to, tag, comm, request);
    note_message(buffer, *request, true);
    return code;
}

int MPI_Recv_init(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    const int code = PMPI_Recv_init(buffer, count, type, from, tag, comm, request);
    note_message(buffer, *request, false);
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
    check_thread();
    return PMPI_Start(request);
}

int MPI_Testall(int count, MPI_Request request[], int *flag, MPI_Status status[])
{
    check_thread();
    return PMPI_Testall(count, request, flag, status);
}

int MPI_Finalize(void)
{
    fprintf(stderr, "messages in devices' memory: %ld sent, %ld received\n", started[1],
            started[0]);
    return PMPI_Finalize();
}
