/* cu/team/crew.c – work for the threads of one unit. */
#include "cu/team/crew.h"

#include <stddef.h>

void crew_init(struct crew *c, int width, _Bool crowded)
{
    gate_init(&c->start, width, crowded);
    gate_init(&c->finish, width, crowded);
    c->part = NULL;
    c->width = width;
}

void crew_serve(struct crew *c, int thread)
{
    for (;;) {
        gate_meet(&c->start);
        if (!c->part)
            return;
        c->part(c->arg, thread);
        gate_meet(&c->finish);
    }
}

void crew_dismiss(struct crew *c)
{
    c->part = NULL;
    gate_meet(&c->start);
}

void crew_run(struct crew *c, int width, void (*part)(void *arg, int thread), void *arg)
{
    if (!c || c->width < width) {
        for (int t = 0; t < width; t++)
            part(arg, t);
        return;
    }
    c->part = part;
    c->arg = arg;
    gate_meet(&c->start);
    part(arg, 0);
    gate_meet(&c->finish);
}
