/* cu/team/events.h – records what units did when, for traces and charts. */
#ifndef CU_EVENTS_H
#define CU_EVENTS_H

#include "cu/sched/sched.h"

enum events_activity { EVENTS_COMPUTE, EVENTS_MOVE, EVENTS_EXCHANGE };

struct events_entry {
    double start, seconds; /* start since the run began; duration */
    struct ek_range tasks; /* empty for an exchange */
    size_t first, last;    /* first and last task, numbered over all ranks */
    int step;
    enum events_activity activity;
};

/* One unit's events, in order of time. Zeroed = empty. */
struct events {
    struct events_entry *entry;
    size_t n, room;
};

/* On the unit's thread. Drops the entry if out of memory: a gap in a picture is no failure. */
void events_add(struct events *e, struct events_entry entry);
void events_free(struct events *e);

#endif
