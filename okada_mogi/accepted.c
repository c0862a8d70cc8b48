/* okada_mogi/accepted.c – lists of records, and rows written in the order of trials. */
#include "okada_mogi/accepted.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lists ------------------------------------------------------------------------------------*/

enum ek_status accepted_add(struct accepted *a, const struct accepted_record *r)
{
    if (a->n == a->room) {
        const size_t room = a->room ? 2 * a->room : 16;
        struct accepted_record *more = realloc(a->record, room * sizeof *more);
        if (!more)
            FAIL(EK_LACK, "out of memory for %zu accepted trials; accept fewer, or divide the job",
                 room);
        a->record = more;
        a->room = room;
    }
    a->record[a->n++] = *r;
    return EK_OK;
}

void accepted_free(struct accepted *a)
{
    free(a->record);
    *a = (struct accepted){0};
}

static int by_trial(const void *a, const void *b)
{
    const struct accepted_record *x = a, *y = b;
    return (x->trial > y->trial) - (x->trial < y->trial);
}

static int by_misfit(const void *a, const void *b)
{
    const struct accepted_record *x = a, *y = b;
    const int order = (x->misfit > y->misfit) - (x->misfit < y->misfit);
    return order ? order : by_trial(a, b);
}

/* Most lists are in order already. */
static void sort(struct accepted *a, int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < a->n; i++)
        if (compare(&a->record[i - 1], &a->record[i]) > 0) {
            qsort(a->record, a->n, sizeof *a->record, compare);
            return;
        }
}

void accepted_sort(struct accepted *a)
{
    sort(a, by_trial);
}

void accepted_sort_best(struct accepted *a)
{
    sort(a, by_misfit);
}

/* ---- the file ---------------------------------------------------------------------------------*/

/* A finished range that waits for those before it. */
struct waiting {
    struct trial_range range;
    struct accepted accepted;
    struct waiting *next;
};

struct accepted_file {
    const struct job *job;
    char *path, *beside;
    FILE *out;
    trial_number next;     /* all before it is written */
    struct waiting *first; /* ascending */
    pthread_mutex_t lock;
};

static enum ek_status write_failed(const struct accepted_file *f)
{
    FAIL(EK_LACK, "%s: cannot be written: %s; choose another place", f->beside, strerror(errno));
}

enum ek_status accepted_file_open(const char *path, const struct job *job, struct trial_range range,
                                  struct accepted_file **f)
{
    struct accepted_file *made = calloc(1, sizeof *made);
    if (!made)
        FAIL(EK_LACK, "%s: out of memory", path);
    *made = (struct accepted_file){.job = job, .path = strdup(path), .next = range.first};
    pthread_mutex_init(&made->lock, NULL);
    enum ek_status st = EK_OK;
    if (!made->path || asprintf(&made->beside, "%s.part-%d", path, (int)getpid()) < 0)
        st = status_fail(EK_LACK, "%s: out of memory", path);
    else if (!(made->out = fopen(made->beside, "w")))
        st = write_failed(made);
    if (st) {
        accepted_file_close(made, false);
        return st;
    }
    fputs("index", made->out);
    for (int a = 0; a < job->naxes; a++)
        fprintf(made->out, ",%s", job->name[a]);
    fputs(",misfit,chi2,rms_m\n", made->out);
    *f = made;
    return EK_OK;
}

static void write_row(struct accepted_file *f, const struct accepted_record *r)
{
    char text[TRIAL_TEXT];
    long place[JOB_AXES];
    const struct job *job = f->job;
    fputs(trial_text(r->trial, text), f->out);
    trial_place(job->axis, job->naxes, r->trial, place);
    for (int a = 0; a < job->naxes; a++)
        fprintf(f->out, ",%.15g", trial_value(&job->axis[a], place[a]));
    fprintf(f->out, ",%.15g,%.15g,%.15g\n", r->misfit, r->chi2, r->rms);
}

static void write_rows(struct accepted_file *f, const struct accepted *a)
{
    for (size_t i = 0; i < a->n; i++)
        write_row(f, &a->record[i]);
}

/* Writes all that follows without a gap. */
static enum ek_status advance(struct accepted_file *f)
{
    while (f->first && f->first->range.first == f->next) {
        struct waiting *w = f->first;
        f->first = w->next;
        f->next += w->range.count;
        write_rows(f, &w->accepted);
        accepted_free(&w->accepted);
        free(w);
    }
    return ferror(f->out) ? write_failed(f) : EK_OK;
}

enum ek_status accepted_file_put(struct accepted_file *f, struct trial_range range,
                                 struct accepted *a)
{
    struct waiting *w = calloc(1, sizeof *w);
    if (!w)
        FAIL(EK_LACK, "%s: out of memory", f->path);
    *w = (struct waiting){.range = range, .accepted = *a};
    *a = (struct accepted){0};
    pthread_mutex_lock(&f->lock);
    struct waiting **at = &f->first;
    while (*at && (*at)->range.first < range.first)
        at = &(*at)->next;
    w->next = *at;
    *at = w;
    enum ek_status st = advance(f);
    pthread_mutex_unlock(&f->lock);
    return st;
}

static enum ek_status finish(struct accepted_file *f)
{
    const int bad = fflush(f->out) || fsync(fileno(f->out));
    const int closed = fclose(f->out);
    f->out = NULL;
    if (bad || closed || rename(f->beside, f->path))
        return write_failed(f);
    return EK_OK;
}

enum ek_status accepted_file_close(struct accepted_file *f, bool keep)
{
    enum ek_status st = EK_OK;
    if (!f)
        return EK_OK;
    if (keep)
        st = finish(f);
    if (f->out)
        fclose(f->out);
    if (f->beside && (!keep || st))
        unlink(f->beside);
    while (f->first) {
        struct waiting *w = f->first;
        f->first = w->next;
        accepted_free(&w->accepted);
        free(w);
    }
    pthread_mutex_destroy(&f->lock);
    free(f->path);
    free(f->beside);
    free(f);
    return st;
}
