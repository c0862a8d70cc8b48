/* cu/unit/place_parse.c – parses OMP_PLACES. */
#include "cu/unit/place.h"
#include "cu/unit/topology.h"

#include <ctype.h>

enum { MAX_CPU = 1 << 16 }; /* beyond any machine, below any overflow */

/* The text and the current position in it. */
struct scan {
    const char *text, *at;
};

static enum ek_status expected(const struct scan *s, const char *what)
{
    FAIL(EK_USAGE, "OMP_PLACES='%s': %s expected at column %d; for example \"{0:2}:7:2,{14}:2:1\"",
         s->text, what, (int)(s->at - s->text) + 1);
}

static void blanks(struct scan *s)
{
    while (isspace((unsigned char)*s->at))
        s->at++;
}

/* Skips `c` if it comes next. */
static bool take(struct scan *s, char c)
{
    blanks(s);
    if (*s->at != c)
        return false;
    s->at++;
    return true;
}

static enum ek_status number(struct scan *s, long min, long max, const char *what, long *value)
{
    blanks(s);
    char *end;
    long v = strtol(s->at, &end, 10);
    if (end == s->at || v < min || v > max)
        return expected(s, what);
    s->at = end;
    *value = v;
    return EK_OK;
}

/* ":n:stride", both optional. */
static enum ek_status interval(struct scan *s, long *n, long *stride)
{
    *n = *stride = 1;
    if (!take(s, ':'))
        return EK_OK;
    TRY(number(s, 1, PLACE_MOST, "a count of 1 or more", n));
    if (take(s, ':'))
        TRY(number(s, -MAX_CPU, MAX_CPU, "a stride", stride));
    return EK_OK;
}

/* One element of a place: "c:n:stride" into `with`, "!c" into `without`. */
static enum ek_status resource(struct scan *s, hwloc_bitmap_t with, hwloc_bitmap_t without)
{
    bool not = take(s, '!');
    long cpu = 0, n = 1, stride = 1;
    TRY(number(s, 0, MAX_CPU, "the number of a cpu", &cpu));
    if (!not )
        TRY(interval(s, &n, &stride));
    long last = cpu + (n - 1) * stride;
    if (last < 0 || last > MAX_CPU)
        FAIL(EK_USAGE, "OMP_PLACES='%s': the interval before column %d ends at cpu %ld", s->text,
             (int)(s->at - s->text) + 1, last);
    for (long i = 0; i < n; i++)
        hwloc_bitmap_set(not ? without : with, (unsigned)(cpu + i * stride));
    return EK_OK;
}

static enum ek_status resources(struct scan *s, hwloc_bitmap_t cpus)
{
    hwloc_bitmap_t without = hwloc_bitmap_alloc();
    if (!without)
        FAIL(EK_UNAVAILABLE, "out of memory for a place");
    enum ek_status st;
    do
        st = resource(s, cpus, without);
    while (!st && take(s, ','));
    bool known = hwloc_bitmap_isincluded(without, cpus);
    hwloc_bitmap_andnot(cpus, cpus, without); /* exclusions count wherever they stand */
    hwloc_bitmap_free(without);
    if (!st && !known)
        FAIL(EK_USAGE,
             "OMP_PLACES='%s': the place before column %d excludes a cpu that is not in it",
             s->text, (int)(s->at - s->text) + 1);
    return st;
}

/* "{cpus}", or one cpu without braces. */
static enum ek_status place(struct scan *s, hwloc_bitmap_t cpus)
{
    long cpu = 0;
    if (take(s, '{')) {
        TRY(resources(s, cpus));
        if (!take(s, '}'))
            return expected(s, "'}' or ','");
    } else {
        TRY(number(s, 0, MAX_CPU, "'{' or a number", &cpu));
        hwloc_bitmap_set(cpus, (unsigned)cpu);
    }
    if (hwloc_bitmap_iszero(cpus))
        FAIL(EK_USAGE, "OMP_PLACES='%s': the place before column %d has no cpu", s->text,
             (int)(s->at - s->text) + 1);
    return EK_OK;
}

/* Appends `cpus` shifted by `by`. */
static enum ek_status append_shifted(const struct scan *s, hwloc_const_bitmap_t cpus, long by,
                                     struct place_list *list)
{
    if (hwloc_bitmap_first(cpus) + by < 0 || hwloc_bitmap_last(cpus) + by > MAX_CPU ||
        list->n == PLACE_MOST)
        FAIL(EK_USAGE, "OMP_PLACES='%s': the places before column %d run out of cpu numbers",
             s->text, (int)(s->at - s->text) + 1);
    hwloc_bitmap_t moved = hwloc_bitmap_alloc();
    if (moved)
        for (int c = hwloc_bitmap_first(cpus); c >= 0; c = hwloc_bitmap_next(cpus, c))
            hwloc_bitmap_set(moved, (unsigned)(c + by));
    return place_append(list, moved);
}

