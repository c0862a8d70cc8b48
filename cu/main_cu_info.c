/* cu/main_cu_info.c – cu-info: shows this node's cpus and devices, and where units would run. */
#include "cu/bench/explain.h"
#include "cu/sched/profile.h"
#include "src/cgroup.h"
#include "src/isa.h"
#include "src/json.h"
#include "src/opt.h"
#include "src/version.h"
#include "cu/unit/prepare.h"
#include "cu/unit/topology.h"

#include <jansson.h>
#include <unistd.h>

struct info_request {
    struct cu_options cu;
    const char *places;    /* OMP_PLACES text; NULL or "": derive */
    const char *synthetic; /* hwloc synthetic machine instead of this one, or NULL */
};

/* ---- state ------------------------------------------------------------------------------------*/

struct info {
    const struct info_request *request;
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
    struct prepare_plan plan;
    char (*name)[32]; /* [units] */
};

static const struct level {
    hwloc_obj_type_t type;
    const char *one, *key;
} levels[] = {
    {HWLOC_OBJ_PACKAGE, "package", "packages"},
    {HWLOC_OBJ_NUMANODE, "NUMA node", "numa_nodes"},
    {HWLOC_OBJ_CORE, "core", "cores"},
    {HWLOC_OBJ_PU, "cpu", "cpus"},
};
enum { LEVELS = sizeof levels / sizeof *levels };

