/* okada_mogi/worker.c – questions and answers. */
#include "okada_mogi/worker.h"

#include <stdlib.h>
#include <string.h>

/* How long to listen before we look whether somebody wants us to stop. */
static const double BREATH = 0.2;

enum ek_status worker_ask(struct worker *w, const struct message_ask *ask,
                          const struct accepted_record *record)
{
    const struct transport *t = &w->transport;
    const size_t tail = ask->records * sizeof *record;
    char *bytes = malloc(sizeof *ask + tail);
    if (!bytes)
        FAIL(EK_LACK, "out of memory for %zu accepted trials", (size_t)ask->records);
    memcpy(bytes, ask, sizeof *ask);
    if (tail)
        memcpy(bytes + sizeof *ask, record, tail);
    const enum ek_status st = t->ops->send(t->st, 0, bytes, sizeof *ask + tail);
    free(bytes);
    w->asked += !st;
    return st;
}

/* *heard = false: stop() was faster. */
static enum ek_status hear_one(struct worker *w, bool (*stop)(void), struct message_answer *answer,
                               bool *heard)
{
    const struct transport *t = &w->transport;
    struct transport_event e = {.kind = TRANSPORT_NOTHING};
    while (e.kind == TRANSPORT_NOTHING && !(stop && stop()))
        TRY(t->ops->receive(t->st, BREATH, &e));
    *heard = e.kind != TRANSPORT_NOTHING;
    if (!*heard)
        return EK_OK;
    if (e.kind == TRANSPORT_LOST || e.bytes != sizeof *answer)
        return EK_LOST;
    memcpy(answer, e.data, sizeof *answer);
    w->asked--;
    return EK_OK;
}

enum ek_status worker_hear(struct worker *w, uint32_t run, bool (*stop)(void),
                           struct trial_range *batch)
{
    struct message_answer answer = {.kind = MESSAGE_END};
    bool heard = false;
    *batch = (struct trial_range){0, 0};
    do
        TRY(hear_one(w, stop, &answer, &heard));
    while (heard && answer.run != run);
    if (heard && answer.kind == MESSAGE_REFUSED)
        FAIL(EK_USAGE, "rank 0 has another job, or another version of this program");
    if (heard && answer.kind == MESSAGE_BATCH)
        *batch = answer.batch;
    return EK_OK;
}
