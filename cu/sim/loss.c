/* cu/sim/loss.c – divides lost seconds among causes. */
#include "cu/sim/loss.h"

static const char *const causes[LOSS_CAUSES] = {
    [LOSS_IMBALANCE] = "imbalance",
    [LOSS_LAUNCH] = "launch",
    [LOSS_TRANSFER] = "transfer",
    [LOSS_CONTENTION] = "contention",
};

/* Smaller shares of the run are rounding errors. */
static const double ROUNDING = 1e-9;

struct loss loss_of(double computation, double communication, double bound, int n,
                    const struct loss_share *share)
{
    double seconds[LOSS_CAUSES] = {0}, sum = 0;
    for (const struct loss_share *s = share; s < share + n; s++) {
        seconds[LOSS_CONTENTION] += s->price * (s->tasks - s->rule);
        seconds[LOSS_LAUNCH] += s->price * s->launches;
        seconds[LOSS_TRANSFER] += s->price * s->moving;
    }
    /* Prices are averaged over all steps, so that causes may overlap; no cause is negative. */
    for (int i = 0; i < LOSS_CAUSES; i++)
        sum += seconds[i] = fmax(0, seconds[i]);
    const double lost = computation - bound, part = sum > lost ? fmax(0, lost) / sum : 1;
    struct loss l;
    for (int i = 0; i < LOSS_CAUSES; i++)
        l.seconds[i] = part * seconds[i];
    l.seconds[LOSS_IMBALANCE] = lost - part * sum;
    l.seconds[LOSS_TRANSFER] += communication;
    for (int i = 0; i < LOSS_CAUSES; i++)
        if (isnan(bound))
            l.seconds[i] = NAN;
        else if (fabs(l.seconds[i]) < ROUNDING * computation)
            l.seconds[i] = 0;
    return l;
}

json_t *loss_json(const struct loss *l)
{
    json_t *o = json_object();
    for (int i = 0; i < LOSS_CAUSES; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s_s", causes[i]);
        json_object_set_new(o, key, json_number_or_null(l->seconds[i]));
    }
    return o;
}

void loss_print_heading(FILE *out, int width)
{
    fprintf(out, "%-*s", width, "lost to");
    for (int i = 0; i < LOSS_CAUSES; i++)
        fprintf(out, " %20s", causes[i]);
    fputc('\n', out);
}

void loss_print(FILE *out, int width, const char *name, const struct loss *l, double total)
{
    fprintf(out, "%-*s", width, name);
    for (int i = 0; i < LOSS_CAUSES; i++)
        if (isnan(l->seconds[i]))
            fprintf(out, " %20s", "-");
        else
            fprintf(out, " %10.4g s %6.1f%%", l->seconds[i], 100 * l->seconds[i] / total);
    fputc('\n', out);
}