static const hwloc_obj_type_t caches[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
enum { CACHES = sizeof caches / sizeof *caches };

static int count(const struct info *v, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(v->topology, type);
    return n > 0 ? n : 0;
}

static bool is_device(const struct info *v, int unit)
{
    return unit >= v->plan.layout.ncpu;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Names the units as cu_open() will; the devices of a synthetic machine are only numbered. */
static enum ek_status name_units(struct info *v)
{
    const char *devices = v->request->cu.devices;
    int ncpu = v->plan.layout.ncpu, ndev = v->plan.layout.ndev, n = 0;
    struct backend_device device[PREPARE_DEVICES];
    for (int i = 0; i < ncpu + ndev; i++)
        snprintf(v->name[i], sizeof *v->name, is_device(v, i) ? "device%d" : "cpu%d",
                 is_device(v, i) ? i - ncpu : i);
    if (!ndev || v->request->synthetic)
        return EK_OK;
    TRY(backend_parse(devices && *devices ? devices : "auto", ndev, device, PREPARE_DEVICES, &n));
    for (int d = 0; d < n && d < ndev; d++)
        snprintf(v->name[ncpu + d], sizeof *v->name, "%.20s:%d", device[d].ops->name,
                 device[d].index);
    return EK_OK;
}

static enum ek_status fill(struct info *v)
{
    const struct info_request *r = v->request;
    if (r->synthetic) {
        TRY(topology_open(r->synthetic, &v->topology));
        v->allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(v->topology));
    } else {
        TRY(topology_here(&v->topology, &v->allowed));
    }
    if (!v->allowed)
        FAIL(EK_UNAVAILABLE, "out of memory for a set of cpus");
    struct prepare_machine machine = {v->topology, v->allowed,
                                      r->places && *r->places ? r->places : NULL, r->synthetic};
    TRY(prepare_plan(&r->cu, &machine, &v->plan));
    v->name = calloc((size_t)cu_layout_units(&v->plan.layout), sizeof *v->name);
    if (!v->name)
        FAIL(EK_UNAVAILABLE, "out of memory for the units' names");
    TRY(name_units(v));
    return prepare_check_room(&v->plan, r->cu.strict);
}

static void info_close(struct info *info)
{
    if (!info)
        return;
    place_free(&info->plan.places);
    hwloc_bitmap_free(info->allowed);
    topology_close(info->topology);
    free(info->name);
    free(info);
}

/* Decides on layout and places as cu_prepare() would, with the same errors, but binds nothing.
 * *request is borrowed. Caller owns *info. One thread. */
static enum ek_status info_open(const struct info_request *request, struct info **info)
{
    NEW(struct info, v, 1, "out of memory");
    v->request = request;
    enum ek_status st = fill(v);
    return HAND_OUT(st, v, info, info_close);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Prints the instruction levels built into the binary, and the one in force. */
static void print_isa(FILE *out)
{
    fprintf(out, "isa       ");
    for (int i = 0; isa_at(i); i++)
        if (isa_at(i)->built)
            fprintf(out, " %s%s", isa_at(i)->name,
                    isa_at(i)->runs ? "" : " (not on this processor)");
    fprintf(out, "; %s is in force\n", isa_name());
}

/* Bytes. NUMA nodes, whose sizes hwloc adds up, do not have what a virtual machine got later. */
static size_t memory_total(const struct info *v)
{
    return v->request->synthetic ? hwloc_get_root_obj(v->topology)->total_memory
                                 : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes, if control groups allow less than the machine has; 0: they do not. */
static size_t memory_limit(const struct info *v)
{
    const size_t limit = v->request->synthetic ? 0 : cgroup_memory();
    return limit < memory_total(v) ? limit : 0;
}

static void print_machine(const struct info *v, FILE *out)
{
    char cpus[256];
    fprintf(out, "machine    %s\n          ",
            v->request->synthetic ? v->request->synthetic : topology_model(v->topology));
    for (int i = 0; i < LEVELS; i++) {
        int n = count(v, levels[i].type);
        if (n)
            fprintf(out, " %d %s%s%s", n, levels[i].one, n == 1 ? "" : "s",
                    i < LEVELS - 1 ? "," : "");
    }
    fprintf(out, "; this process may use %s\n", topology_list(v->allowed, cpus, sizeof cpus));
    const double quota = v->request->synthetic ? 0 : cgroup_cpus();
    if (quota > 0)
        fprintf(out, "quota      %.3g cpus of processor time (control group)\n", quota);
    if (!v->request->synthetic)
        print_isa(out);
    const double memory = (double)memory_total(v);
    const double limit = (double)memory_limit(v);
    if (limit > 0)
        fprintf(out, "memory     %.1f GB, of which this process may use %.3g GB (control group)\n",
                1e-9 * memory, 1e-9 * limit);
    else if (!v->request->synthetic)
        fprintf(out, "memory     %.1f GB\n", 1e-9 * memory);
    for (int i = 0; i < CACHES; i++) {
        hwloc_obj_t c = hwloc_get_obj_by_type(v->topology, caches[i], 0);
        if (c)
            fprintf(out, "L%u cache   %d of %llu KiB, the first for cpus %s\n",
                    c->attr->cache.depth, count(v, caches[i]),
                    (unsigned long long)c->attr->cache.size / 1024,
                    topology_list(c->cpuset, cpus, sizeof cpus));
    }
}

static json_t *isa_json(void)
{
    json_t *list = json_array();
    for (int i = 0; isa_at(i); i++)
        if (isa_at(i)->built)
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:b}", "name", isa_at(i)->name, "takes",
                                            isa_at(i)->summary, "runs", isa_at(i)->runs));
    return list;
}

/* A unit's mark in the drawing: "3"; devices are "A" to "Z", then "d26". */
static void unit_mark(const struct info *v, int unit, char *text, size_t room)
{
    int device = unit - v->plan.layout.ncpu;
    if (device < 0)
        snprintf(text, room, "%d", unit);
    else if (device < 26)
        snprintf(text, room, "%c", 'A' + device);
    else
        snprintf(text, room, "d%d", device);
}

/* A cpu's label in the drawing: its unit's mark, followed by '*' if others share the cpu; '.' if
 * it is idle, '-' if this process may not use it. */
static void label(const struct info *v, unsigned cpu, char *text, size_t room)
{
    int first = -1, units = 0;
    for (int u = v->plan.places.n - 1; u >= 0; u--)
        if (hwloc_bitmap_isset(v->plan.places.cpus[u], cpu)) {
            first = u;
            units++;
        }
    if (units)
        unit_mark(v, first, text, room - 1);
    else
        snprintf(text, room, "%s", hwloc_bitmap_isset(v->allowed, cpu) ? "." : "-");
    if (units > 1)
        strcat(text, "*");
}

