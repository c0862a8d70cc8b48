/* cu/rank/family.h – ranks that survive the death of others.
 *
 * MPI ends all ranks when one of them dies. Programs that can go on without a rank (BENCH_FAMILY in
 * struct bench_program) therefore use MPI only to start them: each MPI rank is a guard
 * (cu/rank/guard.h) with a child that does the work without MPI. The guards use MPI once, to
 * broadcast rank 0's address and its public key for this run; the children communicate through
 * cu/farm/. A child that is killed, or stopped for some seconds, is restarted by its guard a few
 * times, except that of rank 0. */
#pragma once

#include "src/base.h"

enum { FAMILY_CALL = 512, FAMILY_KEY = 41 };

struct family {
    int rank, size;       /* 0 of 1 without mpirun */
    int listens;          /* rank 0: its listening socket; else -1 */
    char key[FAMILY_KEY]; /* rank 0's public key, made for this run and known to its ranks only */
    char secret[FAMILY_KEY]; /* rank 0: the matching secret key; else "-" */
    char call[FAMILY_CALL];  /* rank 0's addresses and port: "10.0.0.1,fd00::7,127.0.0.1 4711" */
};

/* For rank 0: listens on a free port, IPv6 and IPv4, and makes the keys. EK_UNAVAILABLE. */
enum ek_status family_listen(struct family *f);

/* Makes a key pair of ZeroMQ's; 0, or -1 with errno set. Stands in cu/farm/transport_zmq.c, so that
 * programs without a farm do not load ZeroMQ, on which a dozen libraries hang. */
__attribute__((weak)) int family_make_keys(char key[FAMILY_KEY], char secret[FAMILY_KEY]);

/* If a launcher started several ranks, forks; the child re-executes the program, and its own call
 * does nothing but read what the guard has learnt. The guard does not return. Before the first
 * thread. EK_UNAVAILABLE: no process or socket can be made, or MPI does not start. */
enum ek_status family_open(void);

/* This process's place in the family; rank 0 of 1 before family_open(). */
const struct family *family_here(void);

/* Whether this process's guard has died, so that it should end. */
bool family_orphaned(void);
