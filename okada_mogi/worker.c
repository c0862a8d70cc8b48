/* okada_mogi/worker.c – one question, one answer. */
#include "okada_mogi/worker.h"

#include <stdlib.h>
#include <string.h>

/* How long to listen before we look whether somebody wants us to stop. */
static const double BREATH = 0.2;

static enum ek_status send_report(const struct transport *t, const struct message_ask *ask,
                                  const struct accepted_record *record)
{
    const size_t tail = ask->records * sizeof *record;
    char *bytes = malloc(sizeof *ask + tail);
    if (!bytes)
        FAIL(EK_LACK, "out of memory for %zu accepted trials", (size_t)ask->records);
    memcpy(bytes, ask, sizeof *ask);
    if (tail)
        memcpy(bytes + sizeof *ask, record, tail);
    const enum ek_status st = t->ops->send(t->st, 0, bytes, sizeof *ask + tail);
    free(bytes);
    return st;
}

enum ek_status worker_ask(const struct transport *t, const struct message_ask *ask,
                          const struct accepted_record *record, bool (*stop)(void),
                          struct trial_range *batch)
{
    struct message_answer answer;
    struct transport_event e = {.kind = TRANSPORT_NOTHING};
    *batch = (struct trial_range){0, 0};
    TRY(send_report(t, ask, record));
    while (e.kind == TRANSPORT_NOTHING && !(stop && stop()))
        TRY(t->ops->receive(t->st, BREATH, &e));
    if (e.kind == TRANSPORT_NOTHING)
        return EK_OK;
    if (e.kind == TRANSPORT_LOST || e.bytes != sizeof answer)
        return EK_LOST;
    memcpy(&answer, e.data, sizeof answer);
    if (answer.kind == MESSAGE_REFUSED)
        FAIL(EK_USAGE, "rank 0 has another job, or another version of this program");
    if (answer.kind == MESSAGE_BATCH)
        *batch = answer.batch;
    return EK_OK;
}
