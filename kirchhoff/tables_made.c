/* kirchhoff/tables_made.c – a migration computes its own travel-time tables. */
#include "kirchhoff/traveltime_cache.h"
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "kirchhoff/disk.h"
#include "kirchhoff/shot.h"
#include "src/cachedir.h"
#include "src/file.h"
#include "src/progress.h"

#include <unistd.h>

static enum ek_status trace(struct shot_job *job, const double source[3], struct ttable **table)
{
    OWNED(owned_shot_close) struct shot *s = NULL;
    bool done = false;
    TRY(shot_open(job, source, &s));
    while (!done && !stop_heard())
        TRY(shot_step(s, NULL, NULL, &done));
    if (!done)
        return EK_STOPPED;
    *table = shot_take(s);
    return EK_OK;
}

/* Maps the table from an unlinked file, so that the system can page it in and out. */
static enum ek_status map(const struct ttable *table, const char *path, struct ttable_file **mapped)
{
    TRY(ttable_write(table, path));
    const enum ek_status st = ttable_map(path, mapped);
    unlink(path);
    return st;
}

static enum ek_status make_table(struct traveltime_cache *t, struct shot_job *job, int node)
{
    char path[4096];
    OWNED(owned_ttable_close) struct ttable *table = NULL;
    TRY(trace(job, t->folder->source[node].at, &table));
    TRY(shot_job_repair(job, NULL, table));
    tfolder_note(t->folder, (size_t)node, table);
    tfolder_path(t->folder, (size_t)node, path);
    return map(table, path, &t->made[node]);
}

static enum ek_status make_all(struct traveltime_cache *t, struct shot_job *job, int threads)
{
    const int rank = cluster_rank(), ranks = cluster_size();
    enum ek_status worst = EK_OK;
    OWNED_MEMORY char *said = NULL;
    int made = 0;
    progress_begin("travel times", t->nodes, "tables");
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int node = rank; node < t->nodes; node += ranks) {
        enum ek_status now;
#pragma omp atomic read
        now = worst;
        const enum ek_status st = now ? now : MUTED(make_table(t, job, node)); /* reported below */
#pragma omp critical(tables_made)
        progress_at((double)ranks * ++made);
        if (st && !now)
#pragma omp critical(tables_made)
            if (!worst) {
                said = strdup(status_message());
#pragma omp atomic write
                worst = st;
            }
    }
    progress_end();
    if (worst && worst != EK_STOPPED)
        return status_fail(worst, "%s", said ? said : "out of memory for travel times");
    if (!cluster_any(worst == EK_STOPPED))
        return EK_OK;
    return cluster_rank() ? EK_STOPPED
                          : status_fail(EK_STOPPED, "interrupted while travel times were computed");
}

/* Sends a table from the rank that made it to all others. */
static enum ek_status share_table(struct traveltime_cache *t, int node)
{
    const int from = node % cluster_size();
    const size_t bytes = ttable_bytes(&t->grid);
    const bool mine = from == cluster_rank();
    char path[4096], *table = mine ? t->made[node]->memory : malloc(bytes);
    if (!table)
        FAIL(EK_UNAVAILABLE, "out of memory for a travel-time table");
    cluster_share_from(from, table, bytes);
    if (mine)
        return EK_OK;
    tfolder_path(t->folder, (size_t)node, path);
    enum ek_status st = file_replace(path, table, bytes);
    THEN(st, ttable_map(path, &t->made[node]));
    unlink(path);
    free(table);
    return st;
}

static enum ek_status share_all(struct traveltime_cache *t)
{
    for (int node = 0; node < t->nodes && cluster_size() > 1; node++)
        TRY(share_table(t, node));
    tfolder_gather(t->folder);
    return EK_OK;
}

static enum ek_status make_in(struct traveltime_cache *t, const double (*at)[3], const char *path,
                              int threads)
{
    struct shot_job job;
    const size_t n = (size_t)t->nodes;
    TRY(disk_check(path, n, ttable_bytes(&t->grid)));
    TRY(tfolder_make(path, &t->grid, t->velocity->text, &t->surface, n, at, &t->folder));
    enum ek_status st = shot_job_open(&job, &t->grid, t->velocity, &SHOT_OPTIONS, n, at);
    THEN(st, make_all(t, &job, threads));
    THEN(st, share_all(t));
    shot_job_close(&job);
    return st;
}

enum ek_status tables_made(struct traveltime_cache *t, int threads)
{
    char path[1024];
    if (t->folder || t->velocity->kind == VELOCITY_LINEAR)
        return EK_OK;
    cachedir_temporary("kirchhoff-mig-XXXXXX", path, sizeof path);
    if (!mkdtemp(path))
        FAIL(EK_UNAVAILABLE, "%s: no folder for travel times can be made there; set TMPDIR", path);
    OWNED_MEMORY double(*at)[3] = malloc(((size_t)t->nodes + 1) * sizeof *at);
    t->made = calloc((size_t)t->nodes + 1, sizeof(struct ttable_file *));
    enum ek_status st = EK_OK;
    if (!at || !t->made)
        st = status_fail(EK_UNAVAILABLE, "out of memory for %d surface nodes", t->nodes);
    for (int node = 0; node < t->nodes && !st; node++)
        traveltime_cache_place(t, node, at[node]);
    stop_catch();
    THEN(st, make_in(t, (const double(*)[3])at, path, threads));
    rmdir(path);
    return st;
}
