/* cu/team/book.h – what a team keeps of each task: where its data lives and how long it took. */
#ifndef CU_BOOK_H
#define CU_BOOK_H

#include "cu/team/samples.h"
#include "cu/sched/sched.h"

struct book {
    size_t n;
    int *home;                   /* [n] space */
    double *seconds;             /* [n] of this step */
    struct samples (*sample)[2]; /* [n][kind] the latest computations */
    double *known[2];            /* [kind][n] what policies may know after book_renumber() */
};

/* All tasks at home on the host, nothing known. EK_LACK: out of memory. close frees, also after a
 * failed open. One thread. */
enum ek_status book_open(struct book *b, size_t n);
void book_close(struct book *b);

/* The tasks of the range have run on this kind in seconds[task] each; returns the sum. On their
 * unit's thread. */
double book_note(struct book *b, struct ek_range r, enum cu_kind kind);

/* Other tasks from now on: task t of *job was task was[t], or is new on the host (was[t] < 0). What
 * is known of those that stay is kept; known[kind] = the median seconds of each task on that kind,
 * for the others by declared cost, NULL where no task has run. One thread. EK_LACK: out of memory,
 * the book is as it was. */
enum ek_status book_renumber(struct book *b, const struct sched_job *job, const int *was);

#endif
