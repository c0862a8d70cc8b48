/* okada_mogi/residuals.c – one row a station. */
#include "okada_mogi/residuals.h"
#include "src/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put_three(FILE *out, const double *x)
{
    for (int c = 0; c < 3; c++)
        if (isnan(x[c]))
            fputc(',', out);
        else
            fprintf(out, ",%.9g", x[c]);
}

static void put_rows(FILE *out, const struct stations *s, const double *u)
{
    fputs("site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,pE_m,pN_m,pU_m,rE,rN,rU\n", out);
    for (int i = 0; i < s->n; i++) {
        const double *observed = s->observed + 3 * i, *sigma = s->sigma + 3 * i;
        double residual[3];
        for (int c = 0; c < 3; c++)
            residual[c] = (u[3 * i + c] - observed[c]) / sigma[c];
        fprintf(out, "%s,%.12g,%.12g", s->name[i], s->east[i], s->north[i]);
        put_three(out, observed);
        put_three(out, sigma);
        put_three(out, u + 3 * i);
        put_three(out, residual);
        fputc('\n', out);
    }
}

enum ek_status residuals_write(const struct job *job, trial_number trial, const char *path)
{
    struct judge *judge;
    struct accepted_record record;
    struct file *f;
    const double *u;
    TRY(judge_open(job, &judge));
    enum ek_status st = file_create(path, &f);
    if (!st) {
        if (judge_trial(judge, trial, &record, &u))
            put_rows(file_stream(f), &job->stations, u);
        st = file_finish(f);
    }
    judge_close(judge);
    return st;
}
