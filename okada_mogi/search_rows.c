/* okada_mogi/search_rows.c – inner products of data and responses, one datum after another. Any
 * part of the data has no more chi2 than all of them, so they may come in any order: the largest
 * first, which hold most of the signal and most of the noise that nothing explains. */
#include "okada_mogi/search_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    VECTORS = MODEL_LANES / LANES,
    EVERY = 16,  /* data between two looks at chi2 */
    LEAST = 64,  /* data before a block is given up for being almost empty */
    ROOTED = 64, /* data of a scene with a covariance: each costs as many more as are before it */
};
/* What may be left of all squares together, each as a share, when other columns have been taken
 * from them: rounding grows by its inverse, and scenes' unknowns are told to 1e-3 each. What
 * remains of 16 digits is far below the 1e-6 that may_explain() allows. */
#define HAIR 1e-5

struct row {
    struct search_station point;
    int scene, at;
    double size;
};

struct search_rows {
    const struct job *job;
    int nscenes, n;
    struct scene scene[SCENES_MOST]; /* those that are in it, their data in the rows' order */
    struct row *row;                 /* [n] */
};

/* Columns are the data (0), the responses, and the frames of scenes, which are the same in all
 * lanes. */
struct search_sums {
    lanes product[VECTORS][1 + MODEL_BASES][1 + MODEL_BASES];
    lanes cross[VECTORS][SCENES_MOST][SCENES_UNKNOWNS][MODEL_BASES]; /* frames and responses */
    lanes past[SCENES_MOST][ROOTED][VECTORS][MODEL_BASES]; /* whitened, where there is a root */
    double seen[SCENES_MOST][SCENES_UNKNOWNS];             /* frames and data */
    double frame[SCENES_MOST][SCENES_UNKNOWNS][SCENES_UNKNOWNS];
};

/* ---- the data ---------------------------------------------------------------------------------*/

static int by_size(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->size != y->size     ? (x->size < y->size) - (x->size > y->size)
           : x->scene != y->scene ? x->scene - y->scene
                                  : x->at - y->at;
}

/* A scene's data, as rows behind those that are there; where its first ones do not tell its
 * unknowns it is left out. */
static enum ek_status add_scene(struct search_rows *r, const struct scene *c)
{
    struct row *row = r->row + r->n;
    const int n = c->root && c->n > ROOTED ? ROOTED : c->n;
    int *datum = malloc((size_t)c->n * sizeof *datum);
    if (!datum)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", r->job->path);
    for (int i = 0; i < c->n; i++)
        row[i] = (struct row){.scene = c->datum[i], .size = fabs(c->seen[i])};
    qsort(row, (size_t)c->n, sizeof *row, by_size);
    for (int i = 0; i < n; i++) {
        datum[i] = row[i].scene;
        row[i].scene = r->nscenes;
        row[i].at = i;
        search_set_contrast(&row[i].point, &r->job->stations, 1, &datum[i], &(double){1});
    }
    if (scene_part(c, &r->job->stations, n, datum, &r->scene[r->nscenes])) {
        r->nscenes++;
        r->n += n;
    }
    free(datum);
    return EK_OK;
}

enum ek_status search_rows_open(const struct job *job, struct search_rows **r)
{
    struct search_rows *made = calloc(1, sizeof *made);
    size_t most = 1;
    for (int i = 0; i < job->scenes.n; i++)
        most += (size_t)job->scenes.scene[i].n;
    if (made)
        made->row = aligned_alloc(64, most * sizeof *made->row);
    if (!made || !made->row) {
        free(made);
        FAIL(EK_UNAVAILABLE, "%s: out of memory", job->path);
    }
    made->job = job;
    enum ek_status st = EK_OK;
    for (int i = 0; i < job->scenes.n && !st && isfinite(judge_chi2(job, 0)); i++)
        st = add_scene(made, &job->scenes.scene[i]);
    qsort(made->row, (size_t)made->n, sizeof *made->row, by_size);
    if (st)
        search_rows_close(made);
    else
        *r = made;
    return st;
}

