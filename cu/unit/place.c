/* cu/unit/place.c – lists of places: building them, checking against a layout, writing as text. */
#include "cu/unit/place.h"
#include "cu/unit/topology.h"

#include <omp.h>

enum ek_status place_append(struct place_list *list, hwloc_bitmap_t cpus)
{
    enum ek_status st =
        cpus ? arena_grow(&list->cpus, &list->room, (size_t)list->n, sizeof cpus, "places")
             : status_fail(EK_UNAVAILABLE, "out of memory for place %d", list->n);
    if (st)
        hwloc_bitmap_free(cpus);
    else
        list->cpus[list->n++] = cpus;
    return st;
}

void place_free(struct place_list *list)
{
    for (int i = 0; i < list->n; i++)
        hwloc_bitmap_free(list->cpus[i]);
    free(list->cpus);
    *list = (struct place_list){0};
}

void place_union(const struct place_list *list, hwloc_bitmap_t cpus)
{
    hwloc_bitmap_zero(cpus);
    for (int i = 0; i < list->n; i++)
        hwloc_bitmap_or(cpus, cpus, list->cpus[i]);
}

bool place_equal(const struct place_list *a, const struct place_list *b)
{
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++)
        if (!hwloc_bitmap_isequal(a->cpus[i], b->cpus[i]))
            return false;
    return true;
}

enum ek_status place_runtime(struct place_list *list)
{
    int n = omp_get_proc_bind() == omp_proc_bind_false ? 0 : omp_get_num_places();
    struct place_list found = {0};
    enum ek_status st = EK_OK;
    for (int p = 0; p < n && !st; p++) {
        hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
        st = topology_add_place(p, cpus);
        if (st)
            hwloc_bitmap_free(cpus);
        else
            st = place_append(&found, cpus);
    }
    if (st)
        place_free(&found);
    else
        *list = found;
    return st;
}

enum ek_status place_check(const struct place_list *list, const struct cu_layout *layout,
                           const char *text)
{
    const char *name = cu_layout_text(layout);
    if (list->n != cu_layout_units(layout))
        FAIL(EK_USAGE,
             "OMP_PLACES='%s' has %d place%s, but layout %s needs %d: %d of %d cpu%s, then %d for "
             "devices; make them agree or leave one of them out",
             text, list->n, list->n == 1 ? "" : "s", name, cu_layout_units(layout), layout->ncpu,
             layout->width, layout->width == 1 ? "" : "s", layout->ndev);
    for (int i = 0; i < layout->ncpu; i++) {
        char cpus[128];
        int found = hwloc_bitmap_weight(list->cpus[i]);
        if (found != layout->width)
            FAIL(EK_USAGE,
                 "OMP_PLACES='%s': place %d is cpus %s, %d wide, but a CPU unit of layout %s is %d "
                 "wide; make them agree or leave one of them out",
                 text, i, topology_list(list->cpus[i], cpus, sizeof cpus), found, name,
                 layout->width);
    }
    for (int i = layout->ncpu; i < list->n && layout->feeders > 1; i++) {
        char cpus[128];
        int found = hwloc_bitmap_weight(list->cpus[i]);
        if (found < layout->feeders)
            FAIL(EK_USAGE,
                 "OMP_PLACES='%s': place %d is cpus %s, %d wide, but %d threads feed a device of "
                 "layout %s; make them agree or leave one of them out",
                 text, i, topology_list(list->cpus[i], cpus, sizeof cpus), found, layout->feeders,
                 name);
    }
    return EK_OK;
}

enum ek_status place_infer(const struct place_list *list, int ndev, const char *text,
                           struct cu_layout *layout)
{
    int ncpu = list->n - ndev;
    if (ncpu < 0)
        FAIL(
            EK_USAGE,
            "OMP_PLACES='%s' has %d place%s, but %d devices are asked for, each of which needs one",
            text, list->n, list->n == 1 ? "" : "s", ndev);
    int width = ncpu ? hwloc_bitmap_weight(list->cpus[0]) : 0;
    for (int i = 1; i < ncpu; i++)
        if (hwloc_bitmap_weight(list->cpus[i]) != width)
            FAIL(EK_USAGE,
                 "OMP_PLACES='%s': place %d is %d cpus wide and place 0 is %d, but CPU units are "
                 "equal; name %s with --devices if the last places are theirs",
                 text, i, hwloc_bitmap_weight(list->cpus[i]), width,
                 ndev ? "more devices" : "the devices");
    *layout = (struct cu_layout){ncpu, width, ndev, ndev > 0};
    return EK_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Length of the arithmetic progression of neighbouring members that starts at `first`; *stride is
 * its step. */
static int progression(hwloc_const_bitmap_t set, int first, int *stride)
{
    int next = hwloc_bitmap_next(set, first), n = 1;
    *stride = next - first;
    if (next < 0)
        return 1;
    for (int at = first; hwloc_bitmap_isset(set, (unsigned)(at + *stride)) &&
                         hwloc_bitmap_next(set, at) == at + *stride;
         at += *stride)
        n++;
    return n;
}

static void format_place(FILE *out, hwloc_const_bitmap_t set)
{
    int cpu = hwloc_bitmap_first(set);
    fputc('{', out);
    for (const char *comma = ""; cpu >= 0; comma = ",") {
        int stride, n = progression(set, cpu, &stride);
        if (n == 2 &&
            stride != 1) /* "0,8" reads better than "0:2:8", and 8 may start another one */
            n = 1;
        fprintf(out, "%s%d", comma, cpu);
        if (n > 1)
            fprintf(out, ":%d", n);
        if (n > 1 && stride != 1)
            fprintf(out, ":%d", stride);
        cpu = hwloc_bitmap_next(set, cpu + (n - 1) * stride);
    }
    fputc('}', out);
}

static bool is_shifted(hwloc_const_bitmap_t from, hwloc_const_bitmap_t to, int by)
{
    int a = hwloc_bitmap_first(from), b = hwloc_bitmap_first(to);
    while (a >= 0 && b == a + by) {
        a = hwloc_bitmap_next(from, a);
        b = hwloc_bitmap_next(to, b);
    }
    return a < 0 && b < 0;
}

/* How many places from `i` on repeat place i, each `stride` cpus further than the one before. */
static int repetition(const struct place_list *list, int i, int *stride)
{
    int n = 1;
    if (i + 1 < list->n)
        *stride = hwloc_bitmap_first(list->cpus[i + 1]) - hwloc_bitmap_first(list->cpus[i]);
    while (i + n < list->n && is_shifted(list->cpus[i + n - 1], list->cpus[i + n], *stride))
        n++;
    return n;
}

char *place_format(const struct place_list *list)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (int i = 0, n; i < list->n; i += n) {
        int stride = 0;
        n = repetition(list, i, &stride);
        fputs(i ? "," : "", out);
        format_place(out, list->cpus[i]);
        if (n > 1)
            fprintf(out, ":%d:%d", n, stride);
    }
    if (fclose(out)) {
        free(text);
        text = NULL;
    }
    return text;
}
