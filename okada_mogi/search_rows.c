/* okada_mogi/search_rows.c – inner products of data and responses, one datum after another. Part of
 * the data has at most the chi2 of all, so any order is valid: the largest come first, which hold
 * most of the signal and most of the noise that no source explains. */
#include "okada_mogi/search_rows.h"
#include "src/sort.h"

enum {
    VECTORS = MODEL_LANES / LANES,
    EVERY = MODEL_LANES, /* data between two tests of chi2 */
    FEW = 3,             /* geometries of a block that are continued one by one */
    ROOTED = 64,         /* most data of a scene with a covariance, as whitening is quadratic */
};
/* Least product of the shares of the columns' squares that elimination of other columns may leave:
 * rounding grows by its inverse, and the scenes' unknowns are determined to 1e-3 each. The digits
 * that remain are far better than the 1e-6 that may_explain() allows. */
#define LEAST_SHARE 1e-5

struct row {
    struct search_point point;
    int scene, at;   /* its scene, and index there */
    double along[3]; /* the point's; per standard deviation if errors are independent */
    double size;     /* |whitened datum|, to sort by */
};

/* How to eliminate a scene's unknowns, given the first rows: Gauss's method, applied to the columns
 * of its frame one after another. */
struct elimination {
    double seen[SCENES_UNKNOWNS], per[SCENES_UNKNOWNS]; /* data along a column; 1 / its square */
    double factor[SCENES_UNKNOWNS][SCENES_UNKNOWNS];    /* of column a in column b > a */
};

/* The same for all scenes, at a test of chi2. */
struct chi2_test {
    bool determined; /* the rows so far determine all unknowns */
    double explains; /* chi2 that the unknowns explain */
    struct elimination scene[SCENES_MOST];
};

struct search_rows {
    struct arena arena; /* of rows and tests */
    const struct job *job;
    int nscenes, n;
    struct scene scene[SCENES_MOST]; /* scenes included, their data in the rows' order */
    struct row *row;                 /* [n] */
    struct chi2_test *test;          /* [n / EVERY, rounded up] */
};

/* Inner products; columns are the data (0), the responses, and the frames of scenes. */
struct search_sums {
    lanes product[VECTORS][1 + MODEL_BASES][1 + MODEL_BASES];
    lanes cross[VECTORS][SCENES_MOST][SCENES_UNKNOWNS][MODEL_BASES]; /* frames times responses */
    lanes past[SCENES_MOST][ROOTED][VECTORS][MODEL_BASES]; /* whitened responses, with a root */
};

/* ---- the data ---------------------------------------------------------------------------------*/

SORT_BY(by_size, struct row, SORT_DOWN(size) ?: SORT_UP(scene) ?: SORT_UP(at))

static void set_row(struct row *row, const struct scene *c, const struct stations *s, int datum)
{
    struct search_station one;
    search_set_contrast(&one, s, 1, &datum, &(double){1});
    row->point = one.point[0];
    for (int k = 0; k < 3; k++)
        row->along[k] = row->point.along[k] / (c->root ? 1 : one.sigma[0]);
}

/* Appends a scene's data as rows. The scene is left out if these do not determine its unknowns. */
static enum ek_status add_scene(struct search_rows *r, const struct scene *c)
{
    struct row *row = r->row + r->n;
    const int n = c->root && c->n > ROOTED ? ROOTED : c->n;
    OWNED_MEMORY NEW(int, datum, c->n, "%s: out of memory", r->job->path);
    for (int i = 0; i < c->n; i++)
        row[i] = (struct row){.scene = c->datum[i], .size = fabs(c->seen[i])};
    qsort(row, (size_t)c->n, sizeof *row, by_size);
    for (int i = 0; i < n; i++) {
        datum[i] = row[i].scene;
        row[i].scene = r->nscenes;
        row[i].at = i;
        set_row(&row[i], c, &r->job->stations, datum[i]);
    }
    if (scene_part(c, &r->job->stations, n, datum, &r->scene[r->nscenes])) {
        r->nscenes++;
        r->n += n;
    }
    return EK_OK;
}

/* Factorizes the products of a scene's frame with itself and with the data; false: they do not
 * determine the unknowns. */
