/* cu/rank/cluster.h – the MPI ranks of one run. Without mpirun everything here works as for one
 * rank, and MPI is never started.
 *
 * Any thread may call the message functions; they take turns (MPI_THREAD_SERIALIZED). The other
 * functions are collective: called by every rank, on one thread, in the same order. As usual with
 * MPI, a rank that fails ends the whole run. */
#pragma once

#include "src/base.h"
#include <hwloc.h>

/* This process's rank according to the launcher's environment variables, available before MPI
 * starts; rank 0 of 1 without a launcher. */
struct cluster_launch {
    int rank, size, local_rank, local_size; /* local_*: among the ranks of this node */
};
struct cluster_launch cluster_launch(void);

/* Starts MPI if a launcher (mpirun, srun) has started this process. Call after cu_prepare(), which
 * may re-execute the program. EK_UNAVAILABLE: MPI does not start. */
enum ek_status cluster_open(void);
/* Finalizes MPI; with st != EK_OK aborts all ranks with its exit code and does not return. */
void cluster_close(enum ek_status st);

int cluster_rank(void); /* 0 without MPI */
int cluster_size(void); /* 1 without MPI */
/* The first rank on the same node as rank `of`. */
int cluster_node(int of);

/* Reduces `cpus` to this process's share if a launcher put several unbound ranks on this node. Uses
 * the launcher's variables, not MPI. */
void cluster_share_cpus(hwloc_topology_t topology, hwloc_bitmap_t cpus);

void cluster_barrier(void);
/* Replaces x[i] by the sum or maximum over all ranks. */
void cluster_sum(double *x, size_t n);
void cluster_max(double *x, size_t n);
/* Broadcasts `data` from rank 0, or `root`. */
void cluster_share(void *data, size_t bytes);
void cluster_share_from(int root, void *data, size_t bytes);
/* Whether another rank is known to be told to end (stop_requested()), for ranks that compute
 * without a step in common; ranks tell of it here and while they wait. Any thread. */
bool cluster_notice(void);
/* Whether x is true on any rank. */
bool cluster_any(bool x);
/* Rank 0 gets all ranks' texts, joined by ","; the others get "". Caller frees; NULL: out of
 * memory. */
char *cluster_gather_text(const char *text);

/* Whether message buffers may lie in the device memory of a back end ("cuda"): MPI supports it, and
 * CU_MPI_DEVICES=0 does not forbid it. A thread that calls any function here while such a message
 * is in flight must hold the device (backend_take()). */
bool cluster_takes_memory_of(const char *back_end);

/* A message that is sent or received repeatedly. The pair (receiver's rank, tag) is unique. */
struct cluster_message {
    int peer, tag;
    bool sends;
    double *buffer; /* [doubles] borrowed; not to be touched between start and wait */
    size_t doubles;
};

struct cluster_mail;

/* EK_UNAVAILABLE: out of memory. close accepts NULL; no message may be in flight. */
enum ek_status cluster_mail_open(const struct cluster_message *m, int n,
                                 struct cluster_mail **mail);
void cluster_mail_close(struct cluster_mail *mail);
/* Starts message i and returns at once. */
void cluster_mail_start(struct cluster_mail *mail, int i);
/* The same with another buffer, which message i uses from now on. */
void cluster_mail_start_at(struct cluster_mail *mail, int i, double *buffer);
/* Lets messages in flight progress. */
void cluster_mail_progress(struct cluster_mail *mail);
/* Waits until all started messages have been sent or received. */
void cluster_mail_wait(struct cluster_mail *mail);
/* Opens, starts, waits and closes: exchanges the messages once. */
enum ek_status cluster_exchange(const struct cluster_message *m, int n);
