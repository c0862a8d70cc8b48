/* mcsem/inversion.c – opens and closes an inversion on the available units and ranks. */
#include "mcsem/inversion.h"
#include "cu/sched/assignment.h"
#include "mcsem/read_model.h"
#include "mcsem/pair.h"
#include "mcsem/seabed.h"

#include <unistd.h>

/* Cost of a cell's table in pairs interpolated from it. */
#define TABLE_COST 1000.0

/* Declared cost of a cell: its table, plus its pairs. */
static double cost_of(const struct inversion *s, int cell)
{
    const double pairs = (double)(s->survey->first[cell + 1] - s->survey->first[cell]);
    return s->cell_options.mode == CELL_SHARED && pairs > 0 ? TABLE_COST + pairs : pairs;
}

int inversion_cells_without_data(const struct inversion *s, int *cell)
{
    int n = 0;
    for (int c = 0; c < s->survey->ncells; c++) {
        bool data = false;
        const size_t nfreq = (size_t)s->survey->nfreq;
        for (size_t i = s->survey->first[c] * nfreq; i < s->survey->first[c + 1] * nfreq; i++)
            data = data || isfinite(s->survey->datum[i].sigma);
        if (!data && cell)
            cell[n] = c;
        n += !data;
    }
    return n;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A layered earth is a poor approximation where the sea floor is not flat. */
static void warn_of_rough_floor(const struct survey *s)
{
    struct seabed_cell worst = {0, 0, 0};
    int rough = 0;
    for (int c = 0; c < s->ncells; c++) {
        const struct seabed_cell cell = seabed_cell(s, c);
        rough += seabed_is_rough(&cell);
        worst = cell.slope > worst.slope ? cell : worst;
    }
    if (rough && cluster_rank() == 0)
        status_warn(
            "%d of %d cells lie where the sea floor slopes by up to %.1f degrees or differs much "
            "in depth: a layered earth is a poor one there (--cells lists them)",
            rough, s->ncells, atan(worst.slope) * 180 / acos(-1));
}

enum ek_status inversion_read(struct inversion *s)
{
    TRY(survey_file_read(s->path, &s->earth_options, &s->noise, &s->survey, &s->start));
    if (s->errors)
        TRY(survey_raise_errors(s->survey, s->errors));
    survey_select_part(s->survey, (enum survey_part)s->use);
    TRY(survey_bin(s->survey, s->start, !s->drop_outside));
    for (size_t i = 0; i < s->survey->npairs; i++)
        s->survey->pair[i].null = pair_is_null(&s->survey->pair[i]);
    warn_of_rough_floor(s->survey);
    if (s->truth) {
        TRY(earth_copy(s->start, &s->true_earth));
        TRY(read_model(s->truth, s->true_earth));
    }
    const double shift = s->start_rho > 0 ? log(s->start_rho) - s->start->m[0] : 0;
    for (size_t i = 0; i < earth_size(s->start); i++)
        s->start->m[i] += shift;
    if (s->model_in)
        TRY(read_model(s->model_in, s->start));
    const int empty = inversion_cells_without_data(s, NULL);
    if (empty && !s->forward_survey && cluster_rank() == 0)
        status_warn("%d of %d cells have no data; smoothness carries them (--json lists them)",
                    empty, s->survey->ncells);
    return EK_OK;
}

static enum ek_status allocate(struct inversion *s)
{
    const size_t cells = (size_t)s->survey->ncells;
    const size_t data = s->survey->npairs * (size_t)s->survey->nfreq;
    s->response = ARENA_NEW(&s->arena, data, double complex);
    s->trial_response = ARENA_NEW(&s->arena, data, double complex);
    s->report = ARENA_NEW(&s->arena, cells, struct cell_report);
    s->rank_of = ARENA_NEW(&s->arena, cells, int);
    s->cell = ARENA_NEW(&s->arena, cells, int);
    s->cost = ARENA_NEW(&s->arena, cells, double);
    s->message = ARENA_NEW(&s->arena, cells, int);
    s->work = ARENA_NEW(&s->arena, s->set->n, struct cell_work *);
    return arena_check(&s->arena, "%zu cells of %zu data", cells, data);
}

/* Divides the cells among ranks by declared cost and by the threads of each rank, on rank 0. */
static enum ek_status divide_among_ranks(struct inversion *s)
{
    const int ranks = cluster_size(), cells = s->survey->ncells;
    OWNED(arena_free) struct arena room = {0};
    struct sched_unit *unit = ARENA_NEW(&room, ranks, struct sched_unit);
    double *threads = ARENA_NEW(&room, ranks, double), *cost = ARENA_NEW(&room, cells, double);
    TRY(arena_check(&room, "%d ranks", ranks));
    threads[cluster_rank()] = cu_layout_workers(&s->set->layout);
    cluster_sum(threads, (size_t)ranks);
    for (int r = 0; r < ranks; r++)
        unit[r] = (struct sched_unit){
            .kind = CU_CPU, .width = (int)threads[r], .memory = r, .speed = threads[r]};
    for (int c = 0; c < cells; c++)
        cost[c] = cost_of(s, c);
    const struct sched_job job = {
        .n = (size_t)cells, .grain = 1, .ncu = ranks, .unit = unit, .cost = cost};
    const enum ek_status st =
        cluster_rank() == 0 ? assignment_find(s->ranks_schedule, &job, s->rank_of) : EK_OK;
    cluster_share(s->rank_of, (size_t)cells * sizeof *s->rank_of);
    return st;
}

static void claim_cells(struct inversion *s, struct sched_job *job)
{
    for (int c = 0; c < s->survey->ncells; c++)
        if (s->rank_of[c] == cluster_rank()) {
            s->cost[s->ntasks] = cost_of(s, c);
            s->cell[s->ntasks++] = c;
        }
    *job = (struct sched_job){.n = s->ntasks, .grain = 1, .cost = s->cost};
}

/* Opens one message for each cell that is not rank 0's. */
static enum ek_status open_mail(struct inversion *s)
{
    const int cells = s->survey->ncells, rank = cluster_rank();
    const size_t sums = cell_sums(earth_unknowns(s->start));
    OWNED_MEMORY NEW(struct cluster_message, m, cells, "out of memory for the messages of %d cells",
                     cells);
    for (int c = 0; c < cells; c++) {
        const bool sends = s->rank_of[c] == rank && rank > 0;
        const bool receives = s->rank_of[c] != 0 && rank == 0;
        s->message[c] = sends || receives ? s->nmessages : -1;
        if (sends || receives)
            m[s->nmessages++] =
                (struct cluster_message){.peer = sends ? 0 : s->rank_of[c],
                                         .tag = c,
                                         .sends = sends,
                                         .buffer = s->inv->trial_sums + (size_t)c * sums,
                                         .doubles = sums};
    }
    return cluster_mail_open(m, s->nmessages, &s->mail);
}

/* On the unit's own thread, so that its memory is local. */
enum ek_status inversion_prepare(void *st, const struct cu *cu)
{
    struct inversion *s = st;
    return cell_open(s->survey, s->start, &s->cell_options, cu->width, cu->device,
                     &s->work[cu->index]);
}

void inversion_release(void *st, const struct cu *cu)
{
    struct inversion *s = st;
    cell_close(s->work[cu->index]);
}

static void warn_of_slow_blas(void)
{
    const char *blas = normal_blas();
    if (cluster_rank() == 0 && (!blas || !strstr(blas, "openblas")))
        status_warn("CHOLMOD's BLAS is %s, not OpenBLAS: factorisations may take eight times as "
                    "long; install libopenblas0",
                    blas ? blas : "unknown");
}

enum ek_status inversion_open(void *st, struct cu_set *set, struct sched_job *job)
{
    struct inversion *s = st;
    s->set = set;
    warn_of_slow_blas();
    TRY(inversion_read(s));
    TRY(allocate(s));
    TRY(divide_among_ranks(s));
    claim_cells(s, job);
    if (s->drift_sigma > 0)
        TRY(drift_open(s->survey, s->drift_sigma, &s->drift));
    TRY(prior_open(s->start, &s->prior_options, &s->prior));
    TRY(invert_open(s->survey, s->start, s->prior, &s->invert_options, cluster_rank() == 0,
                    &s->inv));
    return cluster_size() > 1 ? open_mail(s) : EK_OK;
}

void inversion_close(void *st)
{
    struct inversion *s = st;
    cluster_mail_close(s->mail);
    invert_close(s->inv);
    prior_close(s->prior);
    survey_close(s->survey);
    earth_close(s->start);
    earth_close(s->true_earth);
    uncertainty_close(s->uncertainty);
    drift_close(s->drift);
    json_decref(s->verdict);
    free(s->first_model);
    arena_free(&s->arena);
}

/* ---- states ---------------------------------------------------------------------------------- */

enum ek_status inversion_reset(void *st)
{
    struct inversion *s = st;
    const size_t data = s->survey->npairs * (size_t)s->survey->nfreq;
    memset(s->response, 0, data * sizeof *s->response);
    memset(s->trial_response, 0, data * sizeof *s->trial_response);
    s->pairs_done = s->worst_difference = 0;
    if (s->drift)
        drift_reset(s->drift);
    invert_reset(s->inv, s->start);
    if (s->checkpoint && cluster_rank() == 0 && !access(s->checkpoint, F_OK))
        return checkpoint_load(s);
    return EK_OK;
}