static bool eliminate(const double (*product)[SCENES_UNKNOWNS], const double *seen, int unknowns,
                      struct elimination *t, double *explains)
{
    double frame[SCENES_UNKNOWNS][SCENES_UNKNOWNS];
    memcpy(frame, product, sizeof frame);
    memcpy(t->seen, seen, sizeof t->seen);
    for (int a = 0; a < unknowns; a++) {
        if (!(frame[a][a] > 1e-3 * product[a][a]))
            return false;
        t->per[a] = 1 / frame[a][a];
        *explains += t->seen[a] * t->seen[a] * t->per[a];
        for (int b = a + 1; b < unknowns; b++) {
            t->factor[b][a] = frame[b][a] * t->per[a];
            for (int c = a + 1; c <= b; c++)
                frame[b][c] -= t->factor[b][a] * frame[c][a];
            t->seen[b] -= t->factor[b][a] * t->seen[a];
        }
    }
    return true;
}

/* Prepares a test after every EVERY rows. */
static void prepare_tests(struct search_rows *r)
{
    double frame[SCENES_MOST][SCENES_UNKNOWNS][SCENES_UNKNOWNS] = {{{0}}};
    double seen[SCENES_MOST][SCENES_UNKNOWNS] = {{0}};
    for (int i = 0; i < r->n; i++) {
        const struct row *row = &r->row[i];
        const struct scene *c = &r->scene[row->scene];
        struct chi2_test *test = &r->test[i / EVERY];
        for (int a = 0; a < c->unknowns; a++) {
            const double along = c->frame[a * c->n + row->at];
            seen[row->scene][a] += along * c->seen[row->at];
            for (int b = 0; b <= a; b++)
                frame[row->scene][a][b] += along * c->frame[b * c->n + row->at];
        }
        if ((i + 1) % EVERY && i + 1 < r->n)
            continue;
        test->determined = true;
        for (int s = 0; s < r->nscenes && test->determined; s++)
            test->determined = eliminate(frame[s], seen[s], r->scene[s].unknowns, &test->scene[s],
                                         &test->explains);
    }
}

enum ek_status search_rows_open(const struct job *job, struct search_rows **r)
{
    NEW(struct search_rows, made, 1, "%s: out of memory", job->path);
    size_t most = 1;
    for (int i = 0; i < job->scenes.n; i++)
        most += (size_t)job->scenes.scene[i].n;
    made->job = job;
    made->row = ARENA_NEW(&made->arena, most, struct row);
    made->test = ARENA_NEW(&made->arena, most / EVERY + 1, struct chi2_test);
    enum ek_status st = arena_check(&made->arena, "the scenes of %s", job->path);
    for (int i = 0; i < job->scenes.n && !st && isfinite(judge_chi2(job, 0)); i++)
        st = add_scene(made, &job->scenes.scene[i]);
    TRY_OR(st, search_rows_close(made));
    qsort(made->row, (size_t)made->n, sizeof *made->row, by_size);
    prepare_tests(made);
    *r = made;
    return EK_OK;
}

void search_rows_close(struct search_rows *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->nscenes; i++)
        scene_close(&r->scene[i]);
    arena_free(&r->arena);
    free(r);
}

int search_rows_count(const struct search_rows *r)
{
    return r->n;
}

/* ---- sums -------------------------------------------------------------------------------------*/

struct search_sums *search_sums_open(void)
{
    return model_alloc(2 * sizeof(struct search_sums)); /* a block's, and one geometry's */
}

void search_sums_clear(struct search_sums *sums)
{
    memset(sums->product, 0, sizeof sums->product);
}

/* Adds a datum and its responses z [1 + nbasis]. */
static void add(lanes (*product)[1 + MODEL_BASES], int nbasis, const lanes *z)
{
    for (int p = 0; p <= nbasis; p++)
        for (int q = 0; q <= p; q++)
            product[p][q] += z[p] * z[q];
}

