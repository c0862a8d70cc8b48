/* okada_mogi/write_table.c – tables of stations and of displacements. */
#include "okada_mogi/judge.h"
#include "okada_mogi/write.h"
#include "src/file.h"
#include "src/table.h"

#include <strings.h>

void write_cell(FILE *out, int digits, double x)
{
    if (isnan(x))
        fputc(',', out);
    else
        fprintf(out, ",%.*g", digits, x);
}

/* ---- residuals --------------------------------------------------------------------------------*/

/* A datum along a vector: vector, value, deviation, prediction, residual, scene. */
static void put_scalar(FILE *out, const struct stations *s, int i, const double *u, double left)
{
    const double *l = s->along + 3 * i;
    fprintf(out, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s", l[0], l[1], l[2], s->observed[3 * i],
            s->sigma[3 * i], u[3 * i], left / s->sigma[3 * i], s->scene[i]);
}

/* left [n]: residual predicted - observed of data along vectors, without their scene's unknowns. */
static void put_rows(FILE *out, const struct stations *s, const double *u, const double *left)
{
    const bool scalars = stations_any(s, stations_scalar),
               differences = stations_any(s, stations_difference);
    fprintf(out, "site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,pE_m,pN_m,pU_m,rE,rN,rU%s%s%s\n",
            scalars ? ",lE,lN,lU,value_m,sigma_m,pL_m,rL,scene" : "",
            differences ? ",E2_m,N2_m" : "", s->zone ? ",lon,lat" : "");
    for (int i = 0; i < s->n; i++) {
        const double *observed = s->observed + 3 * i, *sigma = s->sigma + 3 * i;
        double residual[3];
        const double *const row[] = {observed, sigma, u + 3 * i, residual};
        fprintf(out, "%s,%.12g,%.12g", s->name[i], s->east[i], s->north[i]);
        if (stations_scalar(s, i)) {
            fputs(",,,,,,,,,,,,", out);
            put_scalar(out, s, i, u, left[i]);
        } else {
            for (int c = 0; c < 3; c++)
                residual[c] = (u[3 * i + c] - observed[c]) / sigma[c];
            for (int k = 0; k < 12; k++)
                write_cell(out, 9, row[k / 3][k % 3]);
            fputs(scalars ? ",,,,,,,," : "", out);
        }
        if (stations_difference(s, i))
            fprintf(out, ",%.12g,%.12g", s->second[2 * i], s->second[2 * i + 1]);
        else
            fputs(differences ? ",," : "", out);
        if (s->zone) {
            double at[2];
            stations_place(s, s->east[i], s->north[i], at);
            fprintf(out, ",%.9f,%.9f", at[0], at[1]);
        }
        fputc('\n', out);
    }
}

/* Completes write_predict()'s result: unknowns are fitted by least squares. */
static void find_left(const struct job *job, double *u)
{
    const struct stations *s = &job->stations;
    double *const left = u + 3 * s->n, *const move = left + s->n, *const one = move + 3,
                  *const scratch = one + s->n;
    for (int i = 0; i < s->n; i++)
        left[i] = u[3 * i] - s->observed[3 * i];
    for (int k = 0; k < job->scenes.n; k++) {
        const struct scene *c = &job->scenes.scene[k];
        const int first = c->datum[0];
        for (int i = 0; i < c->n; i++)
            one[i] = u[c->datum[i]] - s->observed[c->datum[i]];
        scene_project(c, s, one, scratch);
        if (stations_scalar(s, first / 3))
            for (int i = 0; i < c->n; i++)
                left[c->datum[i] / 3] = one[i];
        else
            move[first % 3] = one[0] - (u[first] - s->observed[first]);
    }
    for (int i = 0; i < 3 * s->n; i++)
        u[i] += stations_scalar(s, i / 3) ? 0 : move[i % 3];
}

