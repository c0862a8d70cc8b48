/* cu/team/events.c – growing lists of events. */
#include "cu/team/events.h"
#include "src/base.h"

void events_add(struct events *e, struct events_entry entry)
{
    if (!MUTED(arena_grow(&e->entry, &e->room, e->n, sizeof entry, "events")))
        e->entry[e->n++] = entry;
}

void events_free(struct events *e)
{
    free(e->entry);
    *e = (struct events){0};
}
