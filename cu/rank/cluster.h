/* cu/rank/cluster.h – the processes of one run on several nodes (MPI ranks), or the one process
 * that there is: without mpirun everything here works as for a cluster of one, and MPI is never
 * started.
 *
 * Any thread may call the message functions; they take turns (MPI_THREAD_SERIALIZED). The others
 * are collective: every rank, one thread, in the same order. A rank that fails ends the whole run,
 * as MPI does. */
#pragma once

#include "src/status.h"
#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

/* What a launcher's variables say, before MPI starts: one rank of one, where there is none. */
struct cluster_launch {
    int rank, size, local_rank, local_size; /* in all, and of this node */
};
struct cluster_launch cluster_launch(void);

/* Starts MPI where a launcher (mpirun, srun) has started this process. Call after cu_prepare(),
 * which may execute the program anew. EK_UNAVAILABLE: MPI does not start. */
enum ek_status cluster_open(void);
/* Ends MPI in order, or with st != EK_OK ends all ranks with this exit code (does not return). */
void cluster_close(enum ek_status st);

int cluster_rank(void); /* 0 where there is no cluster */
int cluster_size(void); /* 1 where there is no cluster */
/* The first rank on the same node. */
int cluster_node(int of);

/* Leaves in `cpus` this process' share, where a launcher put several ranks on this node and bound
 * none of them. Needs no MPI: the launcher's variables say it. */
void cluster_share_cpus(hwloc_topology_t topology, hwloc_bitmap_t cpus);

void cluster_barrier(void);
/* x[i] becomes the sum / the maximum over all ranks. */
void cluster_sum(double *x, size_t n);
void cluster_max(double *x, size_t n);
/* All ranks get what rank 0, or `root`, has there. */
void cluster_share(void *data, size_t bytes);
void cluster_share_from(int root, void *data, size_t bytes);
/* True when it is true on any rank. */
bool cluster_any(bool x);
/* Rank 0 gets all texts, joined by ","; the others "". Caller frees; NULL: out of memory. */
char *cluster_gather_text(const char *text);

/* Whether messages may lie in the memory of a back end's devices ("cuda"): MPI says so, and
 * CU_MPI_DEVICES=0 does not forbid it. A thread that calls anything here while such a message is
 * under way has taken the device (backend_take()). */
bool cluster_takes_memory_of(const char *back_end);

/* Messages that are sent or received again and again: `doubles` doubles to or from `peer`. The pair
 * (receiver's rank, tag) is unique. */
struct cluster_message {
    int peer, tag;
    bool sends;
    double *buffer; /* borrowed; untouchable between start and wait */
    size_t doubles;
};

struct cluster_mail;

/* EK_UNAVAILABLE: out of memory. close accepts NULL; nothing may be under way. */
enum ek_status cluster_mail_open(const struct cluster_message *m, int n,
                                 struct cluster_mail **mail);
void cluster_mail_close(struct cluster_mail *mail);
/* Starts message i; it moves while the caller goes on. */
void cluster_mail_start(struct cluster_mail *mail, int i);
/* The same from or to another buffer, its own from now on. */
void cluster_mail_start_at(struct cluster_mail *mail, int i, double *buffer);
/* Lets messages under way progress. */
void cluster_mail_progress(struct cluster_mail *mail);
/* Waits for all that were started, here and there. */
void cluster_mail_wait(struct cluster_mail *mail);
/* All that, once. */
enum ek_status cluster_exchange(const struct cluster_message *m, int n);
