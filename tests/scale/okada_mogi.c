/* tests/scale/okada_mogi.c – searches on clusters that nobody has here: coordinator, server and
 * workers as they are, over MPI under SimGrid's SMPI, where only the computing is replaced by its
 * time.
 *
 *   okada_mogi SCHEDULE mixed|delays SECONDS
 *
 * mixed: nodes from 1 to 8 times as fast as the slowest, together done in SECONDS at best. delays:
 * Kyriakopoulos, Gallopoulos & Venetis (2023), section 5.3: equal nodes, and after each batch
 * worker r = 0, 1, … waits for a random time between 0.9 r/2 and 1.1 r/2 seconds. Rank 0 only
 * coordinates. Prints one line: what run.sh makes a table of. */
#include "cu/farm/coordinator.h"
#include "cu/farm/server.h"
#include "cu/farm/worker.h"

#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1, PER_NODE = 1024, PAPER_ROUNDS = 5, MOST_RANKS = 4096 };
static const double CONFLICT = 0.01; /* seconds between two requests, as the paper */

/* ---- messages over MPI ------------------------------------------------------------------------*/

struct mpi_transport {
    char data[sizeof(struct message_ask)]; /* the last message */
    long requests, conflicts, late;        /* late: conflicts after each worker's fifth request */
    double last;
    int ended; /* workers that know that the search is over */
    bool over[MOST_RANKS];
};

static enum ek_status send_message(void *st, int peer, const void *data, size_t bytes)
{
    struct mpi_transport *t = st;
    struct message_answer answer;
    if (t->over[peer])
        return EK_LOST; /* it has left, with a question open */
    if (peer && bytes == sizeof answer) {
        memcpy(&answer, data, bytes);
        t->ended += answer.kind == MESSAGE_END;
        t->over[peer] = answer.kind == MESSAGE_END;
    }
    MPI_Send(data, (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    return EK_OK;
}

static void count_request(struct mpi_transport *t, int ranks)
{
    const double now = MPI_Wtime();
    const bool conflict = t->requests && now - t->last < CONFLICT;
    t->conflicts += conflict;
    t->late += conflict && t->requests > (long)PAPER_ROUNDS * (ranks - 1);
    t->requests++;
    t->last = now;
}

/* Somebody always has something to say until the end, so the time need not be watched. No message
 * carries records here. */
static enum ek_status receive(void *st, double seconds, struct transport_event *e)
{
    struct mpi_transport *t = st;
    MPI_Status status;
    int bytes, rank, ranks;
    (void)seconds;
    MPI_Recv(t->data, sizeof t->data, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        count_request(t, ranks);
    *e = (struct transport_event){TRANSPORT_MESSAGE, status.MPI_SOURCE, t->data, (size_t)bytes};
    return EK_OK;
}

static double now(void *st)
{
    (void)st;
    return MPI_Wtime();
}

static void close_transport(void *st)
{
    (void)st;
}

static const struct transport_ops ops = {"MPI", send_message, receive, now, close_transport};

/* ---- nodes ------------------------------------------------------------------------------------*/

static double random_of(unsigned long *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (double)(*x >> 11) * 0x1p-53;
}

static size_t tasks_for(int ranks)
{
    return (size_t)PER_NODE * (size_t)(ranks - 1);
}

/* Relative speed of a worker: the same on every rank that asks. */
static double speed_of(int rank, bool mixed)
{
    unsigned long x = 12345u + (unsigned long)rank * 7919u;
    random_of(&x);
    return mixed ? exp2(3 * random_of(&x)) : 1;
}

static double all_speeds(int ranks, bool mixed)
{
    double sum = 0;
    for (int r = 1; r < ranks; r++)
        sum += speed_of(r, mixed);
    return sum;
}

/* A worker; returns how long it waited, and when it was done with its last batch. */
static double work(const struct transport *t, double tasks_per_second, bool delays, double *done)
{
    struct worker w = {.transport = *t, .capacity = {1, 1}};
    struct farm_batch batch = {.tasks = {0, 0}};
    unsigned long x;
    int rank;
    double delay = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    x = (unsigned long)rank * 104729u + 1;
    worker_begin(&w, 0);
    for (*done = 0;;) {
        const struct ek_range r = batch.tasks;
        if (r.end > r.begin && worker_report(&w, r, 0, NULL, 0))
            exit(3);
        do
            if (worker_hear(&w, 1, &batch))
                exit(3);
        while (!w.over && batch.tasks.end == batch.tasks.begin);
        if (batch.tasks.end == batch.tasks.begin)
            return delay;
        const double waits = delays ? (rank - 1) / 2. * (0.9 + 0.2 * random_of(&x)) : 0;
        smpi_execute((double)(batch.tasks.end - batch.tasks.begin) / tasks_per_second + waits);
        delay += waits;
        *done = MPI_Wtime();
    }
}

/* ---- rank 0 -----------------------------------------------------------------------------------*/

/* Until every worker knows that the search is over. */
static void coordinate(const struct transport *t, int ranks, const char *schedule)
{
    const struct mpi_transport *own = t->st;
    const struct farm_job job = {.schedule = schedule, .n = tasks_for(ranks)};
    struct coordinator *c;
    struct server *s;
    if (server_open(t, ranks, 0, &(struct server_ops){.take = NULL}, &s) ||
        coordinator_open(&job, ranks, &c))
        exit(3);
    coordinator_lost(c, 0); /* its share of what is divided beforehand is the others' */
    server_begin(s, 0, c);
    while (own->ended < ranks - 1)
        if (server_serve(s, 1))
            exit(3);
    coordinator_close(c);
    server_close(s);
}

struct finish {
    double first, last, mean, deviation;
};

static struct finish judge(const double *done, int n)
{
    struct finish f = {done[0], done[0], 0, 0};
    for (int i = 0; i < n; i++) {
        f.first = fmin(f.first, done[i]);
        f.last = fmax(f.last, done[i]);
        f.mean += done[i] / n;
    }
    for (int i = 0; i < n; i++)
        f.deviation += (done[i] - f.mean) * (done[i] - f.mean) / n;
    f.deviation = sqrt(f.deviation);
    return f;
}

int main(int argc, char **argv)
{
    static struct mpi_transport own;
    const struct transport t = {&ops, &own};
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4 || ranks < 2 || ranks > MOST_RANKS)
        return 2;
    const bool mixed = !strcmp(argv[2], "mixed");
    const double best = atof(argv[3]);
    const double rate = (double)tasks_for(ranks) / best / all_speeds(ranks, mixed);
    double mine[2] = {0, 0}, *all = calloc(2 * (size_t)ranks, sizeof *all);
    if (rank)
        mine[1] = work(&t, rate * speed_of(rank, mixed), !mixed, &mine[0]);
    else
        coordinate(&t, ranks, argv[1]);
    MPI_Gather(mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0 && all) {
        double waits = 0;
        for (int r = 1; r < ranks; r++) {
            all[r - 1] = all[2 * r];
            waits += all[2 * r + 1];
        }
        const struct finish f = judge(all, ranks - 1);
        printf("%6d  %-7s %-8s %8.2f %8.2f %8.2f %7.2f %7.2f %9ld %8.1f %8.1f %9.1f\n", ranks - 1,
               argv[2], argv[1], f.first, f.last, f.mean, f.deviation,
               100 * (f.last - f.first) / f.last, own.requests,
               100. * (double)own.conflicts / (double)own.requests,
               100. * (double)own.late / (double)own.requests,
               100 * (best + waits / (ranks - 1)) / f.last);
    }
    free(all);
    ops.close(&own);
    MPI_Finalize();
    return 0;
}
