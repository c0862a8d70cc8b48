/* cu/rank/survive_internal.h – what the parts of survive.h know of one another: ranks call
 * (survive.c), a keeper serves them (survive_keeper.c), and one of the keepers launches them
 * (survive_launch.c). */
#pragma once

#include "cu/rank/survive.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

enum { SURVIVE_RANKS = 1024, SURVIVE_TICK = 200 /* ms */ };

/* Seconds in which a frozen rank may go on. */
static const double SURVIVE_THAW = 2;

/* What a rank says when it comes, and when it goes. */
struct survive_hello {
    uint64_t launch, bytes;
    int64_t guard; /* the process that waits for this one, 0: none */
};
enum survive_word { SURVIVE_BYE = 'b', SURVIVE_OVER = 'o' };

/* Names run and launch to what is launched: "id number". */
#define SURVIVE_MARK "CU_SURVIVE"

/* Where the run's keeper listens on this node: in the abstract namespace, no file. */
socklen_t survive_address(const char *id, struct sockaddr_un *a);
/* Of the same user; who else could listen there? */
bool survive_is_ours(int fd, pid_t *pid);

/* ---- the keeper of this process ------------------------------------------------------------- */

struct survive_rank {
    int fd;
    pid_t pid, guard;
    uint64_t launch; /* 0 until it has said hello */
    double frozen;   /* since when, 0: it is not */
    bool waits;      /* for the memory */
    bool left;       /* it has said that it goes */
};

extern struct survive_keeper {
    int listens, memory;           /* -1: none */
    uint64_t bytes, launch;        /* of the memory; the present one, from 1 */
    const volatile uint64_t *kept; /* the run's number, NULL until somebody takes the memory */
    int n;
    struct survive_rank rank[SURVIVE_RANKS];
    struct pollfd poll[SURVIVE_RANKS + 1];
    double lost;            /* since when a rank of this launch is lost, 0: none is */
    double alone, patience; /* since when nobody is there, and how long that may be */
    bool served;            /* a rank of this launch was here */
    bool over;
    pid_t child; /* what was launched, 0: nothing */
} survive_keeper;

/* False: somebody else listens, or nobody can. */
bool survive_listen(const char *id);
/* One look around: who comes, who goes, who is frozen. */
void survive_keep(void);
/* The keeper of a node without the first process. Does not return. */
void survive_keep_alone(void);
/* Those of launches before that one. */
void survive_kill_ranks(uint64_t before, int number);
void survive_end_frozen(pid_t pid);

/* ---- launching ------------------------------------------------------------------------------ */

/* Does not return, unless it cannot begin. EK_UNAVAILABLE. */
enum ek_status survive_launch(const char *command);
