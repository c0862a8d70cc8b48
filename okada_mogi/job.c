/* okada_mogi/job.c – a job's trials: parameters, constraints, checksum. */
#include "okada_mogi/job.h"
#include "src/checksum.h"

#include <float.h>

int job_at(const struct job *job, int axis)
{
    return job->source[axis] * job->model->nparameters + job->parameter[axis];
}

enum model_role job_role(const struct job *job, int axis)
{
    return job->model->parameter[job->parameter[axis]].role;
}

int job_width(const struct job *job, int axis)
{
    return job_role(job, axis) == MODEL_GEOMETRY
               ? model_parameter_values(job->model, job->parameter[axis])
               : 1;
}

void job_tabulate(const struct job *job, int axis, double *table)
{
    for (long i = 0; i < job->axis[axis].n; i++, table += job_width(job, axis)) {
        *table = trial_value(&job->axis[axis], i);
        if (job_role(job, axis) == MODEL_GEOMETRY)
            model_derive(job->model, job->parameter[axis], *table, table);
    }
}

void job_parameters(const struct job *job, trial_number trial, double *x)
{
    long place[JOB_AXES];
    trial_place(job->axis, job->naxes, trial, place);
    for (int a = 0; a < job->naxes; a++)
        x[job_at(job, a)] = trial_value(&job->axis[a], place[a]);
}

bool job_within(const struct job_accept *a, int level, double most)
{
    return most <= a->k[level] * (1 + 4 * DBL_EPSILON);
}

double job_moment(const struct job *job, const double *x)
{
    double sum = 0;
    if (!job->model->moment)
        return NAN;
    for (int s = 0; s < job->nsources; s++)
        sum += job->model->moment(job->model, x + s * job->model->nparameters, job->rigidity);
    return sum;
}

double job_magnitude(const struct job *job, const double *x)
{
    return model_magnitude(job_moment(job, x));
}

bool job_concerns(const struct job_constraint *c, int a, int b)
{
    const int *only = c->expression ? c->expression->source : NULL;
    return c->what->pair == (b >= 0) && (!only || only[0] < 0 || (only[0] == a && only[1] == b));
}

bool job_holds(const struct job_constraint *c, const double *x, const double *other)
{
    return c->expression ? expression_holds(c->expression, x, other)
                         : c->what->holds(&(struct model_case){c->model, c->number, x, other});
}

bool job_allows(const struct job *job, const double *x)
{
    const int n = job->model->nparameters;
    for (int i = 0; i < job->nconstraints; i++)
        for (int a = 0; a < job->nsources; a++)
            for (int b = -1; b < a; b++)
                if (job_concerns(&job->constraint[i], a, b) &&
                    !job_holds(&job->constraint[i], x + a * n, b < 0 ? NULL : x + b * n))
                    return false;
    return true;
}

uint64_t job_sum(const struct job *job, struct trial_range range)
{
    const struct job_accept *a = &job->accept;
    const double accept[] = {a->nk, a->misfit, a->below, (double)a->best, a->all};
    struct checksum sum;
    checksum_begin(&sum, "okada_mogi job 5");
    checksum_add_text(&sum, job->model->name);
    checksum_add(&sum, &range, sizeof range);
    for (int i = 0; i < job->naxes; i++) {
        const struct trial_axis *x = &job->axis[i];
        const double numbers[] = {job->source[i], job->parameter[i], x->min, x->max, (double)x->n};
        checksum_add(&sum, numbers, sizeof numbers);
        checksum_add_text(&sum, job->model->parameter[job->parameter[i]].name);
    }
    for (int i = 0; i < job->nconstraints; i++) {
        checksum_add_text(&sum, job->constraint[i].what->name);
        checksum_add(&sum, job->constraint[i].number, sizeof job->constraint[i].number);
    }
    checksum_add(&sum, a->k, (size_t)a->nk * sizeof *a->k);
    checksum_add(&sum, accept, sizeof accept);
    stations_sum(&job->stations, &sum);
    scenes_sum(&job->scenes, &sum);
    return checksum_end(&sum);
}
