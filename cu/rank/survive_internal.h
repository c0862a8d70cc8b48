/* cu/rank/survive_internal.h – shared by the parts of survive.h: ranks (survive.c), the keeper of
 * each node (survive_keeper.c), and the keeper that launches the ranks (survive_launch.c). */
#pragma once

#include "cu/rank/survive.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

enum { SURVIVE_RANKS = 1024, SURVIVE_TICK = 200 /* ms */ };

/* Seconds for which a rank may be stopped before it counts as dead. */
static const double SURVIVE_STOP = 2;

/* Messages of a rank: hello when it connects, a survive_word when it leaves. */
struct survive_hello {
    uint64_t launch, bytes;
    int64_t guard; /* process id of its guard, 0: none */
};
enum survive_word { SURVIVE_BYE = 'b', SURVIVE_OVER = 'o' };

/* Variable that tells the launched processes run and launch: "id number". */
#define SURVIVE_MARK "CU_SURVIVE"

/* Address of the run's keeper on this node, in the abstract namespace: no file. */
socklen_t survive_address(const char *id, struct sockaddr_un *a);
/* Whether the peer belongs to the same user; sets *pid. */
bool survive_is_ours(int fd, pid_t *pid);

/* ---- the keeper of this process ------------------------------------------------------------- */

struct survive_rank {
    int fd;
    pid_t pid, guard;
    uint64_t launch; /* 0 before its hello */
    double frozen;   /* time since when it is stopped, 0: it runs */
    bool waits;      /* for the memory */
    bool left;       /* has said goodbye */
};

extern struct survive_keeper {
    int listens, memory;           /* file descriptors, -1: none */
    uint64_t bytes, launch;        /* size of the memory; number of the current launch, from 1 */
    const volatile uint64_t *kept; /* the run's progress, NULL until a rank takes the memory */
    int n;
    struct survive_rank rank[SURVIVE_RANKS];
    struct pollfd poll[SURVIVE_RANKS + 1];
    double lost;            /* time when this launch lost its first rank, 0: none lost */
    double alone, patience; /* time when the last rank left, and seconds to wait for others */
    bool served;            /* a rank of this launch has connected */
    bool over;              /* the run is done */
    pid_t child;            /* the launcher, 0: none */
} survive_keeper;

/* False: another keeper listens already, or listening fails. */
bool survive_listen(const char *id);
/* Serves ranks that connect, leave or are stopped, for one tick. */
void survive_keep(void);
/* The keeper of a node on which the user's process does not run. Does not return. */
void survive_keep_alone(void);
/* Signals the ranks of launches before `before`. */
void survive_kill_ranks(uint64_t before, int number);
void survive_kill_stopped(pid_t pid);

/* ---- launching ------------------------------------------------------------------------------ */

/* Returns only if it cannot begin: EK_UNAVAILABLE. */
enum ek_status survive_launch(const char *command);