/* Eliminates a scene's unknowns from the products `left`. */
static void take_scene(const struct elimination *t, int unknowns, int nbasis,
                       const lanes (*seen)[MODEL_BASES], lanes (*left)[1 + MODEL_BASES])
{
    lanes cross[SCENES_UNKNOWNS][MODEL_BASES];
    memcpy(cross, seen, (size_t)unknowns * sizeof *cross);
    for (int a = 0; a < unknowns; a++) {
        lanes along[1 + MODEL_BASES] = {REAL(t->seen[a])};
        for (int k = 0; k < nbasis; k++)
            along[k + 1] = cross[a][k];
        for (int p = 0; p <= nbasis; p++) {
            const lanes share = along[p] * t->per[a];
            for (int q = 0; q <= p; q++)
                left[p][q] -= share * along[q];
        }
        for (int b = a + 1; b < unknowns; b++)
            for (int k = 0; k < nbasis; k++)
                cross[b][k] -= t->factor[b][a] * cross[a][k];
    }
}

/* Lanes where the part of the data that is orthogonal to all responses may be below `most`, also
 * because rounding hides it. test: its eliminations, NULL if no scene was added yet. */
static lanes_mask may_explain(const struct search_sums *sums, const struct search_rows *r,
                              const struct chi2_test *test, int v, int nbasis, double most)
{
    lanes a[1 + MODEL_BASES][1 + MODEL_BASES];
    const lanes(*product)[1 + MODEL_BASES] = sums->product[v];
    lanes_mask unknown = {0};
    lanes share = REAL(1);
    if (test && !test->determined)
        return ~unknown;
    if (!(product[0][0][0] - (test ? test->explains : 0) > most)) /* the same in all lanes */
        return ~unknown;
    for (int p = 0; p <= nbasis; p++)
        memcpy(a[p], product[p], (size_t)(p + 1) * sizeof **a);
    for (int i = 0; test && i < r->nscenes; i++)
        take_scene(&test->scene[i], r->scene[i].unknowns, nbasis, sums->cross[v][i], a);
    for (int p = nbasis; p > 0; p--) {
        share *= a[p][p] / product[p][p];
        unknown |= ~(share > LEAST_SHARE);
        const lanes per = 1.0 / a[p][p];
        for (int i = 0; i < p; i++)
            for (int k = 0; k <= i; k++)
                a[i][k] -= a[p][i] * a[p][k] * per;
    }
    return unknown | ~(a[0][0] > most * (1 + JUDGE_SLACK) + 1e-6 * product[0][0]);
}

/* Where east and north are correlated only north is added: chi2 of some components is at most that
 * of all. */
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
    return may_explain(sums, NULL, NULL, v, nbasis, chi2);
}

