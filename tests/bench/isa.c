/* tests/bench/isa.c – one core: the rates of all vectorised code at each instruction level,
 * interleaved. LEVELS ("v3 v4") selects the levels, the first of which the others are divided by;
 * those that the processor lacks are skipped. RATES="bt okada" runs only these, ROUNDS (5) times
 * each. Medians of the thread's cpu time. */
#include "src/isa.h"
#include "kirchhoff/ray.h"
#include "mcsem/cell.h"
#include "npb_mz/mz.h"
#include "okada_mogi/model.h"
#include "tests/bench/kirchhoff_column.h"
#include "tests/mz_alone.h"
#include "src/clock.h"

#include <stdio.h>

enum { MOST_LEVELS = 8, MOST_ROUNDS = 25, SOURCES = 1024 };

static void must(enum ek_status st)
{
    if (st)
        exit((int)st);
}

/* Each function opens what it needs and returns units of work per second of cpu time at the current
 * level. */

static double npb(const char *solver, int steps)
{
    struct mz *mz = NULL;
    struct mz_work *work;
    must(mz_open(mz_find(solver), mz_class_find(solver, 'A', 0), &mz));
    must(mz_work_open(mz, 1, &work));
    mz_step(mz, work);
    const double start = clock_cpu();
    for (int s = 0; s < steps; s++)
        mz_step(mz, work);
    const double rate = mz_mop(mz) * steps / mz->class->steps / (clock_cpu() - start);
    mz_work_close(work);
    mz_close(mz);
    return rate;
}

static double bt(void)
{
    return npb("bt-mz", 5);
}

static double sp(void)
{
    return npb("sp-mz", 12);
}

static double lu(void)
{
    return npb("lu-mz", 12);
}

/* Random sources with values that any model accepts. */
static double responses(const char *name)
{
    static _Alignas(MODEL_ALIGN) double value[MODEL_VALUES][SOURCES + MODEL_LANES];
    static _Alignas(MODEL_ALIGN) double out[MODEL_BASES * 3 * MODEL_LANES];
    const struct model *m = model_find(name);
    const int runs = 400, nvalues = model_values(m);
    double v[MODEL_VALUES], x[MODEL_PARAMETERS], east[MODEL_LANES], north[MODEL_LANES];
    srand48(5);
    for (int i = 0; i < SOURCES; i++) {
        for (int p = 0; p < m->nparameters; p++)
            x[p] = m->parameter[p].optional ? m->parameter[p].usual
                                            : fmax(m->parameter[p].min, 1) +
                                                  drand48() * (fmin(m->parameter[p].max, 3e4) -
                                                               fmax(m->parameter[p].min, 1));
        model_derive_all(m, x, v);
        for (int k = 0; k < nvalues; k++)
            value[k][i] = v[k];
    }
    for (int l = 0; l < MODEL_LANES; l++) {
        east[l] = 4e4;
        north[l] = 5e4;
    }
    const double start = clock_cpu();
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < SOURCES; i += MODEL_LANES) {
            const double *lane[MODEL_VALUES];
            for (int k = 0; k < nvalues; k++)
                lane[k] = value[k] + i;
            m->respond(m, lane, east, north, out);
        }
    return 1e-6 * runs * SOURCES / (clock_cpu() - start);
}

static double okada(void)
{
    return responses("okada");
}

static double mogi(void)
{
    return responses("mogi");
}

/* Pairs 0.5 to 12 km apart over 40 layers, with all derivatives. */
static double pairs(enum cell_mode mode, size_t n)
{
    const struct cell_options options = {
        mode, {MISFIT_COMPLEX, MISFIT_SQUARE, 1}, 1e-5, 1e-15, true};
    struct cell_report report;
    struct cell_work *w = NULL;
    struct survey *s;
    struct earth *e;
    must(earth_open(1, 1, 40, 105, 1500, 1, &e));
    must(survey_open(n, 1, &s));
    s->freq[0] = 0.25;
    for (size_t i = 0; i < n; i++) {
        const double offset = 500 + 11500 * ((double)i + 0.5) / (double)n;
        s->pair[i] = (struct survey_pair){.source = {-offset / 2, 0, 1460},
                                          .receiver = {offset / 2, 0, 1499.9},
                                          .direction = {1, 0, 0}};
        s->datum[i] = (struct survey_datum){1e-12, 0, 1e-13, SURVEY_BOTH};
    }
    must(survey_bin(s, e, true));
    double *sums = calloc(cell_sums(e->nz), sizeof *sums);
    double complex *response = calloc(n, sizeof *response);
    must(sums && response ? cell_open(s, e, &options, 1, NULL, &w) : EK_UNAVAILABLE);
    const double start = clock_cpu();
    must(cell_compute(w, NULL, e->m, 0, sums, response, &report));
    const double rate = (double)n / (clock_cpu() - start);
    cell_close(w);
    free(response);
    free(sums);
    survey_close(s);
    earth_close(e);
    return rate;
}

