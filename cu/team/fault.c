/* cu/team/fault.c – faults made on purpose. */
#include "cu/team/fault.h"
#include "cu/rank/cluster.h"
#include "cu/rank/family.h"
#include "cu/rank/survive.h"
#include "src/clock.h"

#include <signal.h>
#include <time.h>

/* One fault, "who:N@what:X[@step:K]". */
struct words {
    char who[8], what[8];
    int number, step;
    double value;
};

/* Reads the first fault of the list; returns the rest of the list, or NULL if it is malformed. */
static const char *read_words(const char *text, struct words *w)
{
    int length = 0, more = 0;
    if (sscanf(text, "%7[a-z]:%d@%7[a-z]:%lf%n", w->who, &w->number, w->what, &w->value, &length) <
            4 ||
        !length)
        return NULL;
    w->step = 1;
    if (sscanf(text + length, "@step:%d%n", &w->step, &more) == 1)
        length += more;
    return text[length] == ',' ? text + length + 1 : text[length] ? NULL : text + length;
}

static enum ek_status take(const struct words *w, int nunits, const char *text,
                           struct fault_plan *plan)
{
    const bool rank = !strcmp(w->who, "rank"), slow = !strcmp(w->what, "slow");
    const struct family *f = family_here();
    const int ranks = f->size > 1 ? f->size : cluster_size();
    const int last = rank ? ranks - 1 : nunits - 1;
    if (w->number < 0 || w->number > last)
        FAIL(EK_USAGE, "CU_FAULT: there is no %s %d; there are 0 to %d", w->who, w->number, last);
    if (rank && w->number != (f->size > 1 ? f->rank : cluster_rank()))
        return EK_OK;
    plan->fault[plan->n].text = text;
    plan->fault[plan->n].unit = rank ? FAULT_ALL : w->number;
    plan->fault[plan->n].step = slow ? w->step : (int)w->value;
    plan->fault[plan->n++].slow = slow ? w->value : 0;
    return EK_OK;
}

static bool sane(const struct words *w)
{
    const bool slow = !strcmp(w->what, "slow");
    return (!strcmp(w->who, "unit") || !strcmp(w->who, "rank")) &&
           (slow || (!strcmp(w->what, "step") && w->value == floor(w->value))) && w->value >= 1 &&
           w->value <= 1e9 && w->step >= 1;
}

enum ek_status fault_parse(const char *text, int nunits, struct fault_plan *plan)
{
    *plan = (struct fault_plan){0};
    while (text && *text) {
        struct words w;
        const char *rest = read_words(text, &w);
        if (!rest || !sane(&w) || plan->n == FAULT_MAX)
            FAIL(EK_USAGE, "CU_FAULT: '%s' is not a list of at most %d of these: " FAULT_FORMS,
                 text, FAULT_MAX);
        TRY(take(&w, nunits, text, plan));
        text = rest;
    }
    return EK_OK;
}

/* If the run was relaunched, this process knows only about its own launch. */
void fault_tell_unmet(const struct fault_plan *plan, int steps)
{
    const bool again = survive_launch_number() > 1;
    for (int i = 0; i < plan->n; i++)
        if (plan->fault[i].step > steps)
            status_warn("CU_FAULT: %.*s %s: %s had %d steps",
                        (int)strcspn(plan->fault[i].text, ","), plan->fault[i].text,
                        again ? "did not happen after the last launch" : "never happened",
                        again ? "it" : "the run", steps);
}

static bool concerns(const struct fault_plan *plan, int i, int unit, int step)
{
    return (plan->fault[i].unit == unit || plan->fault[i].unit == FAULT_ALL) &&
           plan->fault[i].step <= step;
}

bool fault_due(struct fault_plan *plan, int unit, int step)
{
    for (int i = 0; i < plan->n; i++) {
        if (!concerns(plan, i, unit, step) || plan->fault[i].slow > 0)
            continue;
        if (plan->fault[i].unit == FAULT_ALL)
            raise(SIGKILL);
        if (!plan->fault[i].done)
            return plan->fault[i].done = true;
    }
    return false;
}

static void sleep_until(double when)
{
    for (double left; (left = when - clock_now()) > 0;) {
        const double whole = floor(left);
        nanosleep(&(struct timespec){(time_t)whole, (long)(1e9 * (left - whole))}, NULL);
    }
}

void fault_slow(const struct fault_plan *plan, int unit, int step, double start, struct ek_range r,
                double *seconds)
{
    double factor = 1;
    for (int i = 0; i < plan->n; i++)
        if (concerns(plan, i, unit, step) && plan->fault[i].slow > 0)
            factor *= plan->fault[i].slow;
    if (factor > 1)
        sleep_until(start + factor * (clock_now() - start));
    for (size_t t = r.begin; t < r.end; t++)
        seconds[t] *= factor;
}
