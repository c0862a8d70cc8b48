/* mcsem/drift.c – mean residuals of each sensor, and data corrected by them. */
#include "mcsem/drift.h"

/* A sensor at one frequency. */
struct sensor {
    double complex factor;          /* g */
    double sum[2], weight[2];       /* of gain, of phase */
    const struct survey_pair *pair; /* a pair that it measured, or NULL */
};

struct drift {
    struct survey *survey;
    double spread;
    struct survey_datum *measured; /* [npairs][nfreq] */
    struct sensor *sensor;         /* [receivers][E, H][nfreq] */
    struct arena arena;
};

static size_t sensors(const struct drift *d)
{
    return 2 * d->survey->nreceivers * (size_t)d->survey->nfreq;
}

static struct sensor *sensor_of(const struct drift *d, size_t datum)
{
    const size_t nfreq = (size_t)d->survey->nfreq;
    const struct survey_pair *p = &d->survey->pair[datum / nfreq];
    return &d->sensor[(2 * (size_t)p->receiver_id + p->magnetic) * nfreq + datum % nfreq];
}

static size_t data_of(const struct drift *d)
{
    return d->survey->npairs * (size_t)d->survey->nfreq;
}

enum ek_status drift_open(struct survey *survey, double spread, struct drift **drift)
{
    NEW(struct drift, d, 1, "out of memory for the receivers' drift");
    d->survey = survey;
    d->spread = spread;
    d->measured = ARENA_NEW(&d->arena, data_of(d), struct survey_datum);
    d->sensor = ARENA_NEW(&d->arena, sensors(d), struct sensor);
    TRY_OR(arena_check(&d->arena, "the drift of %zu receivers", survey->nreceivers),
           drift_close(d));
    memcpy(d->measured, survey->datum, data_of(d) * sizeof *d->measured);
    for (size_t i = 0; i < data_of(d); i++)
        if (survey_numbers(&survey->datum[i]))
            sensor_of(d, i)->pair = &survey->pair[i / (size_t)survey->nfreq];
    *drift = d;
    return EK_OK;
}

ARENA_CLOSE(drift_close, struct drift)

void drift_reset(struct drift *d)
{
    memcpy(d->survey->datum, d->measured, data_of(d) * sizeof *d->measured);
    for (size_t k = 0; k < sensors(d); k++)
        d->sensor[k].factor = 0;
}

/* Adds a datum's residual and undoes the correction that it contains. */
static void add_datum(const struct drift *d, const struct misfit_options *o, size_t i,
                      double complex field)
{
    const struct survey_datum *datum = &d->survey->datum[i];
    const struct survey_pair *pair = &d->survey->pair[i / (size_t)d->survey->nfreq];
    const struct misfit m = misfit_of(o, pair, datum, field);
    struct sensor *s = sensor_of(d, i);
    const double signal = hypot(datum->re, datum->im) / datum->sigma;
    const double weight = misfit_weight(o, misfit_square(&m)) * signal;
    if ((!m.re && !m.im) || !misfit_is_log(o, pair, datum))
        return;
    s->sum[0] += m.re * weight * (creal(m.residual) + signal * creal(s->factor));
    s->sum[1] += m.im * weight * (cimag(m.residual) + signal * cimag(s->factor));
    s->weight[0] += m.re * weight * signal;
    s->weight[1] += m.im * weight * signal;
}

static void find_factor(struct sensor *s, double spread)
{
    double g[2];
    for (int k = 0; k < 2; k++) {
        g[k] = s->sum[k] / (s->weight[k] + 1 / (spread * spread));
        g[k] = fmax(-DRIFT_MOST * spread, fmin(DRIFT_MOST * spread, g[k]));
    }
    s->factor = g[0] + I * g[1];
}

/* Real and imaginary parts alone and amplitudes are corrected for gain only, phases for phase
 * only. */
static struct survey_datum correct(struct survey_datum d, double complex factor)
{
    const bool turns = d.part == SURVEY_BOTH || d.part == SURVEY_PHASE;
    const double gain = d.part == SURVEY_PHASE ? 0 : creal(factor);
    const double complex z = (d.re + I * d.im) * cexp(-(gain + I * (turns ? cimag(factor) : 0)));
    d.re = creal(z);
    d.im = cimag(z);
    d.sigma *= exp(-gain);
    return d;
}

void drift_update(struct drift *d, const struct misfit_options *o, const double complex *response)
{
    for (size_t k = 0; k < sensors(d); k++)
        memset(d->sensor[k].sum, 0, sizeof d->sensor[k].sum + sizeof d->sensor[k].weight);
    for (size_t i = 0; i < data_of(d); i++)
        add_datum(d, o, i, response[i]);
    for (size_t k = 0; k < sensors(d); k++)
        find_factor(&d->sensor[k], d->spread);
    for (size_t i = 0; i < data_of(d); i++)
        if (survey_numbers(&d->measured[i]))
            d->survey->datum[i] = correct(d->measured[i], sensor_of(d, i)->factor);
}

json_t *drift_list(const struct drift *d)
{
    json_t *list = json_array();
    for (size_t k = 0; d && k < sensors(d); k++) {
        const struct survey_pair *p = d->sensor[k].pair;
        const double complex g = d->sensor[k].factor;
        if (p)
            json_array_append_new(list,
                                  json_pack("{s:f s:f s:f s:s s:f s:f s:f}", "x", p->receiver[0],
                                            "y", p->receiver[1], "z", p->receiver[2], "field",
                                            p->magnetic ? "H" : "E", "freq_hz",
                                            d->survey->freq[k % (size_t)d->survey->nfreq], "gain",
                                            exp(creal(g)), "phase_deg", cimag(g) * 180 / acos(-1)));
    }
    return list;
}