/* The labels of all cpus of a core, "3/3". */
static void core_label(const struct info *v, hwloc_const_bitmap_t cpus, char *text, size_t room)
{
    size_t at = 0;
    text[0] = 0;
    for (int c = hwloc_bitmap_first(cpus); c >= 0 && at + 16 < room;
         c = hwloc_bitmap_next(cpus, c)) {
        if (at)
            text[at++] = '/';
        label(v, (unsigned)c, text + at, room - at);
        at += strlen(text + at);
    }
}

static int cell_width(const struct info *v, hwloc_obj_type_t cell)
{
    char text[64];
    int width = 1;
    for (hwloc_obj_t c = NULL; (c = hwloc_get_next_obj_by_type(v->topology, cell, c));) {
        core_label(v, c->cpuset, text, sizeof text);
        width = (int)strlen(text) > width ? (int)strlen(text) : width;
    }
    return width;
}

/* "package 0, NUMA node 0, L3 0" */
static void print_domain(const struct info *v, hwloc_obj_t domain, FILE *out)
{
    static const hwloc_obj_type_t frames[] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE};
    const char *comma = "";
    fputs("  ", out);
    for (int f = 0; f < 2; f++)
        for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(v->topology, frames[f], o));)
            if (hwloc_bitmap_isincluded(domain->cpuset, o->cpuset)) {
                fprintf(out, "%s%s %u", comma, levels[f].one, o->logical_index);
                comma = ", ";
            }
    if (domain->type != HWLOC_OBJ_PACKAGE) {
        char type[32];
        hwloc_obj_type_snprintf(type, sizeof type, domain, 0);
        fprintf(out, "%s%s %u", comma, type, domain->logical_index);
    }
    fputc('\n', out);
}

static void print_cells(const struct info *v, hwloc_obj_t domain, hwloc_obj_type_t cell, int width,
                        FILE *out)
{
    int per_line = 72 / (width + 1), at = 0;
    per_line = per_line >= 16 ? 16 : per_line >= 8 ? 8 : 4;
    hwloc_obj_t c = NULL;
    while ((c = hwloc_get_next_obj_inside_cpuset_by_type(v->topology, domain->cpuset, cell, c))) {
        char text[64];
        core_label(v, c->cpuset, text, sizeof text);
        if (at % per_line == 0)
            fprintf(out, "%s    cpu %4d │", at ? "\n" : "", hwloc_bitmap_first(c->cpuset));
        fprintf(out, " %*s", width, text);
        at++;
    }
    fputc('\n', out);
}

static void print_drawing(const struct info *v, FILE *out)
{
    hwloc_obj_type_t cell = count(v, HWLOC_OBJ_CORE) ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    int depth = topology_last_cache(v->topology), width = cell_width(v, cell);
    /* Private caches would give each core its own line: then group by package instead. */
    if ((int)hwloc_get_nbobjs_by_depth(v->topology, depth) == count(v, cell))
        depth = hwloc_get_type_or_above_depth(v->topology, HWLOC_OBJ_PACKAGE);
    for (hwloc_obj_t d = NULL; (d = hwloc_get_next_obj_by_depth(v->topology, depth, d));) {
        print_domain(v, d, out);
        print_cells(v, d, cell, width, out);
    }
}

static void print_units(const struct info *v, FILE *out)
{
    for (int u = 0; u < v->plan.places.n; u++) {
        char cpus[128], home[64] = "machine", name[48], mark[16];
        hwloc_const_bitmap_t place = v->plan.places.cpus[u];
        hwloc_obj_t o = hwloc_get_obj_covering_cpuset(v->topology, place);
        if (o)
            hwloc_obj_type_snprintf(home, sizeof home, o, 0);
        unit_mark(v, u, mark, sizeof mark);
        snprintf(name, sizeof name, is_device(v, u) ? "%s (%s)" : "%s", v->name[u], mark);
        fprintf(out, "  %-14s in %s %u: cpu%s %s\n", name, home, o ? o->logical_index : 0,
                hwloc_bitmap_weight(place) == 1 ? "" : "s",
                topology_list(place, cpus, sizeof cpus));
    }
}