/* Removes the first place that equals `cpus`. */
static enum ek_status exclude(const struct scan *s, hwloc_const_bitmap_t cpus,
                              struct place_list *list)
{
    int i = 0;
    while (i < list->n && !hwloc_bitmap_isequal(list->cpus[i], cpus))
        i++;
    if (i == list->n)
        FAIL(EK_USAGE, "OMP_PLACES='%s': no place to exclude equals the one before column %d",
             s->text, (int)(s->at - s->text) + 1);
    struct place_list rest = {0};
    enum ek_status st = EK_OK;
    for (int k = 0; k < list->n && !st; k++)
        if (k != i)
            st = place_append(&rest, hwloc_bitmap_dup(list->cpus[k]));
    place_free(list);
    *list = rest;
    return st;
}

/* One element of the list: an interval of places, or an exclusion. */
static enum ek_status element(struct scan *s, hwloc_bitmap_t cpus, struct place_list *list)
{
    long n = 1, stride = 1;
    if (take(s, '!')) {
        TRY(place(s, cpus));
        return exclude(s, cpus, list);
    }
    TRY(place(s, cpus));
    TRY(interval(s, &n, &stride));
    for (long i = 0; i < n; i++)
        TRY(append_shifted(s, cpus, i * stride, list));
    return EK_OK;
}

static enum ek_status explicit_list(struct scan *s, struct place_list *list)
{
    do {
        hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
        enum ek_status st = cpus ? element(s, cpus, list) : EK_UNAVAILABLE;
        hwloc_bitmap_free(cpus);
        if (st)
            return st;
    } while (take(s, ','));
    blanks(s);
    if (*s->at)
        return expected(s, "',' or the end");
    if (!list->n)
        FAIL(EK_USAGE, "OMP_PLACES='%s' excludes every place", s->text);
    return EK_OK;
}

/* ---- abstract names -------------------------------------------------------------------------- */

static const struct name {
    const char *word;
    hwloc_obj_type_t type;
} names[] = {
    {"threads", HWLOC_OBJ_PU},         {"cores", HWLOC_OBJ_CORE},
    {"sockets", HWLOC_OBJ_PACKAGE},    {"numa_domains", HWLOC_OBJ_NUMANODE},
    {"ll_caches", HWLOC_OBJ_TYPE_MAX}, /* whichever cache level is the last */
};

static enum ek_status append_kind(const struct name *name, long count, hwloc_topology_t topology,
                                  hwloc_const_bitmap_t allowed, struct place_list *list)
{
    int depth = name->type == HWLOC_OBJ_TYPE_MAX
                    ? topology_last_cache(topology)
                    : hwloc_get_type_or_above_depth(topology, name->type);
    hwloc_obj_t object = NULL;
    while (list->n < count && (object = hwloc_get_next_obj_by_depth(topology, depth, object))) {
        hwloc_bitmap_t cpus = hwloc_bitmap_dup(object->cpuset);
        if (cpus && allowed)
            hwloc_bitmap_and(cpus, cpus, allowed);
        if (cpus && hwloc_bitmap_iszero(cpus))
            hwloc_bitmap_free(cpus);
        else
            TRY(place_append(list, cpus));
    }
    return EK_OK;
}

static enum ek_status named_list(struct scan *s, hwloc_topology_t topology,
                                 hwloc_const_bitmap_t allowed, struct place_list *list)
{
    size_t letters = strspn(s->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    const struct name *name = names, *end = names + sizeof names / sizeof *names;
    while (name < end && (strlen(name->word) != letters || strncasecmp(name->word, s->at, letters)))
        name++;
    if (name == end)
        return expected(s, "'{' or one of threads, cores, sockets, ll_caches, numa_domains");
    s->at += letters;
    long count = PLACE_MOST;
    if (take(s, '(')) {
        TRY(number(s, 1, PLACE_MOST, "a count of 1 or more", &count));
        if (!take(s, ')'))
            return expected(s, "')'");
    }
    blanks(s);
    if (*s->at)
        return expected(s, "'(' or the end");
    /* Cpus may be allowed whose node's memory is not: hwloc leaves such nodes out. */
    OWNED(owned_topology_close) hwloc_topology_t whole = NULL;
    if (name->type == HWLOC_OBJ_NUMANODE && hwloc_topology_is_thissystem(topology))
        TRY(topology_open_disallowed(&whole));
    return append_kind(name, count, whole ? whole : topology, allowed, list);
}

enum ek_status place_parse(const char *text, hwloc_topology_t topology,
                           hwloc_const_bitmap_t allowed, struct place_list *list)
{
    struct scan s = {text, text};
    struct place_list found = {0};
    hwloc_topology_t own = NULL;
    enum ek_status st = EK_OK;
    blanks(&s);
    if (!isalpha((unsigned char)*s.at)) {
        st = explicit_list(&s, &found);
    } else {
        if (!topology)
            st = topology_open(NULL, &own);
        THEN(st, named_list(&s, topology ? topology : own, allowed, &found));
    }
    topology_close(own);
    if (st)
        place_free(&found);
    else
        *list = found;
    return st;
}
