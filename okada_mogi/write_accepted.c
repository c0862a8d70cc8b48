/* okada_mogi/write_accepted.c – tables of accepted trials, as text or binary. */
#include "okada_mogi/accepted.h"
#include "okada_mogi/write.h"
#include "src/file.h"

#include <endian.h>
#include <errno.h>

enum { VERSION = 1, HEADER = 32 }; /* bytes before the names */

struct accepted_file {
    const struct job *job;
    const char *path; /* borrowed */
    enum accepted_format format;
    struct file *file;
    FILE *out;
    size_t rows; /* announced by accepted_file_open() */
};

/* Columns besides the index. */
static int count_columns(const struct job *job)
{
    int n = 3 + (job->model->moment ? 1 : 0);
    for (int a = 0; a < job->naxes; a++)
        n += job->name[a] != NULL;
    return n;
}

double accepted_row_bytes(const struct job *job, enum accepted_format format)
{
    const int columns = count_columns(job);
    return format == ACCEPTED_BINARY ? (double)sizeof(trial_number) + 8.0 * columns
                                     : log10((double)job->trials) + 10.0 * columns;
}

static const char *last_column(const struct job *job)
{
    return job->model->moment ? ",Mw" : "";
}

/* Sets column [count_columns()] of a trial. */
static void columns_of(const struct job *job, const struct accepted_record *r, double *column)
{
    double x[JOB_AXES];
    job_parameters(job, r->trial, x);
    for (int a = 0; a < job->naxes; a++)
        if (job->name[a])
            *column++ = x[job_at(job, a)];
    *column++ = r->misfit;
    *column++ = r->chi2;
    *column++ = r->rms;
    if (job->model->moment)
        *column = job_magnitude(job, x);
}

static void write_names(const struct accepted_file *f)
{
    for (int a = 0; a < f->job->naxes; a++)
        if (f->job->name[a])
            fprintf(f->out, "%s,", f->job->name[a]);
    fprintf(f->out, "misfit,chi2,rms_m%s", last_column(f->job));
}

static void begin_csv(const struct accepted_file *f)
{
    fputs("index,", f->out);
    write_names(f);
    fputc('\n', f->out);
}

static void row_csv(const struct accepted_file *f, trial_number trial, const double *column, int n)
{
    char text[TRIAL_TEXT];
    fputs(trial_text(trial, text), f->out);
    for (int i = 0; i < n; i++)
        write_cell(f->out, 15, column[i]);
    fputc('\n', f->out);
}

static void put_u64(const struct accepted_file *f, uint64_t x)
{
    x = htole64(x);
    fwrite(&x, sizeof x, 1, f->out);
}

static void put_u32(const struct accepted_file *f, size_t x)
{
    const uint32_t little = htole32((uint32_t)x);
    fwrite(&little, sizeof little, 1, f->out);
}

static void begin_binary(const struct accepted_file *f)
{
    const struct job *job = f->job;
    const int columns = count_columns(job);
    size_t names = strlen("misfit,chi2,rms_m") + strlen(last_column(job));
    for (int a = 0; a < job->naxes; a++)
        names += job->name[a] ? strlen(job->name[a]) + 1 : 0;
    const size_t header = (HEADER + names + 8) / 8 * 8; /* at least one NUL */
    fwrite("EKTRIALS", 8, 1, f->out);
    put_u32(f, VERSION);
    put_u32(f, header);
    put_u64(f, f->rows);
    put_u32(f, (size_t)columns);
    put_u32(f, sizeof(trial_number) + (size_t)columns * sizeof(double));
    write_names(f);
    for (size_t i = HEADER + names; i < header; i++)
        fputc('\0', f->out);
}

static void row_binary(const struct accepted_file *f, trial_number trial, const double *column,
                       int n)
{
    put_u64(f, (uint64_t)trial);
    put_u64(f, (uint64_t)(trial >> 64));
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &column[i], sizeof bits);
        put_u64(f, bits);
    }
}

static const struct {
    void (*begin)(const struct accepted_file *f);
    void (*row)(const struct accepted_file *f, trial_number trial, const double *column, int n);
} formats[] = {
    [ACCEPTED_CSV] = {begin_csv, row_csv}, [ACCEPTED_BINARY] = {begin_binary, row_binary}};

enum ek_status accepted_file_open(const char *path, enum accepted_format format,
                                  const struct job *job, size_t rows, struct accepted_file **f)
{
    NEW(struct accepted_file, made, 1, "%s: out of memory", path);
    *made = (struct accepted_file){.job = job, .path = path, .format = format, .rows = rows};
    TRY_OR(file_create(path, &made->file), free(made));
    made->out = file_stream(made->file);
    formats[format].begin(made);
    *f = made;
    return EK_OK;
}

enum ek_status accepted_file_put(struct accepted_file *f, const struct accepted_record *record,
                                 size_t n)
{
    double column[JOB_AXES + 4];
    const int ncolumns = count_columns(f->job);
    for (size_t i = 0; i < n; i++) {
        columns_of(f->job, &record[i], column);
        formats[f->format].row(f, record[i].trial, column, ncolumns);
    }
    if (ferror(f->out))
        FAIL(EK_UNAVAILABLE, "%s: the accepted trials cannot be written: %s", f->path,
             strerror(errno));
    return EK_OK;
}

enum ek_status accepted_file_end(struct accepted_file *f, enum ek_status st)
{
    st = file_end(f->file, st);
    free(f);
    return st;
}