void search_rows_close(struct search_rows *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->nscenes; i++)
        scene_close(&r->scene[i]);
    free(r->row);
    free(r);
}

int search_rows_count(const struct search_rows *r)
{
    return r->n;
}

/* ---- sums -------------------------------------------------------------------------------------*/

struct search_sums *search_sums_open(void)
{
    return model_alloc(sizeof(struct search_sums));
}

void search_sums_clear(struct search_sums *sums)
{
    memset(sums->product, 0, sizeof sums->product);
}

/* A datum and its responses z [1 + nbasis]. */
static void add(lanes (*product)[1 + MODEL_BASES], int nbasis, const lanes *z)
{
    for (int p = 0; p <= nbasis; p++)
        for (int q = 0; q <= p; q++)
            product[p][q] += z[p] * z[q];
}

/* Takes column a of a scene's frame, of which those before it are taken already, from all that is
 * left of the products; `frame` and `seen` are what is left of theirs. False: rows so far do not
 * tell it. */
static bool take(const double (*frame)[SCENES_UNKNOWNS], int a, int nbasis, const double *seen,
                 const lanes (*cross)[MODEL_BASES], double before, lanes (*left)[1 + MODEL_BASES])
{
    lanes along[1 + MODEL_BASES] = {REAL(seen[a])};
    const double per = 1 / frame[a][a];
    if (!(frame[a][a] > 1e-3 * before))
        return false;
    for (int k = 0; k < nbasis; k++)
        along[k + 1] = cross[a][k];
    for (int p = 0; p <= nbasis; p++)
        for (int q = 0; q <= p; q++)
            left[p][q] -= along[p] * along[q] * per;
    return true;
}

/* Takes all that is unknown of a scene; false: rows so far do not tell. */
static bool take_scene(const struct search_sums *sums, int scene, int unknowns, int nbasis, int v,
                       lanes (*left)[1 + MODEL_BASES])
{
    double frame[SCENES_UNKNOWNS][SCENES_UNKNOWNS], seen[SCENES_UNKNOWNS];
    lanes cross[SCENES_UNKNOWNS][MODEL_BASES];
    memcpy(frame, sums->frame[scene], sizeof frame);
    memcpy(seen, sums->seen[scene], sizeof seen);
    memcpy(cross, sums->cross[v][scene], sizeof cross);
    for (int a = 0; a < unknowns; a++) {
        if (!take(frame, a, nbasis, seen, cross, sums->frame[scene][a][a], left))
            return false;
        for (int b = a + 1; b < unknowns; b++) {
            const double factor = frame[b][a] / frame[a][a];
            for (int c = a + 1; c <= b; c++)
                frame[b][c] -= factor * frame[c][a];
            seen[b] -= factor * seen[a];
            for (int k = 0; k < nbasis; k++)
                cross[b][k] -= factor * cross[a][k];
        }
    }
    return true;
}

/* Lanes where the data at right angles to all responses are less than `most`; where rounding hides
 * that, too. */
static lanes_mask may_explain(const struct search_sums *sums, const struct search_rows *r, int v,
                              int nbasis, double most)
{
    lanes a[1 + MODEL_BASES][1 + MODEL_BASES];
    const lanes(*product)[1 + MODEL_BASES] = sums->product[v];
    lanes_mask unknown = {0};
    lanes share = REAL(1);
    memcpy(a, product, sizeof a);
    for (int i = 0; r && i < r->nscenes; i++)
        if (!take_scene(sums, i, r->scene[i].unknowns, nbasis, v, a))
            return ~unknown;
    for (int p = nbasis; p > 0; p--) {
        share *= a[p][p] / product[p][p];
        unknown |= ~(share > HAIR);
        const lanes per = 1.0 / a[p][p];
        for (int i = 0; i < p; i++)
            for (int k = 0; k <= i; k++)
                a[i][k] -= a[p][i] * a[p][k] * per;
    }
    return unknown | ~(a[0][0] > most * (1 + JUDGE_SLACK) + 1e-6 * product[0][0]);
}

/* Of east and north that are correlated only north counts: chi2 of part of the components is no
 * more than that of all. */
