/* kirchhoff/mig_program.c – bin/kirchhoff-mig: what it does instead of a migration, before it and
 * with its result. */
#include "cu/rank/cluster.h"
#include "kirchhoff/generate.h"
#include "kirchhoff/mig.h"
#include "kirchhoff/microjobs.h"
#include "src/file.h"

/* Checks that all output can be written, and overwrites no input. */
static enum ek_status try_outputs(const struct mig *p)
{
    const char *const outputs[] = {p->out, p->headers};
    static const char *const suffixes[] = {".f32", ".fold.f32", ".json"};
    char path[4096];
    if (p->o.data)
        file_input(p->o.data);
    for (int i = 0; i < 2; i++)
        TRY(file_try(outputs[i]));
    for (int i = 0; p->raw && i < 3; i++) {
        if (snprintf(path, sizeof path, "%s%s", p->raw, suffixes[i]) >= (int)sizeof path)
            FAIL(EK_USAGE, "--raw: the name is too long");
        TRY(file_try(path));
    }
    return EK_OK;
}

static enum ek_status answer(void *st, bool *done)
{
    struct mig *p = st;
    TRY(try_outputs(p));
    *done = p->generate || p->headers || (p->o.data && file_ends_in(p->o.data, ".json"));
    if (p->generate && !p->out)
        FAIL(EK_USAGE, "--generate %s: where to? --out DATA.segy", p->generate);
    if (p->generate)
        return generate_file(p->generate, p->events, p->out);
    if (p->headers)
        return write_headers(&p->o, p->headers);
    return *done ? microjobs_run(p->o.data, p->run) : EK_OK;
}

static enum ek_status check(void *st, enum bench_verdict *verified, json_t **detail)
{
    struct mig *p = st;
    if (cluster_any(p->left_out))
        return mig_save_all(p);
    if (!p->lsm && p->m->slabs == 1)
        TRY(mig_gather(p));
    *verified = mig_judge(p);
    if (p->whole && isnan(p->again.share))
        FAIL(EK_UNAVAILABLE, "out of memory while points of the image were summed again");
    *detail = json_pack("{s:s s:b}", "method",
                        "each chunk was migrated once, all points are numbers, random points are "
                        "what they are when summed again",
                        "verified", *verified);
    if (cluster_rank() > 0)
        return EK_OK;
    if (!*verified && p->m->slabs == 1) /* a run that resumes from it would fail again */
        mig_checkpoint_remove(p);
    return p->whole ? mig_write(p) : EK_OK;
}

static void remark(FILE *out, const void *st, const json_t *f)
{
    (void)st;
    static const struct {
        const char *key, *text;
    } left_out[] = {{"dead_traces", "dead"},
                    {"silent_traces", "without any signal"},
                    {"outside_classes", "with offsets outside the classes"},
                    {"outside_aperture", "farther from the image than the aperture"}};
    fprintf(out, "%.0f traces in %.0f chunks of %s cells, %.0f table loads, peak %.4g\n",
            json_number_of(f, "traces"), json_number_of(f, "chunks"),
            json_string_value(json_object_get(f, "block_cells")), json_number_of(f, "table_loads"),
            json_number_of(f, "peak"));
    if (json_number_of(f, "kept_traces") > 0)
        fprintf(out, "%.0f traces kept from an interrupted run\n",
                json_number_of(f, "kept_traces"));
    const json_t *lsm = json_object_get(f, "lsm"), *norm = json_object_get(lsm, "residual");
    if (json_array_size(norm))
        fprintf(out, "least squares: %.4g %% of the traces unexplained after %.0f iterations\n",
                100 * json_number_value(json_array_get(norm, json_array_size(norm) - 1)),
                json_number_of(lsm, "iterations"));
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (json_number_of(f, left_out[i].key) > 0)
            fprintf(out, "left out: %.0f traces %s\n", json_number_of(f, left_out[i].key),
                    left_out[i].text);
}

static enum ek_status view(void *st, json_t **made)
{
    struct mig *p = st;
    *made = p->whole ? mig_page(p) : NULL;
    return EK_OK;
}

const struct bench_program mig_program = {
    .identity = {"kirchhoff-mig", "3-D prestack Kirchhoff depth migration", "Mupdate/s",
                 sizeof(struct mig)},
    .command = {.table = mig_options,
                .operand = "DATA.segy or JOB.json",
                .operand_at = offsetof(struct mig, o.data),
                .settings_at = offsetof(struct mig, run),
                .defaults = mig_defaults,
                .answer = answer},
    .problem = {.plan = mig_plan,
                .open = mig_begin,
                .prepare = mig_prepare,
                .release = mig_release,
                .close = mig_end},
    .run = {.ranks = BENCH_RANKS,
            .cold = true,
            .steps = mig_steps,
            .verbs = &mig_verbs,
            .reset = mig_reset,
            .work = mig_work,
            .interrupted = mig_interrupted},
    .output = {.check = check,
               .facts = mig_facts,
               .remark = remark,
               .page = "kirchhoff/mig.html",
               .view = view,
               .written = mig_checkpoint_remove},
};
