/* cu/bench/bench_layout.c – searches for a good layout within a given time. */
#include "cu/bench/bench_layout.h"
#include "cu/bench/bench_trial.h"
#include "cu/rank/cluster.h"
#include "cu/sched/profile.h"
#include "cu/sched/profile_layout.h"
#include "cu/unit/topology.h"
#include "cu/unit/tune_layout.h"
#include "src/clock.h"

#include <strings.h>
#include <unistd.h>

/* A trial gets this fraction of the total time, and at most this many seconds of steps. */
static const double SHARE = 1. / 16, MOST = 2;

enum { CONFIRM = 2 }; /* further trials of each of the two best layouts */

/* Rates closer than this fraction count as equal: one trial cannot tell them apart. */
static const double WORTH = 0.03;

/* The context of tune_search(), which requires the room to come first. */
struct search {
    struct tune_room room;
    const struct bench_layout_request *request;
    struct backend_device device[TUNE_DEVICES];
    struct width_selection widths;
    struct profile_layout memory;
    double begin, deadline;
    int tried;
};

bool bench_layout_wanted(const struct cu_options *wanted)
{
    const char *places = getenv("OMP_PLACES");
    return wanted->layout && !strcasecmp(wanted->layout, "auto") && !(places && *places) &&
           !getenv("CU_PLACED") && cluster_launch().size == 1;
}

/* ---- cores and devices ------------------------------------------------------------------------*/

static enum ek_status count_cores(int *cores)
{
    OWNED(owned_topology_close) hwloc_topology_t topology = NULL;
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t cpus = NULL;
    TRY(topology_here(&topology, &cpus));
    *cores = topology_within_quota(topology_cores(topology, cpus));
    return EK_OK;
}

static void append(char *text, size_t room, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s", used ? "," : "", more);
}

/* The devices of a set as text, "opencl:0,opencl:2". */
static const char *name_devices(const struct search *s, unsigned devices, char *text, size_t room)
{
    text[0] = '\0';
    for (int d = 0; d < s->room.ndev; d++) {
        char name[48];
        snprintf(name, sizeof name, "%s:%d", s->device[d].ops->name, s->device[d].index);
        if (devices >> d & 1)
            append(text, room, name);
    }
    return text;
}

static enum ek_status find_devices(struct search *s, const char *list)
{
    if (!list || !*list)
        return EK_OK;
    TRY(backend_parse(list, -1, s->device, TUNE_DEVICES, &s->room.ndev));
    for (int d = 0; d < s->room.ndev; d++) {
        struct backend_info info;
        char name[320];
        TRY(s->device[d].ops->info(s->device[d].index, &info));
        snprintf(name, sizeof name, "%s:%d %s", s->device[d].ops->name, s->device[d].index,
                 info.name);
        append(s->memory.offered, sizeof s->memory.offered, name);
    }
    return EK_OK;
}

static enum ek_status open_search(struct search *s, const struct bench_layout_request *request,
                                  const char *devices)
{
    *s = (struct search){.room = {.keeps = true, .width = 1}, .request = request};
    TRY(count_cores(&s->room.cores));
    TRY(find_devices(s, devices));
    snprintf(s->memory.program, sizeof s->memory.program, "%s", request->program);
    snprintf(s->memory.problem, sizeof s->memory.problem, "%s", request->problem);
    s->memory.cores = s->room.cores;
    return profile_cpu(s->memory.cpu, sizeof s->memory.cpu);
}

/* ---- trials -----------------------------------------------------------------------------------*/

static void say_trial(const struct search *s, const char *layout, const char *devices,
                      const struct bench_trial *trial)
{
    FILE *out = s->request->out;
    if (!out)
        return;
    fprintf(out, "  %-10s %-24s", layout, devices);
    if (trial->rate > 0)
        fprintf(out, " %10.4g steps/s\n", trial->rate);
    else
        fprintf(out, " %s\n", trial->reason);
    fflush(out);
}

/* Runs a trial of a layout; the first one even if time is short. */
static enum ek_status measure(void *ctx, const struct tune_point *point, double *rate)
{
    struct search *s = ctx;
    struct bench_trial trial;
    char devices[512], text[64];
    unsigned set;
    const struct cu_layout layout = tune_layout_of(point, &set);
    const double slice = SHARE * s->request->seconds;
    if (s->tried && clock_now() + slice > s->deadline)
        return EK_STOPPED;
    snprintf(text, sizeof text, "%s", cu_layout_text(&layout));
    name_devices(s, set, devices, sizeof devices);
    enum ek_status st = bench_trial_start(s->request->argv, text, devices,
                                          slice < MOST ? slice : MOST, s->deadline, &trial);
    if (st == EK_STOPPED)
        FAIL(EK_LOST, "layout auto: interrupted"); /* EK_STOPPED means that time is up */
    if (st)
        return st;
    s->tried++;
    say_trial(s, text, devices, &trial);
    *rate = trial.rate;
    if (!layout.ncpu)
        return EK_OK;
    width_selection_add(&s->widths, layout.width, &trial.tasks);
    return width_selection_best(&s->widths, s->room.cores, &s->room.preferred);
}