/* Prints the machine, its back ends (unless it is synthetic), and a drawing of the cores. */
static enum ek_status info_print(const struct info *info, FILE *out)
{
    OWNED_MEMORY char *places = place_format(&info->plan.places);
    if (!places)
        FAIL(EK_UNAVAILABLE, "out of memory for OMP_PLACES");
    print_machine(info, out);
    if (!info->request->synthetic) {
        fputs("\nback ends\n", out);
        backend_print(out);
    }
    fprintf(out, "\nlayout     %s\n", cu_layout_text(&info->plan.layout));
    print_drawing(info, out);
    fputs("  a cell is a core: number = CPU unit, letter = device, . = idle, * = shared\n", out);
    print_units(info, out);
    fprintf(out, "\nOMP_PLACES='%s' OMP_PROC_BIND=close,master\n", places);
    return EK_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *cpu_array(hwloc_const_bitmap_t cpus)
{
    json_t *list = json_array();
    for (int c = hwloc_bitmap_first(cpus); c >= 0; c = hwloc_bitmap_next(cpus, c))
        json_array_append_new(list, json_integer(c));
    return list;
}

static json_t *topology_json(const struct info *v)
{
    json_t *o = json_object(), *list = json_array();
    json_object_set_new(o, "model", json_string(topology_model(v->topology)));
    json_object_set_new(o, "synthetic",
                        v->request->synthetic ? json_string(v->request->synthetic) : json_null());
    for (int i = 0; i < LEVELS; i++)
        json_object_set_new(o, levels[i].key, json_integer(count(v, levels[i].type)));
    json_object_set_new(o, "memory", json_integer((json_int_t)memory_total(v)));
    const size_t limit = memory_limit(v);
    json_object_set_new(o, "memory_limit", limit ? json_integer((json_int_t)limit) : json_null());
    for (int i = 0; i < CACHES; i++) {
        hwloc_obj_t c = hwloc_get_obj_by_type(v->topology, caches[i], 0);
        if (c)
            json_array_append_new(
                list, json_pack("{s:i, s:i, s:I, s:i}", "level", (int)c->attr->cache.depth, "count",
                                count(v, caches[i]), "bytes", (json_int_t)c->attr->cache.size,
                                "cpus", hwloc_bitmap_weight(c->cpuset)));
    }
    json_object_set_new(o, "caches", list);
    return o;
}

static json_t *device_json(const struct backend_ops *ops, int index)
{
    struct backend_info d = {0};
    if (MUTED(ops->info(index, &d)))
        return json_pack("{s:i, s:s}", "index", index, "reason", status_message());
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:i, s:b, s:b}", "index", index,
                     "name", d.name, "vendor", d.vendor, "driver", d.driver, "arch", d.arch, "pci",
                     d.pci, "memory", (json_int_t)d.memory, "max_alloc", (json_int_t)d.max_alloc,
                     "compute_units", d.compute_units, "fp64", d.fp64, "is_cpu", d.is_cpu);
}

static json_t *libraries_json(const struct backend_ops *ops)
{
    struct backend_library l[BACKEND_LIBRARIES];
    json_t *list = json_array();
    int n = backend_libraries(ops, l);
    for (int i = 0; i < n; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:b, s:s, s:s?}", "what", l[i].what, "name",
                                        l[i].name, "loaded", l[i].loaded, "version", l[i].version,
                                        "reason", l[i].why[0] ? l[i].why : NULL));
    return list;
}

static json_t *backends_json(void)
{
    json_t *list = json_array();
    for (int b = 0; b < backend_count(); b++) {
        const struct backend_ops *ops = backend_at(b);
        int n = 0;
        const bool available = !MUTED(ops->count(&n)) && n > 0;
        json_t *devices = json_array();
        for (int i = 0; available && i < n; i++)
            json_array_append_new(devices, device_json(ops, i));
        json_array_append_new(list, json_pack("{s:s, s:b, s:s?, s:o, s:o}", "name", ops->name,
                                              "available", available, "reason",
                                              available ? NULL : status_message(), "libraries",
                                              libraries_json(ops), "devices", devices));
    }
    return list;
}

static json_t *units_json(const struct info *v)
{
    json_t *list = json_array();
    for (int u = 0; u < v->plan.places.n; u++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:i, s:o}", "name", v->name[u], "kind",
                            is_device(v, u) ? "device" : "cpu", "width",
                            is_device(v, u) ? v->plan.layout.feeders : v->plan.layout.width, "cpus",
                            cpu_array(v->plan.places.cpus[u])));
    return list;
}

