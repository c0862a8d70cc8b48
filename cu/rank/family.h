/* cu/rank/family.h – ranks that outlive one another.
 *
 * MPI ends all ranks when one of them dies. Programs that can do without a rank (struct
 * bench_program's `family`) therefore let MPI do no more than start them: each rank is a guard
 * (cu/rank/guard.h), which MPI looks after, and under it a child that works and knows nothing of
 * MPI. The guards use MPI once, to tell all where rank 0 listens and by which key of this run it is
 * known; the children talk over cu/farm/. A child that is killed, or is frozen for some seconds,
 * is started again by its guard, a few times; the one of rank 0 is not. */
#pragma once

#include "src/status.h"
#include <stdbool.h>

enum { FAMILY_CALL = 512, FAMILY_KEY = 41 };

struct family {
    int rank, size;          /* 0 of 1 without mpirun */
    int listens;             /* rank 0: a socket on which the others call; else -1 */
    char key[FAMILY_KEY];    /* rank 0's public key of this run, which only its ranks know */
    char secret[FAMILY_KEY]; /* rank 0: the secret one to it; the others "-" */
    char call[FAMILY_CALL];  /* where to: "10.0.0.1,fd00::7,127.0.0.1 4711" */
};

/* Rank 0: listens on a free port, IPv6 and IPv4, and makes keys. EK_UNAVAILABLE. */
enum ek_status family_listen(struct family *f);

/* Where a launcher started several ranks: forks, and executes the program anew in the child, for
 * whom a second call does nothing. The guard does not return. Before the first thread.
 * EK_UNAVAILABLE: no process or socket can be made, MPI does not start. */
enum ek_status family_open(void);

/* Who this process is; before family_open(): the only one. */
const struct family *family_here(void);

/* The guard of this process is gone: it should end. */
bool family_orphaned(void);
