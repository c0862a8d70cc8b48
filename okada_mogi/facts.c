/* okada_mogi/facts.c – trials in JSON. */
#include "okada_mogi/facts.h"

json_t *facts_number(trial_number x)
{
    char text[TRIAL_TEXT];
    return x >> 63 ? json_string(trial_text(x, text)) : json_integer((json_int_t)x);
}

void facts_print_number(FILE *out, const json_t *number)
{
    if (json_is_string(number))
        fputs(json_string_value(number), out);
    else
        fprintf(out, "%lld", (long long)json_integer_value(number));
}

json_t *facts_trial(const struct job *job, const struct accepted_record *record)
{
    double x[JOB_AXES];
    json_t *trial = json_object(), *parameters = json_object();
    job_parameters(job, record->trial, x);
    for (int a = 0; a < job->naxes; a++)
        json_object_set_new(parameters, job->name[a], json_real(x[job_at(job, a)]));
    json_object_set_new(trial, "index", facts_number(record->trial));
    json_object_set_new(trial, "parameters", parameters);
    json_object_set_new(trial, "misfit", json_real(record->misfit));
    json_object_set_new(trial, "chi2", json_real(record->chi2));
    json_object_set_new(trial, "rms_m", json_real(record->rms));
    if (job->model->moment) {
        json_object_set_new(trial, "moment_Nm", json_real(job_moment(job, x)));
        json_object_set_new(trial, "Mw", json_number_or_null(job_magnitude(job, x)));
    }
    return trial;
}

double facts_real(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}