/* The same as JSON. New reference, NULL: out of memory. */
static json_t *info_json(const struct info *info)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    json_t *places = json_array();
    for (int p = 0; p < info->plan.places.n; p++)
        json_array_append_new(places, cpu_array(info->plan.places.cpus[p]));
    OWNED_MEMORY char *text = place_format(&info->plan.places);
    json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:s?, s:o, s:s, s:o}", "host", host, "cpus",
                          cpu_array(info->allowed), "topology", topology_json(info), "places",
                          places, "omp_places", text, "backends",
                          info->request->synthetic ? json_array() : backends_json(), "layout",
                          cu_layout_text(&info->plan.layout), "units", units_json(info));
    json_object_set_new(o, "isa", json_string(isa_name()));
    json_object_set_new(o, "isa_levels", isa_json());
    return o;
}

/* ---- command line -----------------------------------------------------------------------------*/
struct settings {
    struct info_request request;
    const char *json, *isa, *explain;
    const char *help; /* NULL: not given */
    bool profiles, version;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {"layout", OPT_TEXT, AT(request.cu.layout), "NxM+G[xK]",
     "N CPU units of M cores and G devices (each fed by K threads), or auto", .env = "CU_LAYOUT"},
    {"devices", OPT_TEXT, AT(request.cu.devices), "LIST", "devices, e.g. opencl:0,cuda:1, or auto",
     .env = "CU_DEVICES"},
    {"isa", OPT_TEXT, AT(isa), "LEVEL", "highest instruction level that programs may use",
     .env = "CU_ISA"},
    {"strict", OPT_FLAG, AT(request.cu.strict), .help = "refuse more threads than there are cpus"},
    {"places", OPT_TEXT, AT(request.places), "LIST",
     "check and draw these places instead of deriving them", .env = "OMP_PLACES"},
    {"topology", OPT_TEXT, AT(request.synthetic), "MACHINE",
     .help = "show another machine, in hwloc's syntax, e.g. \"pack:2 core:64 pu:2\""},
    {.name = "json",
     .type = OPT_TEXT,
     .offset = AT(json),
     .arg = "FILE",
     .optional = true,
     .help = "also write JSON to FILE; without FILE or with -, print JSON instead of text"},
    {"explain", OPT_FILE, AT(explain), "FILE",
     .help = "explain why a run took as long as it did; FILE is its --json or --trace output"},
    {"profiles", OPT_FLAG, AT(profiles), .help = "list the stored profiles and layouts, and exit"},
    {"help", OPT_TEXT, AT(help), "all", "print this help and exit", .optional = true},
    {"version", OPT_FLAG, AT(version), .help = "print the version and exit"},
    OPT_END,
};

static void print_help(const struct opt_group *groups, int n)
{
    puts("cu-info – a node's cpus and devices, and how a layout uses them\n\n"
         "Usage: cu-info [options]\n\n"
         "Shows this node's cpus and devices, and which cpus each unit of a layout gets.");
    opt_help(stdout, groups, n, true);
}

static enum ek_status show(const struct settings *s, const struct info *info)
{
    bool to_stdout = s->json && (!*s->json || !strcmp(s->json, "-"));
    if (!to_stdout)
        TRY(info_print(info, stdout));
    if (!s->json)
        return EK_OK;
    json_auto_t *root = info_json(info);
    return json_write(to_stdout ? "-" : s->json, root);
}

static enum ek_status run(int argc, char **argv)
{
    struct settings s = {0};
    struct info *info = NULL;
    const struct opt_group groups[] = {{"options:", options, &s}};
    TRY(opt_parse(groups, 1, argc, argv, NULL, NULL));
    if (s.help)
        print_help(groups, 1);
    if (s.version)
        puts("cu-info (Evenkeel) " EK_VERSION);
    if (s.help || s.version)
        return EK_OK;
    if (s.profiles)
        return profile_list(stdout);
    if (s.explain)
        return explain_run(stdout, s.explain);
    TRY(isa_choose(s.isa));
    TRY(info_open(&s.request, &info));
    enum ek_status st = show(&s, info);
    info_close(info);
    return st;
}

int main(int argc, char **argv)
{
    status_begin("cu-info");
    return status_end(run(argc, argv));
}