enum ek_status write_predict(const struct job *job, trial_number trial, double **u)
{
    char text[TRIAL_TEXT];
    struct judge *judge;
    struct accepted_record record;
    const double *predicted;
    const size_t n = (size_t)job->stations.n;
    TRY(judge_open(job, &judge));
    double *made = calloc(6 * n + 3, sizeof *made);
    const bool allowed = judge_trial(judge, trial, &record, &predicted);
    if (made && allowed) {
        memcpy(made, predicted, 3 * n * sizeof *made);
        find_left(job, made);
        *u = made;
    }
    judge_close(judge);
    if (!made)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for predictions", job->path);
    if (allowed)
        return EK_OK;
    free(made);
    FAIL(EK_USAGE, "%s: the constraints do not allow trial %s", job->path, trial_text(trial, text));
}

enum ek_status write_residuals(const struct job *job, trial_number trial, const char *path)
{
    struct file *f;
    OWNED_MEMORY double *u = NULL;
    TRY(write_predict(job, trial, &u));
    TRY(file_create(path, &f));
    put_rows(file_stream(f), &job->stations, u, u + 3 * job->stations.n);
    return file_finish(f);
}

/* ---- displacements ----------------------------------------------------------------------------*/

/* Columns of the input, by parameter; -1: there is none. */
struct columns {
    int id, east, north, along[3], parameter[MODEL_PARAMETERS];
};

/* Parameters that stand in the table; 0: not all that the model needs. */
static int matches(const struct table *t, const struct model *m)
{
    int n = 0;
    for (int p = 0; p < m->nparameters; p++) {
        const bool there = table_find(t, m->parameter[p].name) >= 0;
        if (!there && !m->parameter[p].optional)
            return 0;
        n += there;
    }
    return n;
}

/* What this form of the model lacks is in no column: nothing is left out without a word. Magnitudes
 * may stand beside slips, as in tables of accepted trials. */
static enum ek_status check_form(const struct table *t, const struct model *first,
                                 const struct model *m)
{
    for (const struct model *w = first; w; w = w->wider)
        for (int p = 0; p < w->nparameters && (w->moment || !m->moment); p++) {
            const char *name = w->parameter[p].name;
            if (table_find(t, name) >= 0 && model_parameter_find(m, name, (int)strlen(name)) < 0)
                FAIL(EK_USAGE, "%s: column '%s' does not go with the others of the source", t->path,
                     name);
        }
    return EK_OK;
}

/* *m becomes the form of it that takes most of the table; the plainest of these. */
static enum ek_status find_columns(const struct table *t, const struct model **m, struct columns *c)
{
    static const char *const along[] = {"lE", "lN", "lU"};
    const struct model *first = *m;
    for (const struct model *w = *m; w; w = w->wider)
        *m = matches(t, w) > matches(t, *m) ? w : *m;
    c->id = table_find(t, "id");
    TRY(table_need(t, "E_m", &c->east));
    TRY(table_need(t, "N_m", &c->north));
    for (int i = 0; i < 3; i++)
        c->along[i] = table_find(t, along[i]);
    for (int i = 0; i < 3 && c->along[0] + c->along[1] + c->along[2] > -3; i++)
        TRY(table_need(t, along[i], &c->along[i]));
    for (int p = 0; p < (*m)->nparameters; p++) {
        c->parameter[p] = table_find(t, (*m)->parameter[p].name);
        if (!(*m)->parameter[p].optional)
            TRY(table_need(t, (*m)->parameter[p].name, &c->parameter[p]));
    }
    return check_form(t, first, *m);
}

/* What is_other() needs. */
struct input {
    const struct table *table;
    const struct model *model;
};

static bool is_other(const void *input, int column)
{
    static const char *const others[] = {"id", "E_m", "N_m", "lE", "lN", "lU"};
    const struct input *in = input;
    const char *name = in->table->column[column];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(name, others[i]))
            return false;
    return model_parameter_find(in->model, name, (int)strlen(name)) < 0;
}

