/* cu/rank/cluster.c – the only file that calls MPI. */
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "src/clock.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* A waiting rank polls without pause for SPIN seconds, then sleeps between polls, so that it does
 * not take cpu time from the processes it shares cpus with. */
static const double SPIN = 200e-6;
static const struct timespec PAUSE = {0, 50000};
/* A poll that took longer than this means that this process itself was stopped, seconds. */
static const double OWN_STOP = 1;

/* A rank that waits longer than this, and much longer than ever before, reports whom it waits for,
 * seconds. */
static const double PATIENCE = 10;
enum { HOST = 64 }; /* bytes of a host name */

static int rank, size = 1;
static bool started;
static char *host; /* [size][HOST] */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
/* Empty messages between any two ranks: the sender is to end. */
static MPI_Comm notices;
static bool tells, told; /* whether ranks may send them; whether this one has */
static int heard;        /* received */

/* MPI's error handler: a lost rank or network ends all ranks. */
static void give_up(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(*code, text, &length);
    status_fail(EK_UNAVAILABLE, "rank %d of %d: %s; another rank or the network is lost", rank,
                size, text);
    MPI_Abort(*comm, status_exit_code(EK_UNAVAILABLE));
}

static enum ek_status learn_hosts(void)
{
    char mine[HOST] = "";
    gethostname(mine, sizeof mine - 1);
    host = calloc((size_t)size, HOST);
    if (!host)
        FAIL(EK_UNAVAILABLE, "cluster: out of memory for %d ranks", size);
    MPI_Allgather(mine, HOST, MPI_CHAR, host, HOST, MPI_CHAR, MPI_COMM_WORLD);
    return EK_OK;
}

enum ek_status cluster_open(void)
{
    MPI_Errhandler handler;
    int provided, done = 0;
    if (started || cluster_launch().size < 2)
        return EK_OK;
    MPI_Initialized(&done);
    if (!done && MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided))
        FAIL(EK_UNAVAILABLE, "cluster: MPI does not start; does mpirun belong to the same MPI?");
    started = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(give_up, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (size == 1) {
        MPI_Finalize();
        started = false;
        FAIL(EK_UNAVAILABLE,
             "the environment says that this is rank %d of %d, MPI knows of no other; start it by "
             "this MPI's mpirun, or unset what one has left (OMPI_*, PMI*, SLURM_STEP*)",
             cluster_launch().rank, cluster_launch().size);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &notices);
    tells = true;
    return learn_hosts();
}

static void receive_notice(void)
{
    MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, notices, MPI_STATUS_IGNORE);
    heard++;
}

/* MPI wants every message received before it ends. */
static void close_notices(void)
{
    double all = told;
    tells = false;
    cluster_sum(&all, 1);
    while (heard < (int)all - told)
        receive_notice();
    MPI_Comm_free(&notices);
}

void cluster_close(enum ek_status st)
{
    if (!started)
        return;
    if (st)
        MPI_Abort(MPI_COMM_WORLD, status_exit_code(st));
    close_notices();
    MPI_Finalize();
    free(host);
    host = NULL;
    started = false;
}

int cluster_rank(void)
{
    return rank;
}

int cluster_size(void)
{
    return size;
}

int cluster_node(int of)
{
    int first = 0;
    while (started && first < of && strcmp(host + first * HOST, host + of * HOST) != 0)
        first++;
    return first;
}

/* Warns that this rank waits for the first peer whose message has not arrived, or for all ranks in
 * a collective operation (message NULL). */
static void say_who_is_late(int n, const MPI_Request *request,
                            const struct cluster_message *message, double seconds)
{
    const time_t since = time(NULL) - (time_t)seconds;
    char when[16] = "";
    struct tm tm;
    if (localtime_r(&since, &tm))
        strftime(when, sizeof when, "%H:%M:%S", &tm);
    for (int i = 0, here = 0; message && i < n; i++) {
        MPI_Request_get_status(request[i], &here, MPI_STATUS_IGNORE);
        if (here)
            continue;
        status_warn("rank %d of %d has waited for rank %d on %s since %s", rank, size,
                    message[i].peer, host + message[i].peer * HOST, when);
        return;
    }
    status_warn("rank %d of %d has waited for the other ranks since %s", rank, size, when);
}

