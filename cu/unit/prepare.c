/* cu/unit/prepare.c – brings layout, devices, OMP_PLACES and OMP_PROC_BIND into agreement.
 *
 * An OpenMP runtime reads its environment once, before main() or at the first call. If places must
 * be derived, the program therefore sets the environment and executes itself again. CU_PLACED tells
 * the second image that it is one; it removes the variables that the first has added, so that
 * programs started from it see the user's environment. */
#include "cu/unit/prepare.h"
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "cu/unit/topology.h"
#include "src/process.h"
#include "src/self.h"

#include <ctype.h>
#include <errno.h>
#include <omp.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

static struct prepare_plan in_force;
static bool prepared;

/* The environment of the second image. */
static const struct setting {
    const char *name, *value; /* NULL: the derived places */
} settings[] = {
    {"OMP_PLACES", NULL},
    {"OMP_PROC_BIND", "close,master"},
    {"OMP_MAX_ACTIVE_LEVELS", "2"},
    {"OMP_DYNAMIC", "false"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

const struct prepare_plan *prepare_in_force(void)
{
    return prepared ? &in_force : NULL;
}

/* Empty, or "auto" among blanks. */
static bool is_auto(const char *text)
{
    static const char blanks[] = " \t\r\n";
    text = text ? text + strspn(text, blanks) : "";
    text += strncasecmp(text, "auto", 4) ? 0 : 4;
    return !text[strspn(text, blanks)];
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Number of devices in "opencl:0,cuda:1"; -1 for "auto" or none. */
static int count_named(const char *devices)
{
    if (is_auto(devices))
        return -1;
    int n = 1;
    for (const char *p = devices; *p; p++)
        n += *p == ',';
    return n;
}

/* Looks up exactly `want` devices, or all there are if want < 0. */
static enum ek_status find_devices(const char *devices, int want, struct prepare_plan *plan,
                                   struct backend_device *found, int *n)
{
    plan->asked = true;
    TRY(backend_parse(is_auto(devices) ? "auto" : devices, want, found, PREPARE_DEVICES, n));
    if (want >= 0 && *n != want)
        FAIL(EK_UNAVAILABLE, "%d devices are asked for, there are %d; --list-devices shows them",
             want, *n);
    return EK_OK;
}

/* The layout if the user gave none: the one that OMP_PLACES describes, or one unit for each core
 * that no device's thread needs. */
static enum ek_status guess_layout(const struct prepare_machine *m, int ndev, const char *text,
                                   const struct place_list *given, struct cu_layout *layout)
{
    if (given->n)
        return place_infer(given, ndev, text, layout);
    int cores = topology_cores(m->topology, m->allowed);
    if (!m->imagined)
        cores = topology_within_quota(cores);
    cores -= ndev;
    *layout = (struct cu_layout){cores > 0 ? cores : 0, cores > 0, ndev, ndev > 0};
    return EK_OK;
}

static enum ek_status choose_layout(const struct cu_options *o, const struct prepare_machine *m,
                                    const struct place_list *given, struct prepare_plan *plan)
{
    int named = count_named(o->devices);
    if (!is_auto(o->layout)) {
        struct cu_layout layout;
        TRY(cu_layout_parse(o->layout, &layout));
        if (named >= 0 && named != layout.ndev)
            FAIL(EK_USAGE,
                 "layout %s has %d devices, but '%s' names %d; make them agree or leave one out",
                 o->layout, layout.ndev, o->devices, named);
        plan->layout = layout;
        return given->n ? place_check(given, &layout, m->omp_places) : EK_OK;
    }
    plan->all = named < 0 && o->devices && *o->devices && !m->imagined;
    if (plan->all) {
        struct backend_device found[PREPARE_DEVICES];
        TRY(find_devices(NULL, -1, plan, found, &named));
    }
    return guess_layout(m, named > 0 ? named : 0, m->omp_places, given, &plan->layout);
}

/* Checks that this process may use every cpu of the list. */
static enum ek_status check_allowed(const struct prepare_machine *m, const struct place_list *given)
{
    hwloc_bitmap_t beyond = hwloc_bitmap_alloc();
    if (!beyond)
        FAIL(EK_UNAVAILABLE, "out of memory for a set of cpus");
    char want[128], have[128];
    place_union(given, beyond);
    hwloc_bitmap_andnot(beyond, beyond, m->allowed);
    bool missing = !hwloc_bitmap_iszero(beyond);
    topology_list(beyond, want, sizeof want);
    hwloc_bitmap_free(beyond);
    if (missing)
        FAIL(EK_UNAVAILABLE,
             "OMP_PLACES='%s' names cpus %s, which this process may not use (it may use %s); "
             "shrink it, or give a layout instead",
             m->omp_places, want, topology_list(m->allowed, have, sizeof have));
    return EK_OK;
}

/* Finds the cpus next to each device; near[d] stays NULL if driver or machine do not tell. */
static enum ek_status find_near(const struct backend_device *device, int n, hwloc_bitmap_t *near)
{
    OWNED(owned_topology_close) hwloc_topology_t topology = NULL;
    if (n > 0)
        TRY(topology_open_pci(&topology));
    for (int d = 0; d < n; d++) {
        struct backend_info info;
        hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
        if (cpus && !device[d].ops->info(device[d].index, &info) &&
            topology_near(topology, info.pci, cpus))
            near[d] = cpus;
        else
            hwloc_bitmap_free(cpus);
    }
    return EK_OK;
}

static enum ek_status derive_places(const struct cu_options *o, const struct prepare_machine *m,
                                    struct prepare_plan *plan)
{
    struct backend_device device[PREPARE_DEVICES];
    int n = 0;
    if (cu_layout_units(&plan->layout) > PLACE_MOST)
        FAIL(EK_USAGE, "layout %s has more than %d units", cu_layout_text(&plan->layout),
             PLACE_MOST);
    /* In a single NUMA node nothing depends on the devices. Opening their drivers is left to
     * cu_open(): it costs more than all else here, and the second image would do it again. */
    if (plan->layout.ndev && !m->imagined &&
        hwloc_get_nbobjs_by_type(m->topology, HWLOC_OBJ_NUMANODE) > 1)
        TRY(find_devices(o->devices, plan->all ? -1 : plan->layout.ndev, plan, device, &n));
    NEW(hwloc_bitmap_t, near, (size_t)plan->layout.ndev + 1, "out of memory for %d devices",
        plan->layout.ndev);
    enum ek_status st = find_near(device, n, near);
    THEN(st, place_derive(m->topology, m->allowed, &plan->layout,
                          (const hwloc_const_bitmap_t *)near, &plan->places));
    for (int d = 0; d < n; d++)
        hwloc_bitmap_free(near[d]);
    free(near);
    return st;
}

enum ek_status prepare_plan(const struct cu_options *options, const struct prepare_machine *machine,
                            struct prepare_plan *plan)
{
    struct prepare_plan p = {.derived = !machine->omp_places};
    enum ek_status st = EK_OK;
    if (!p.derived)
        st = place_parse(machine->omp_places, machine->topology, machine->allowed, &p.places);
    THEN(st, choose_layout(options, machine, &p.places, &p));
    THEN(st, p.derived ? derive_places(options, machine, &p) : check_allowed(machine, &p.places));
    if (st)
        place_free(&p.places);
    else
        *plan = p;
    return st;
}

enum ek_status prepare_check_room(const struct prepare_plan *plan, bool strict)
{
    hwloc_bitmap_t all = hwloc_bitmap_alloc();
    if (!all)
        FAIL(EK_UNAVAILABLE, "out of memory for a set of cpus");
    place_union(&plan->places, all);
    int threads = cu_layout_threads(&plan->layout), cpus = hwloc_bitmap_weight(all);
    hwloc_bitmap_free(all);
    const char *text = cu_layout_text(&plan->layout);
    if (threads > cpus && strict)
        FAIL(EK_UNAVAILABLE,
             "layout %s: %d threads on %d cpus; take a smaller layout or leave out --strict", text,
             threads, cpus);
    if (threads > cpus)
        status_warn("layout %s: %d threads on %d cpus, they take turns", text, threads, cpus);
    return EK_OK;
}

/* ---- stacks and threads -----------------------------------------------------------------------*/

/* OMP_STACKSIZE in bytes; 0: not given, or not valid, so that the OpenMP runtime ignores it. */
static size_t openmp_stack(void)
{
    static const char units[] = "BKMG";
    const char *text = getenv("OMP_STACKSIZE");
    char *end;
    errno = 0;
    const unsigned long n = text && !strchr(text, '-') ? strtoul(text, &end, 10) : 0;
    if (!n || errno)
        return 0;
    end += strspn(end, " ");
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : &units[1];
    const long shift = unit ? 10 * (unit - units) : 0;
    return unit && n <= SIZE_MAX >> shift ? n << shift : 0;
}

enum ek_status prepare_stack(char **argv)
{
    const rlim_t enough = 1 << 20, least = 256 << 10;
    struct rlimit r;
    if (getrlimit(RLIMIT_STACK, &r))
        return EK_OK;
    if (r.rlim_max < least)
        FAIL(EK_UNAVAILABLE, "stacks may have %zu KiB, %zu are needed; raise ulimit -s",
             (size_t)r.rlim_max >> 10, (size_t)least >> 10);
    const size_t threads = openmp_stack();
    const bool small = r.rlim_cur < enough && r.rlim_cur < r.rlim_max;
    if (!small && (threads ? threads : r.rlim_cur) >= enough)
        return EK_OK;
    if (small)
        r.rlim_cur = r.rlim_max < 8 * enough ? r.rlim_max : 8 * enough;
    if (setrlimit(RLIMIT_STACK, &r) || setenv("OMP_STACKSIZE", "1M", 1))
        FAIL(EK_UNAVAILABLE, "stacks cannot be enlarged: %s; raise ulimit -s", strerror(errno));
    execv(self_path(), argv);
    FAIL(EK_UNAVAILABLE, "%s: cannot be executed again: %s; raise ulimit -s and OMP_STACKSIZE",
         self_path(), strerror(errno));
}

/* Checks first, because an OpenMP runtime aborts if it cannot start a thread. The calling thread is
 * one of the layout's. */
static enum ek_status check_threads(const struct cu_layout *layout)
{
    const int threads = cu_layout_threads(layout),
              found = 1 + process_startable(threads - 1, openmp_stack());
    if (found < threads)
        FAIL(EK_UNAVAILABLE,
             "layout %s: %d threads, but no more than %d can be started here (ulimit -u, pids.max, "
             "vm.max_map_count, memory, OMP_STACKSIZE); take a smaller layout",
             cu_layout_text(layout), threads, found);
    return EK_OK;
}

/* ---- this process ---------------------------------------------------------------------------- */

static enum ek_status plan_here(const struct cu_options *o, bool bind, struct prepare_plan *plan)
{
    OWNED(owned_topology_close) hwloc_topology_t topology = NULL;
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t allowed = NULL;
    const char *text = bind ? getenv("OMP_PLACES") : NULL;
    text = text && *text ? text : NULL;
    TRY(topology_here(&topology, &allowed));
    if (!text)
        cluster_share_cpus(topology, allowed);
    const struct prepare_machine here = {topology, allowed, text, false};
    return prepare_plan(o, &here, plan);
}

/* The initial thread may be bound to its first place, but the second image must see all cpus. */
static enum ek_status unbind(void)
{
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (!cpus)
        FAIL(EK_UNAVAILABLE, "out of memory for a set of cpus");
    TRY(topology_process_cpus(cpus));
    topology_bind_thread(cpus);
    return EK_OK;
}

/* Re-executes this program with the environment that the plan needs. Returns only on failure. */
static enum ek_status restart(const struct prepare_plan *plan, char **argv)
{
    char guard[256];
    OWNED_MEMORY char *places = place_format(&plan->places);
    if (!places)
        FAIL(EK_UNAVAILABLE, "out of memory for OMP_PLACES");
    int at = snprintf(guard, sizeof guard, "%d %s%s", (int)getpid(), cu_layout_text(&plan->layout),
                      plan->all ? " all" : "");
    for (int i = 0; i < SETTINGS; i++) {
        const char *value = settings[i].value ? settings[i].value : places;
        const char *old = getenv(settings[i].name);
        if (!old)
            at += snprintf(guard + at, sizeof guard - (size_t)at, " %s", settings[i].name);
        setenv(settings[i].name, value, 1);
    }
    setenv("CU_PLACED", guard, 1);
    TRY(unbind());
    fflush(NULL);
    stop_hold();
    execv(self_path(), argv);
    int err = errno;
    unsetenv("CU_PLACED");
    FAIL(EK_UNAVAILABLE,
         "cannot execute this program again to bind its threads: %s; set OMP_PLACES='%s' "
         "OMP_PROC_BIND=close,master yourself",
         strerror(err), places);
}

#ifdef __clang__
/* LLVM's runtime starts when it is first called, and takes the calling thread's cpus for all there
 * are. If a library has loaded libgomp, that has already bound the thread to its first place. */
static enum ek_status free_thread(const struct place_list *places)
{
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (!cpus)
        FAIL(EK_UNAVAILABLE, "out of memory for a set of cpus");
    place_union(places, cpus);
    topology_bind_thread(cpus);
    return EK_OK;
}
#else
static enum ek_status free_thread(const struct place_list *places)
{
    (void)places;
    return EK_OK;
}
#endif

bool cu_is_second_image(void)
{
    const char *guard = getenv("CU_PLACED");
    return guard && atoi(guard) == getpid();
}

/* In the second image, takes over the first one's layout and places and restores the user's
 * environment. Ignores a CU_PLACED that no first image wrote: *adopted stays false. */
static enum ek_status adopt(struct prepare_plan *plan, bool *adopted)
{
    const char *guard = getenv("CU_PLACED"), *places = getenv("OMP_PLACES");
    if (!guard)
        return EK_OK;
    char text[256], *rest = text;
    snprintf(text, sizeof text, "%s", guard);
    unsetenv("CU_PLACED");
    const bool ours = places && atoi(strsep(&rest, " ")) == getpid() && rest &&
                      !MUTED(cu_layout_parse(strsep(&rest, " "), &plan->layout));
    if (!ours)
        return EK_OK;
    TRY(place_parse(places, NULL, NULL, &plan->places));
    if (plan->places.n != cu_layout_units(&plan->layout))
        FAIL(EK_USAGE, "CU_PLACED='%s' does not fit OMP_PLACES='%s'; unset it",
             cu_layout_text(&plan->layout), places);
    TRY(free_thread(&plan->places));
    *adopted = true;
    (void)omp_get_num_places(); /* LLVM's runtime reads its environment at the first call only */
    for (const char *name; (name = strsep(&rest, " "));) {
        plan->all |= !strcmp(name, "all");
        for (int i = 0; i < SETTINGS; i++)
            if (!strcmp(name, settings[i].name))
                unsetenv(name);
    }
    plan->derived = !getenv("OMP_PLACES");
    return EK_OK;
}

enum ek_status prepare_floating(const struct cu_options *options, struct cu_layout *layout)
{
    struct prepare_plan plan;
    TRY(plan_here(options, false, &plan));
    place_free(&plan.places);
    omp_set_max_active_levels(2);
    omp_set_dynamic(0);
    *layout = plan.layout;
    return EK_OK;
}

static void display(const struct cu_options *o, const struct prepare_plan *plan)
{
    static const char *const kinds[] = {"FALSE", "TRUE", "MASTER", "CLOSE", "SPREAD"};
    OWNED_MEMORY char *places = place_format(&plan->places);
    int bind = (int)omp_get_proc_bind();
    fprintf(stderr,
            "CU DISPLAY ENVIRONMENT BEGIN\n"
            "  CU_LAYOUT = '%s'\n"
            "  CU_DEVICES = '%s'\n"
            "  OMP_PLACES = '%s'%s\n"
            "  OMP_PROC_BIND = '%s'\n"
            "  OMP_MAX_ACTIVE_LEVELS = '%d'\n"
            "  OMP_DYNAMIC = '%s'\n"
            "CU DISPLAY ENVIRONMENT END\n",
            cu_layout_text(&plan->layout),
            !plan->layout.ndev    ? ""
            : is_auto(o->devices) ? "auto"
                                  : o->devices,
            places ? places : "", plan->derived ? " (derived)" : "",
            bind >= 0 && bind < 5 ? kinds[bind] : "?", omp_get_max_active_levels(),
            omp_get_dynamic() ? "TRUE" : "FALSE");
}

/* Checks that the runtime, which does the binding, has read OMP_PLACES as we did. */
static enum ek_status compare_runtime(const struct prepare_plan *plan)
{
    OWNED(place_free) struct place_list found = {0};
    TRY(place_runtime(&found));
    if (place_equal(&found, &plan->places))
        return EK_OK;
    OWNED_MEMORY char *ours = place_format(&plan->places);
    OWNED_MEMORY char *theirs = place_format(&found);
    FAIL(EK_USAGE,
         "OMP_PLACES means '%s' by the OpenMP standard, but this OpenMP runtime reads it as '%s'; "
         "write it in the first form",
         ours ? ours : "?", theirs ? theirs : "?");
}

/* A parallel region that asks for no number of threads has one for each cpu of the machine by
 * default. Bound to the few cpus of the places, they would wait in turn by spinning: no more than
 * those cpus. */
static enum ek_status limit_default_team(const struct place_list *places)
{
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (!cpus)
        FAIL(EK_UNAVAILABLE, "out of memory for a set of cpus");
    place_union(places, cpus);
    const int n = hwloc_bitmap_weight(cpus);
    if (n > 0 && n < omp_get_max_threads())
        omp_set_num_threads(n);
    return EK_OK;
}

/* Puts the plan in force. Takes over plan->places. */
static enum ek_status settle(const struct cu_options *o, struct prepare_plan *plan)
{
    TRY(compare_runtime(plan));
    if (o->strict)
        TRY(prepare_check_room(plan, true));
    TRY(limit_default_team(&plan->places));
    omp_set_max_active_levels(2);
    omp_set_dynamic(0);
    place_free(&in_force.places);
    in_force = *plan;
    prepared = true;
    if (o->display_env)
        display(o, plan);
    return EK_OK;
}

/* Whether the plan needs a second image: the runtime does not bind or has other places, or threads
 * of device drivers already run on the wrong cpus. */
static bool needs_restart(const struct prepare_plan *plan)
{
    const char *asked = getenv("OMP_PROC_BIND");
    bool bound = omp_get_proc_bind() != omp_proc_bind_false;
    if (!bound && (asked || !plan->derived))
        status_warn("%s=%s leaves threads unbound, but units need their places; taking "
                    "close,master",
                    asked ? "OMP_PROC_BIND" : "OMP_PLACES", asked ? asked : getenv("OMP_PLACES"));
    return plan->derived || !bound || plan->asked;
}

struct cu_options prepare_options(const struct cu_options *given)
{
    struct cu_options o = *given;
    o.layout = o.layout ? o.layout : getenv("CU_LAYOUT");
    o.devices = o.devices ? o.devices : getenv("CU_DEVICES");
    return o;
}

enum ek_status cu_prepare(const struct cu_options *given, char **argv)
{
    const struct cu_options wanted = prepare_options(given), *options = &wanted;
    struct prepare_plan plan = {0};
    bool second = false;
    if (prepared)
        return EK_OK;
    const struct cluster_launch launch = cluster_launch();
    backend_share(launch.local_rank, launch.local_size);
    enum ek_status st = adopt(&plan, &second);
    if (!st && !second)
        st = plan_here(options, true, &plan);
    if (!st && !second)
        st = check_threads(&plan.layout);
    if (!st && !second && needs_restart(&plan)) {
        if (options->strict)
            st = prepare_check_room(&plan, true);
        THEN(st, restart(&plan, argv));
    } else if (!st) {
        st = settle(options, &plan);
    }
    if (st)
        place_free(&plan.places);
    return st;
}