static double exact(void)
{
    return pairs(CELL_EXACT, 60);
}

static double shared(void)
{
    return pairs(CELL_SHARED, 400);
}

static double summed(int levels)
{
    struct column c;
    column_open(&c, 304, levels);
    column_sum(&c);
    const double start = clock_cpu();
    column_sum(&c);
    const double rate = 1e-6 * column_updates(&c) / (clock_cpu() - start);
    column_close(&c);
    return rate;
}

static double sum(void)
{
    return summed(1);
}

static double levels_of_sum(void)
{
    return summed(8);
}

/* Rays through a sampled medium. */
static double rays(void)
{
    enum { RAYS = 640, STEPS = 30 };
    static _Alignas(64) double state[RAY_ROWS * RAYS];
    const double low[3] = {-3000, -3000, -1000}, high[3] = {3000, 3000, 3000};
    struct velocity *v;
    struct ray_field f;
    must(velocity_open("lens:v0=2000,kz=0.5,dv=500,x=200,y=-150,z=900,sigma=300", &v));
    must(ray_field_open(v, low, high, 60, &f));
    for (int i = 0; i < RAYS; i++) {
        const double polar = 0.002 * i, slow = 1 / 2000.0;
        state[i] = state[RAYS + i] = state[2 * RAYS + i] = 0;
        state[3 * RAYS + i] = slow * sin(polar) * cos(0.7 * i);
        state[4 * RAYS + i] = slow * sin(polar) * sin(0.7 * i);
        state[5 * RAYS + i] = slow * cos(polar);
    }
    const struct ray_layer layer = {f.step, STEPS};
    const double start = clock_cpu();
    for (int r = 0; r < 8; r++)
        ray_advance_front(&f, state, RAYS, 0, RAYS, &layer, 1);
    const double rate = 1e-6 * 8 * RAYS * STEPS / (clock_cpu() - start);
    ray_field_close(&f);
    velocity_close(v);
    return rate;
}

static const struct {
    const char *word, *unit;
    double (*run)(void);
} rates[] = {
    {"bt", "Mop/s, class A", bt},
    {"sp", "Mop/s, class A", sp},
    {"lu", "Mop/s, class A", lu},
    {"okada", "M responses/s", okada},
    {"mogi", "M responses/s", mogi},
    {"exact", "mcsem pairs/s", exact},
    {"shared", "mcsem pairs/s", shared},
    {"sum", "M image updates/s", sum},
    {"sum8", "the same, 8 levels", levels_of_sum},
    {"rays", "M steps/s", rays},
};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The levels of LEVELS that this binary contains and the processor supports. */
static int choose_levels(const char *of[MOST_LEVELS])
{
    static char text[128];
    const char *named = getenv("LEVELS");
    char *rest = text, *word;
    int n = 0;
    snprintf(text, sizeof text, "%s", named ? named : "v3 v4");
    while ((word = strsep(&rest, " ")) && n < MOST_LEVELS) {
        if (!*word)
            continue;
        status_mute(1);
        const bool good = !isa_change(word);
        status_mute(-1);
        if (good)
            of[n++] = word;
        else
            printf("%s left out: %s\n", word, status_message());
    }
    return n;
}

static void measure(int rate, const char *const of[], int n, int rounds)
{
    double seen[MOST_LEVELS][MOST_ROUNDS];
    for (int r = 0; r < rounds; r++)
        for (int l = 0; l < n; l++) {
            must(isa_change(of[l]));
            seen[l][r] = rates[rate].run();
        }
    printf("%-8s", rates[rate].word);
    for (int l = 0; l < n; l++)
        qsort(seen[l], (size_t)rounds, sizeof **seen, ascending);
    for (int l = 0; l < n; l++)
        printf(" %12.4g %5.2f", seen[l][rounds / 2], seen[l][rounds / 2] / seen[0][rounds / 2]);
    printf("   %s\n", rates[rate].unit);
    fflush(stdout);
}

int main(void)
{
    const char *of[MOST_LEVELS], *only = getenv("RATES"), *text = getenv("ROUNDS");
    const int given = text ? atoi(text) : 5;
    const int rounds = given < 1 ? 1 : given > MOST_ROUNDS ? MOST_ROUNDS : given;
    const int n = choose_levels(of);
    if (!n)
        return 77;
    printf("%-8s", "rate");
    for (int l = 0; l < n; l++)
        printf(" %12s  / %-3s", of[l], of[0]);
    printf("\n");
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (!only || strstr(only, rates[i].word))
            measure((int)i, of, n, rounds);
    return 0;
}