/* Hears what others tell; tells them once that this rank is to end, unless it was told so by one of
 * them. The caller holds `turn`, or is the only thread. */
static void exchange_notices(void)
{
    int here = 0;
    if (!tells)
        return;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, notices, &here, MPI_STATUS_IGNORE);
    if (here)
        receive_notice();
    if (told || heard || !stop_requested())
        return;
    told = true;
    for (int r = 0; r < size; r++)
        if (r != rank)
            MPI_Send(NULL, 0, MPI_BYTE, r, 0, notices);
}

bool cluster_notice(void)
{
    if (!started || pthread_mutex_trylock(&turn))
        return false;
    exchange_notices();
    const bool any = heard > 0;
    pthread_mutex_unlock(&turn);
    return any;
}

/* message [n]: those waited for, or NULL. Time in which this process itself was stopped does not
 * count as waiting: then it kept the others waiting. */
static void wait_all(int n, MPI_Request *request, const struct cluster_message *message)
{
    static double longest; /* the caller holds `turn`, or is the only thread */
    const double patience = longest > PATIENCE ? 3 * longest : PATIENCE;
    double waited = 0, last = clock_now();
    bool said = false;
    for (int done = !n; !done;) {
        MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE);
        exchange_notices();
        const double now = clock_now();
        waited += now - last < OWN_STOP ? now - last : 0;
        last = now;
        if (!done && waited > SPIN)
            nanosleep(&PAUSE, NULL);
        if (!done && !said && waited > patience) {
            say_who_is_late(n, request, message, waited);
            said = true;
        }
    }
    longest = waited > longest ? waited : longest;
}

void cluster_barrier(void)
{
    MPI_Request request;
    if (!started)
        return;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_all(1, &request, NULL);
}

static void reduce(double *x, size_t n, MPI_Op op)
{
    MPI_Request request;
    if (!started)
        return;
    MPI_Iallreduce(MPI_IN_PLACE, x, (int)n, MPI_DOUBLE, op, MPI_COMM_WORLD, &request);
    wait_all(1, &request, NULL);
}

void cluster_sum(double *x, size_t n)
{
    reduce(x, n, MPI_SUM);
}

void cluster_max(double *x, size_t n)
{
    reduce(x, n, MPI_MAX);
}

void cluster_share_from(int root, void *data, size_t bytes)
{
    enum { PIECE = 1 << 30 }; /* MPI counts in ints */
    MPI_Request request;
    for (size_t at = 0; started && at < bytes; at += PIECE) {
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        MPI_Ibcast((char *)data + at, (int)n, MPI_BYTE, root, MPI_COMM_WORLD, &request);
        wait_all(1, &request, NULL);
    }
}

void cluster_share(void *data, size_t bytes)
{
    cluster_share_from(0, data, bytes);
}

bool cluster_any(bool x)
{
    double any = x;
    cluster_max(&any, 1);
    return any > 0;
}

/* Gathers the lengths, then the texts one after another, each with its NUL, which becomes the
 * comma. */
char *cluster_gather_text(const char *text)
{
    if (!started)
        return strdup(text);
    int length = (int)strlen(text) + 1, total = 0;
    OWNED_MEMORY int *lengths = calloc(2 * (size_t)size, sizeof *lengths);
    if (cluster_any(!lengths)) /* either all ranks go on, or none */
        return NULL;
    int *starts = lengths + size;
    MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        starts[r] = total;
        total += lengths[r];
    }
    char *all = calloc((size_t)total + 1, 1);
    if (cluster_any(!all)) {
        free(all);
        all = NULL;
    }
    if (all)
        MPI_Gatherv(text, length, MPI_CHAR, all, lengths, starts, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int r = 1; all && r < size && rank == 0; r++)
        all[starts[r] - 1] = ',';
    return all;
}

