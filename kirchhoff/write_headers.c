/* kirchhoff/write_headers.c – writes the input's trace headers as CSV. */
#include "kirchhoff/mig.h"

static void print_all(FILE *out, const struct segy *s)
{
    fprintf(out, "# %s: %zu live traces, %ld dead, %g ms, format %d, revision %d\n", s->path, s->n,
            s->dead, 1e3 * s->dt, s->layout.format, s->layout.revision);
    fprintf(out, "trace,sx_m,sy_m,sz_m,gx_m,gy_m,gz_m,samples,delay_s\n");
    for (size_t i = 0; i < s->n; i++) {
        const struct segy_trace *t = &s->trace[i];
        fprintf(out, "%ld,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%u,%g\n", t->number, t->sx, t->sy,
                t->sz, t->gx, t->gy, t->gz, t->ns, (double)t->delay);
    }
}

enum ek_status write_headers(const struct migrate_options *o, const char *path)
{
    OWNED(owned_segy_close) struct segy *s = NULL;
    struct file *f;
    TRY(migrate_input(o, &s));
    TRY(file_create(path, &f));
    print_all(file_stream(f), s);
    return file_finish(f);
}