lanes_mask search_sums_add(struct search_sums *sums, const struct job *job,
                           const struct search_station *station, const lanes *b, int v, double chi2)
{
    const int nbasis = job->model->nbasis;
    const bool correlated = stations_correlated(&job->stations, station->point[0].number);
    for (int i = 0; i < station->ncomponents; i++) {
        const double per = 1 / station->sigma[i];
        lanes z[1 + MODEL_BASES] = {REAL(station->observed[i] * per)};
        if (correlated && station->component[i] == 0)
            continue;
        for (int k = 0; k < nbasis; k++)
            z[k + 1] = b[3 * k + station->component[i]] * per;
        add(sums->product[v], nbasis, z);
    }
    return may_explain(sums, NULL, v, nbasis, chi2);
}

/* A row's own part of the frame's products. */
static void add_frame(struct search_sums *sums, const struct scene *c, int scene, int at)
{
    for (int a = 0; a < c->unknowns; a++) {
        const double along = c->frame[a * c->n + at];
        sums->seen[scene][a] += along * c->seen[at];
        for (int b = 0; b <= a; b++)
            sums->frame[scene][a][b] += along * c->frame[b * c->n + at];
    }
}

/* One vector of a row's responses out [nbasis][3][MODEL_LANES], as its scene sees them. */
static void add_row(struct search_sums *sums, const struct scene *c, const struct row *row,
                    int nbasis, const double *out, int v)
{
    lanes z[1 + MODEL_BASES] = {REAL(c->seen[row->at])};
    for (int k = 0; k < nbasis; k++) {
        z[k + 1] = LOAD(out, 3 * k * MODEL_LANES + v * LANES);
        if (c->root) {
            lanes(*past)[VECTORS][MODEL_BASES] = sums->past[row->scene];
            const double *root = c->root + row->at * (row->at + 1) / 2;
            for (int i = 0; i < row->at; i++)
                z[k + 1] -= root[i] * past[i][v][k];
            z[k + 1] /= root[row->at];
            past[row->at][v][k] = z[k + 1];
        } else {
            z[k + 1] /= row->point.sigma[0];
        }
        for (int a = 0; a < c->unknowns; a++)
            sums->cross[v][row->scene][a][k] += c->frame[a * c->n + row->at] * z[k + 1];
    }
    add(sums->product[v], nbasis, z);
}

static void begin_rows(const struct search_rows *r, struct search_sums *sums)
{
    const size_t n = (size_t)r->nscenes;
    for (int v = 0; v < VECTORS; v++)
        memset(sums->cross[v], 0, n * sizeof *sums->cross[v]);
    memset(sums->seen, 0, n * sizeof *sums->seen);
    memset(sums->frame, 0, n * sizeof *sums->frame);
}

/* The few that are left of a block go on alone when that is less work than the rows to come. */
unsigned search_rows_screen(const struct search_rows *r, struct search_sums *sums,
                            struct search_worker *w, const double *const *value, double chi2,
                            unsigned alive)
{
    const struct model *m = r->job->model;
    _Alignas(MODEL_ALIGN) double out[MODEL_BASES * 3 * MODEL_LANES];
    begin_rows(r, sums);
    for (int i = 0; alive && i < r->n; i++) {
        const struct row *row = &r->row[i];
        const struct scene *c = &r->scene[row->scene];
        const int left = __builtin_popcount(alive);
        search_respond(m, value, &row->point, out);
        w->evaluations += left;
        add_frame(sums, c, row->scene, row->at);
        for (int v = 0; v < VECTORS; v++)
            add_row(sums, c, row, m->nbasis, out, v);
        if ((i + 1) % EVERY && i + 1 < r->n)
            continue;
        for (int v = 0; v < VECTORS; v++) {
            const unsigned mine = ((1u << LANES) - 1) << (v * LANES);
            if (alive & mine)
                alive &= ~mine | lanes_bits_of(may_explain(sums, r, v, m->nbasis, chi2))
                                     << (v * LANES);
        }
        if (i >= LEAST && left * r->job->stations.n < 4 * (r->n - i))
            break;
    }
    return alive;
}
