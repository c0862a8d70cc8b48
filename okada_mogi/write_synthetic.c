/* okada_mogi/write_synthetic.c – synthetic data of a known source, with noise. */
#include "okada_mogi/write.h"
#include "src/file.h"
#include "src/random.h"

/* Box & Muller (1958). */
static double normal(uint64_t *seed)
{
    const double radius = sqrt(-2 * log(random_uniform(seed)));
    return radius * cos(2 * 3.14159265358979323846 * random_uniform(seed));
}

/* Adds random offsets, ramps and translations to the displacements. */
static void add_unknowns(const struct job *job, uint64_t *seed, double *u)
{
    for (int i = 0; i < 3 * job->stations.n; i++) /* first remove the fitted translation */
        u[i] -= stations_scalar(&job->stations, i / 3) ? 0 : u[4 * job->stations.n + i % 3];
    for (int k = 0; k < job->scenes.n; k++) {
        const struct scene *c = &job->scenes.scene[k];
        for (int a = 0; a < c->unknowns; a++) {
            const double size = 10 * job->stations.sigma[c->datum[0]] * normal(seed);
            for (int i = 0; i < c->n; i++)
                u[c->datum[i]] += size * c->shape[i * c->unknowns + a];
        }
    }
}

/* Adds the errors of scenes with a covariance. */
static enum ek_status add_correlated(const struct job *job, uint64_t *seed, double *u)
{
    NEW(double, error, job->stations.n, "%s: out of memory for errors", job->path);
    for (int k = 0; k < job->scenes.n; k++) {
        const struct scene *c = &job->scenes.scene[k];
        for (int i = 0; c->root && i < c->n; i++)
            error[i] = normal(seed);
        if (c->root)
            scene_correlate(c, error);
        for (int i = 0; c->root && i < c->n; i++)
            u[c->datum[i]] += error[i];
    }
    free(error);
    return EK_OK;
}

/* Which optional columns the table has. */
struct columns {
    bool scalars, differences, heights, correlations;
};

static void put_station(FILE *out, const struct job *job, int i, double *u,
                        const struct columns *has, uint64_t *seed)
{
    const struct stations *s = &job->stations;
    const double sill = scenes_sill(&job->scenes, i), *sigma = s->sigma + 3 * i;
    const bool scalar = stations_scalar(s, i);
    double at[2];
    stations_place(s, s->east[i], s->north[i], at);
    fprintf(out, "%s,%.13g,%.13g", s->name[i], at[0], at[1]);
    const double r = s->correlation[i];
    double draw[3];
    for (int c = 0; c < 3; c++)
        draw[c] = normal(seed);
    for (int c = 0; c < 3; c++)
        u[c] += isnan(sigma[c]) ? NAN
                : sill > 0
                    ? 0
                    : sigma[c] * (c == 1 ? r * draw[0] + sqrt(1 - r * r) * draw[1] : draw[c]);
    for (int c = 0; c < 6; c++)
        write_cell(out, 13, scalar ? NAN : c < 3 ? u[c] : sigma[c - 3]);
    for (int c = 0; c < 5 && has->scalars; c++)
        write_cell(out, 13,
                   !scalar  ? NAN
                   : c == 0 ? u[0]
                   : c == 1 ? sqrt(sigma[0] * sigma[0] - sill)
                            : s->along[3 * i + c - 2]);
    fprintf(out, "%s%s", has->scalars ? "," : "", scalar ? s->scene[i] : "");
    if (stations_difference(s, i))
        stations_place(s, s->second[2 * i], s->second[2 * i + 1], at);
    for (int c = 0; c < 2 && has->differences; c++)
        write_cell(out, 13, stations_difference(s, i) ? at[c] : NAN);
    if (has->heights)
        write_cell(out, 13, s->height[i]);
    if (has->correlations)
        write_cell(out, 13, r);
    fputc('\n', out);
}

enum ek_status write_synthetic(const struct job *job, trial_number trial, uint64_t seed,
                               const char *path)
{
    const struct stations *s = &job->stations;
    const struct columns has = {
        stations_any(s, stations_scalar), stations_any(s, stations_difference),
        stations_any(s, stations_high), stations_any(s, stations_correlated)};
    char number[TRIAL_TEXT];
    struct file *f;
    OWNED_MEMORY double *u = NULL;
    TRY(write_predict(job, trial, &u));
    for (int i = 0; i < s->n; i++)
        if (isnan(u[3 * i]))
            FAIL(EK_USAGE,
                 "--generate: station '%s' of %s lies where a fault reaches the ground, so its "
                 "displacement is undefined; move it",
                 s->name[i], job->path);
    add_unknowns(job, &seed, u);
    TRY(add_correlated(job, &seed, u));
    TRY(file_create(path, &f));
    FILE *out = file_stream(f);
    fprintf(out, "# synthetic: trial %s of %s, seed %llu%s%s\n", trial_text(trial, number),
            job->path, (unsigned long long)seed, *s->projection ? ", " : "", s->projection);
    fprintf(out, "site,%s,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m%s%s%s%s\n", s->zone ? "lon,lat" : "E_m,N_m",
            has.scalars ? ",value_m,sigma_m,lE,lN,lU,scene" : "",
            !has.differences ? ""
            : s->zone        ? ",lon2,lat2"
                             : ",E2_m,N2_m",
            has.heights ? ",z_m" : "", has.correlations ? ",correlation" : "");
    for (int i = 0; i < s->n; i++)
        put_station(out, job, i, u + 3 * i, &has, &seed);
    return file_finish(f);
}
