/* cu/farm/worker.c – asks rank 0 for batches and reports them. */
#include "cu/farm/worker.h"
#include "src/process.h"

#include <unistd.h>

void worker_end(struct worker *w)
{
    free(w->text);
    w->text = NULL;
}

void worker_begin(struct worker *w, int run)
{
    worker_end(w);
    w->run = run;
    w->space = process_space();
    w->in_hand = 0;
    w->over = false;
}

static int missing(const struct worker *w)
{
    const int n = w->capacity.slots + w->capacity.ahead - w->asked - w->in_hand;
    return w->over || n < 0 ? 0 : n;
}

static struct message_ask compose(const struct worker *w, struct ek_range done, int failed,
                                  size_t bytes)
{
    return (struct message_ask){.version = MESSAGE_VERSION,
                                .run = (uint32_t)w->run,
                                .job = w->job,
                                .done = done,
                                .failed = failed,
                                .questions = (uint32_t)missing(w),
                                .capacity = w->capacity,
                                .units = (uint32_t)w->is.units,
                                .pid = getpid(),
                                .guard = getppid(),
                                .space = w->space,
                                .rate = w->is.rate,
                                .bytes = bytes};
}

enum ek_status worker_report(struct worker *w, struct ek_range done, int failed, const void *result,
                             size_t bytes)
{
    const bool reports = done.end > done.begin;
    w->in_hand -= reports;
    const struct message_ask ask = compose(w, done, failed, bytes);
    if (!reports && !ask.questions)
        return EK_OK;
    OWNED_MEMORY NEW(char, all, sizeof ask + bytes, "out of memory for a result of %zu bytes",
                     bytes);
    memcpy(all, &ask, sizeof ask);
    if (bytes)
        memcpy(all + sizeof ask, result, bytes);
    TRY(w->transport.ops->send(w->transport.st, 0, all, sizeof ask + bytes));
    w->asked += (int)ask.questions;
    return EK_OK;
}

static enum ek_status ask_for_more(struct worker *w)
{
    return worker_report(w, (struct ek_range){0, 0}, 0, NULL, 0);
}

static enum ek_status understand(struct worker *w, const struct message_answer *answer,
                                 const char *text, struct farm_batch *batch)
{
    w->asked--;
    if (answer->kind == MESSAGE_RETIRED)
        return EK_LOST;
    if (answer->kind == MESSAGE_REFUSED)
        FAIL(EK_USAGE, "rank 0 has another job, or another version of this program");
    if (answer->run != (uint32_t)w->run)
        return ask_for_more(w); /* an answer of an earlier run */
    w->over = w->over || answer->kind == MESSAGE_END;
    if (answer->kind == MESSAGE_BATCH) {
        worker_end(w);
        *batch = answer->batch;
        batch->text = w->text = text ? strdup(text) : NULL;
        if (text && !w->text)
            FAIL(EK_UNAVAILABLE, "out of memory for a batch");
        w->in_hand++;
    }
    return EK_OK;
}

enum ek_status worker_hear(struct worker *w, double seconds, struct farm_batch *batch)
{
    struct transport_event e;
    struct message_answer answer;
    batch->tasks = (struct ek_range){0, 0};
    TRY(ask_for_more(w));
    TRY(w->transport.ops->receive(w->transport.st, seconds, &e));
    switch (e.kind) {
    case TRANSPORT_NOTHING:
        return EK_OK;
    case TRANSPORT_RENEWED: /* rank 0 has forgotten our questions */
        w->asked = 0;
        return ask_for_more(w);
    case TRANSPORT_LOST:
        return EK_LOST;
    case TRANSPORT_MESSAGE:
        break;
    }
    const char *text = (const char *)e.data + sizeof answer;
    const bool more = e.bytes > sizeof answer;
    if (e.bytes < sizeof answer || (more && ((const char *)e.data)[e.bytes - 1]))
        return EK_LOST;
    memcpy(&answer, e.data, sizeof answer);
    return understand(w, &answer, more ? text : NULL, batch);
}
