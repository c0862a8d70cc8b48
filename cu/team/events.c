/* cu/team/events.c – growing lists of events. */
#include "cu/team/events.h"

#include <stdlib.h>

void events_add(struct events *e, struct events_entry entry)
{
    if (e->n == e->room) {
        const size_t room = e->room ? 2 * e->room : 1024;
        struct events_entry *more = realloc(e->entry, room * sizeof *more);
        if (!more)
            return;
        e->entry = more;
        e->room = room;
    }
    e->entry[e->n++] = entry;
}

void events_free(struct events *e)
{
    free(e->entry);
    *e = (struct events){0};
}