static enum ek_status search(struct search *s)
{
    static const struct tune_ops ops = {tune_layout_move, measure};
    static struct tune tune;
    const struct tune_point first = tune_layout_first(&s->room);
    s->begin = clock_now();
    s->deadline = s->begin + s->request->seconds;
    if (s->request->out)
        fprintf(s->request->out, "layout auto: %s %s on %d core%s, trials of %g s in all\n",
                s->request->program, s->request->problem, s->room.cores,
                s->room.cores > 1 ? "s" : "", s->request->seconds);
    TRY(tune_search(&ops, s, tune_layout_moves(&s->room), &first, WORTH, &tune));
    TRY(tune_confirm(&ops, s, CONFIRM, &tune));
    s->memory.tried = tune.n;
    if (tune.best < 0)
        return EK_OK;
    unsigned set;
    s->memory.rate = tune.trial[tune.best].rate;
    s->memory.layout = tune_layout_of(&tune.trial[tune.best].point, &set);
    name_devices(s, set, s->memory.devices, sizeof s->memory.devices);
    return EK_OK;
}

/* ---- the choice is kept -----------------------------------------------------------------------*/

/* Loads the choice of an earlier run, if there is one. */
static bool remembered(struct search *s, const char *path)
{
    if (s->request->anew || s->request->forgets || access(path, F_OK))
        return false;
    const enum ek_status st = MUTED(profile_layout_load(path, &s->memory));
    if (st)
        status_warn("layout ignored: %s", status_message());
    return !st;
}

/* Keeps the choice for later runs; it is valid even if that fails. */
static void keep(const struct search *s, const char *path)
{
    if (MUTED(profile_layout_save(&s->memory, path)))
        status_warn("the layout is not kept: %s", status_message());
}

static void say_choice(const struct search *s, const char *path, bool known)
{
    FILE *out = s->request->out;
    if (!out)
        return;
    fprintf(out, "layout %s%s%s: ", cu_layout_text(&s->memory.layout),
            *s->memory.devices ? " " : "", s->memory.devices);
    if (known)
        fprintf(out, "best of %d that an earlier run tried, kept in %s\n", s->memory.tried, path);
    else
        fprintf(out, "best of %d tried in %.1f s%s%s\n", s->memory.tried, clock_now() - s->begin,
                s->request->forgets ? "" : ", kept in ", s->request->forgets ? "" : path);
    fflush(out);
}

/* ---- the choice -------------------------------------------------------------------------------*/

static enum ek_status put_in_force(const struct search *s, struct cu_options *wanted,
                                   struct bench_layout *choice)
{
    snprintf(choice->layout, sizeof choice->layout, "%s", cu_layout_text(&s->memory.layout));
    snprintf(choice->devices, sizeof choice->devices, "%s", s->memory.devices);
    snprintf(choice->option[0], sizeof choice->option[0], "--layout=%s", choice->layout);
    snprintf(choice->option[1], sizeof choice->option[1], "--devices=%s", choice->devices);
    choice->argv = bench_trial_argv(s->request->argv, choice->option[0], choice->option[1]);
    if (!choice->argv)
        FAIL(EK_UNAVAILABLE, "layout auto: out of memory");
    wanted->layout = choice->layout;
    wanted->devices = choice->devices;
    return EK_OK;
}

enum ek_status bench_layout_choose(const struct bench_layout_request *request,
                                   struct cu_options *wanted, struct bench_layout *choice)
{
    struct search s;
    char path[CHECKSUMMED_PATH];
    TRY(open_search(&s, request, wanted->devices));
    TRY(profile_layout_path(&s.memory, path));
    const bool known = remembered(&s, path);
    enum ek_status st = known ? EK_OK : search(&s);
    if (st)
        return st == EK_LOST ? EK_STOPPED : st;
    if (!known && !(s.memory.rate > 0)) {
        status_warn("layout auto: no trial finished within %g s; using the default layout",
                    request->seconds);
        return EK_OK;
    }
    if (!known && !request->forgets)
        keep(&s, path);
    say_choice(&s, path, known);
    return put_in_force(&s, wanted, choice);
}