/* Adds a row, with responses z [1 + nbasis], of vector v; whitens them first. */
static void add_row(struct search_sums *sums, const struct scene *c, const struct row *row,
                    int nbasis, lanes *z, int v)
{
    z[0] = REAL(c->seen[row->at]);
    for (int k = 0; k < nbasis; k++) {
        if (c->root) {
            lanes(*past)[VECTORS][MODEL_BASES] = sums->past[row->scene];
            const double *root = c->root + row->at * (row->at + 1) / 2;
            for (int i = 0; i < row->at; i++)
                z[k + 1] -= root[i] * past[i][v][k];
            z[k + 1] /= root[row->at];
            past[row->at][v][k] = z[k + 1];
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
}

/* Adds a row for a block of geometries. */
static void add_block(const struct search_rows *r, struct search_sums *sums, int i,
                      const double *const *value)
{
    const struct model *m = r->job->model;
    const struct row *row = &r->row[i];
    _Alignas(MODEL_ALIGN) double out[MODEL_BASES * 3 * MODEL_LANES];
    model_respond(m, value, row->point.east, row->point.north, row->point.height, out);
    for (int v = 0; v < VECTORS; v++) {
        lanes z[1 + MODEL_BASES];
        for (int k = 0; k < m->nbasis; k++) {
            const double *u = out + 3 * k * MODEL_LANES + v * LANES;
            z[k + 1] = row->along[0] * LOAD(u, 0) + row->along[1] * LOAD(u, MODEL_LANES) +
                       row->along[2] * LOAD(u, 2 * MODEL_LANES);
        }
        add_row(sums, &r->scene[row->scene], row, m->nbasis, z, v);
    }
}

/* Copies lane l of the sums to all lanes of the first vector of `one`. */
static void take_lane(const struct search_rows *r, const struct search_sums *sums, int l,
                      struct search_sums *one)
{
    const int nbasis = r->job->model->nbasis, v = l / LANES, lane = l % LANES;
    for (int p = 0; p <= nbasis; p++)
        for (int q = 0; q <= p; q++)
            one->product[0][p][q] = REAL(sums->product[v][p][q][lane]);
    for (int s = 0; s < r->nscenes; s++)
        for (int k = 0; k < nbasis; k++) {
            for (int a = 0; a < r->scene[s].unknowns; a++)
                one->cross[0][s][a][k] = REAL(sums->cross[v][s][a][k][lane]);
            for (int i = 0; r->scene[s].root && i < r->scene[s].n; i++)
                one->past[s][i][0][k] = REAL(sums->past[s][i][v][k][lane]);
        }
}

/* Whether chi2 of a single geometry may be small enough, given rows from i on, one per lane. */
static bool explains_alone(const struct search_rows *r, struct search_sums *one, int i,
                           struct search_worker *w, const double *const *value, double chi2)
{
    const struct model *m = r->job->model;
    _Alignas(MODEL_ALIGN) double out[MODEL_BASES * 3 * MODEL_LANES];
    _Alignas(MODEL_ALIGN) double place[3][MODEL_LANES];
    bool left = true;
    for (; i < r->n && left; i += MODEL_LANES) {
        const int n = r->n - i < MODEL_LANES ? r->n - i : MODEL_LANES;
        for (int l = 0; l < MODEL_LANES; l++) {
            const struct search_point *at = &r->row[l < n ? i + l : i].point;
            place[0][l] = at->east[0];
            place[1][l] = at->north[0];
            place[2][l] = at->height[0];
        }
        model_respond(m, value, place[0], place[1], place[2], out);
        w->evaluations += n;
        for (int l = 0; l < n; l++) {
            const struct row *row = &r->row[i + l];
            const double *along = row->along;
            lanes z[1 + MODEL_BASES];
            for (int k = 0; k < m->nbasis; k++) {
                const double *u = out + 3 * k * MODEL_LANES + l;
                z[k + 1] = REAL(along[0] * u[0] + along[1] * u[MODEL_LANES] +
                                along[2] * u[2 * MODEL_LANES]);
            }
            add_row(one, &r->scene[row->scene], row, m->nbasis, z, 0);
        }
        left = lanes_bits_of(may_explain(one, r, &r->test[i / EVERY], 0, m->nbasis, chi2)) & 1;
    }
    return left;
}

/* Continues each lane that is alive by itself, with rows from i on. */
static unsigned screen_alone(const struct search_rows *r, struct search_sums *sums, int i,
                             struct search_worker *w, const double *const *value, double chi2,
                             unsigned alive)
{
    const int nvalues = model_values(r->job->model);
    _Alignas(MODEL_ALIGN) double lane[MODEL_VALUES][MODEL_LANES];
    const double *same[MODEL_VALUES];
    for (int l = 0; l < MODEL_LANES; l++) {
        if (!(alive >> l & 1))
            continue;
        for (int p = 0; p < nvalues; p++) {
            same[p] = lane[p];
            model_fill(lane[p], value[p][l]);
        }
        take_lane(r, sums, l, sums + 1);
        if (!explains_alone(r, sums + 1, i, w, same, chi2))
            alive &= ~(1u << l);
    }
    return alive;
}

unsigned search_rows_screen(const struct search_rows *r, struct search_sums *sums,
                            struct search_worker *w, const double *const *value, double chi2,
                            unsigned alive)
{
    const int nbasis = r->job->model->nbasis;
    begin_rows(r, sums);
    for (int i = 0; alive && i < r->n; i++) {
        w->evaluations += __builtin_popcount(alive);
        add_block(r, sums, i, value);
        if ((i + 1) % EVERY && i + 1 < r->n)
            continue;
        for (int v = 0; v < VECTORS; v++) {
            const unsigned mine = ((1u << LANES) - 1) << (v * LANES);
            if (alive & mine)
                alive &= ~mine |
                         lanes_bits_of(may_explain(sums, r, &r->test[i / EVERY], v, nbasis, chi2))
                             << (v * LANES);
        }
        if (__builtin_popcount(alive) <= FEW)
            return screen_alone(r, sums, i + 1, w, value, chi2, alive);
    }
    return alive;
}