/* ---- messages -------------------------------------------------------------------------------- */

bool cluster_takes_memory_of(const char *back_end)
{
    /* of Open MPI and MPICH; a build without the function does not support it */
    static const char *const asks[][2] = {{"cuda", "MPIX_Query_cuda_support"},
                                          {"hip", "MPIX_Query_rocm_support"},
                                          {"hip", "MPIX_Query_hip_support"}};
    const char *wanted = getenv("CU_MPI_DEVICES");
    bool takes = false;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        int (*ask)(void) = NULL;
        if (!strcmp(asks[i][0], back_end))
            *(void **)&ask = dlsym(RTLD_DEFAULT, asks[i][1]);
        takes |= ask && ask();
    }
    return started && takes && !(wanted && !atoi(wanted));
}

struct cluster_mail {
    int n;
    struct cluster_message *message; /* [n] */
    MPI_Request *request;            /* [n] persistent */
    struct arena arena;              /* of both */
};

static void init(struct cluster_mail *mail, int i)
{
    const struct cluster_message *m = &mail->message[i];
    if (m->sends)
        MPI_Send_init(m->buffer, (int)m->doubles, MPI_DOUBLE, m->peer, m->tag, MPI_COMM_WORLD,
                      &mail->request[i]);
    else
        MPI_Recv_init(m->buffer, (int)m->doubles, MPI_DOUBLE, m->peer, m->tag, MPI_COMM_WORLD,
                      &mail->request[i]);
}

enum ek_status cluster_mail_open(const struct cluster_message *m, int n, struct cluster_mail **out)
{
    NEW(struct cluster_mail, mail, 1, "out of memory for %d messages", n);
    mail->message = arena_copy(&mail->arena, m, (size_t)n, sizeof *m);
    mail->request = ARENA_NEW(&mail->arena, n, MPI_Request);
    const enum ek_status st = arena_check(&mail->arena, "%d messages", n);
    for (; !st && mail->n < n; mail->n++)
        init(mail, mail->n);
    return HAND_OUT(st, mail, out, cluster_mail_close);
}

void cluster_mail_close(struct cluster_mail *mail)
{
    if (!mail)
        return;
    for (int i = 0; i < mail->n; i++)
        MPI_Request_free(&mail->request[i]);
    arena_free(&mail->arena);
    free(mail);
}

enum ek_status cluster_exchange(const struct cluster_message *m, int n)
{
    struct cluster_mail *mail;
    TRY(cluster_mail_open(m, n, &mail));
    for (int i = 0; i < n; i++)
        cluster_mail_start(mail, i);
    cluster_mail_wait(mail);
    cluster_mail_close(mail);
    return EK_OK;
}

void cluster_mail_start_at(struct cluster_mail *mail, int i, double *buffer)
{
    LOCKED(&turn);
    if (mail->message[i].buffer != buffer) {
        mail->message[i].buffer = buffer;
        MPI_Request_free(&mail->request[i]);
        init(mail, i);
    }
    MPI_Start(&mail->request[i]);
}

void cluster_mail_start(struct cluster_mail *mail, int i)
{
    cluster_mail_start_at(mail, i, mail->message[i].buffer);
}

void cluster_mail_progress(struct cluster_mail *mail)
{
    int flag;
    if (pthread_mutex_trylock(&turn))
        return; /* another thread is making progress */
    MPI_Testall(mail->n, mail->request, &flag, MPI_STATUSES_IGNORE);
    pthread_mutex_unlock(&turn);
}

void cluster_mail_wait(struct cluster_mail *mail)
{
    LOCKED(&turn);
    wait_all(mail->n, mail->request, mail->message);
}