/* Displacements are those of the surface: nobody must take them for those at a depth or height. */
static enum ek_status refuse_depths(const struct table *t)
{
    static const char *const names[] = {"z", "h", "height", "elevation", "elev", "depth"};
    for (int c = 0; c < t->ncolumns; c++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            for (size_t row = 0; row < t->nrows; row++)
                if (strlen(names[i]) == strcspn(t->column[c], "_") &&
                    !strncasecmp(t->column[c], names[i], strlen(names[i])) && table_says(t, row, c))
                    FAIL(EK_USAGE,
                         "%s:%zu: %s = %s, but --forward knows displacements of the surface only; "
                         "leave the column out, or add a station's height to d_m",
                         t->path, t->line[row], t->column[c], table_text(t, row, c));
    return EK_OK;
}

static enum ek_status read_row(const struct table *t, const struct model *m,
                               const struct columns *c, size_t row, double *x, double at[2])
{
    TRY(table_number(t, row, c->east, &at[0]));
    TRY(table_number(t, row, c->north, &at[1]));
    for (int p = 0; p < m->nparameters; p++) {
        x[p] = m->parameter[p].usual;
        if (c->parameter[p] >= 0)
            TRY(table_number(t, row, c->parameter[p], &x[p]));
        if (x[p] < m->parameter[p].min || x[p] > m->parameter[p].max)
            FAIL(EK_USAGE, "%s:%zu: %s = %g is out of range, model %s takes %g to %g", t->path,
                 t->line[row], m->parameter[p].name, x[p], m->name, m->parameter[p].min,
                 m->parameter[p].max);
    }
    for (const struct model_constraint *k = m->constraint; k && k->name; k++)
        if (!k->takes && !k->holds(&(struct model_case){.model = m, .x = x}))
            FAIL(EK_USAGE, "%s:%zu: this source is not %s", t->path, t->line[row], k->name);
    return EK_OK;
}

static enum ek_status write_rows(const struct table *t, const struct model *m,
                                 const struct columns *c, FILE *out)
{
    double x[MODEL_PARAMETERS], at[2], u[3], l[3];
    const bool along = c->along[0] >= 0;
    size_t undefined = 0, line = 0;
    fprintf(out, "id,uE_m,uN_m,uU_m%s\n", along ? ",uL_m" : "");
    for (size_t row = 0; row < t->nrows; row++) {
        TRY(read_row(t, m, c, row, x, at));
        for (int i = 0; i < 3 && along; i++)
            TRY(table_number(t, row, c->along[i], &l[i]));
        model_forward(m, x, at[0], at[1], u);
        if (c->id < 0)
            fprintf(out, "%zu", row + 1);
        else
            fputs(table_text(t, row, c->id), out);
        if (isnan(u[0])) {
            line = undefined++ ? line : t->line[row];
            fprintf(out, ",nan,nan,nan%s\n", along ? ",nan" : "");
            continue;
        }
        fprintf(out, ",%.17g,%.17g,%.17g", u[0], u[1], u[2]);
        if (along)
            fprintf(out, ",%.17g", l[0] * u[0] + l[1] * u[1] + l[2] * u[2]);
        fputc('\n', out);
    }
    if (undefined)
        status_warn("%s:%zu: displacements of %zu points are undefined (nan): a fault reaches the "
                    "ground there; move such points off its trace",
                    t->path, line, undefined);
    return EK_OK;
}

enum ek_status write_forward(const struct model *model, const char *path, const char *out)
{
    OWNED(owned_table_close) struct table *t = NULL;
    struct columns c;
    struct file *f;
    TRY(table_open(path, NULL, &t));
    TRY(find_columns(t, &model, &c));
    TRY(refuse_depths(t));
    TRY(file_create(out, &f));
    TRY(file_end(f, write_rows(t, model, &c, file_stream(f))));
    table_warn_unused(t, is_other, &(struct input){t, model});
    return EK_OK;
}
