/* mcsem/poly.c – finds which segments lie above each other between neighbouring nodes. */
#include "mcsem/poly.h"
#include "src/file.h"
#include "src/sort.h"
#include "src/table.h"

enum { MOST = 1000000 }; /* limit of nodes and of segments */
#define SURFACE 0.01     /* m */
#define ASIDE   1e-3     /* m, moves receivers off the vertical below a node */
#define CLOSE   5.0      /* m, tolerated distance of receivers from the floor */

struct point {
    double y, z;
};

struct segment {
    struct point from, to; /* from.y <= to.y */
    size_t node[2];
    bool in_sea; /* between two layers of the sea */
};

struct reader {
    const char *path;
    char *rest; /* unread part of the text */
    size_t line;
};

/* Parses the first n words of the next line; the rest is ignored. */
static enum ek_status next_numbers(struct reader *r, const char *what, int n, double *x)
{
    char *line = r->rest, *word;
    do {
        if (!r->rest)
            FAIL(EK_USAGE, "%s:%zu: cut short: %s is missing", r->path, r->line, what);
        line = r->rest;
        r->rest = strchr(line, '\n');
        if (r->rest)
            *r->rest++ = '\0';
        r->line++;
        line[strcspn(line, "#")] = '\0';
        line += strspn(line, " \t\r");
    } while (!*line);
    for (int k = 0; k < n; k++) {
        word = strtok_r(line, " \t\r", &line);
        if (!word || !table_parse(word, &x[k]) || !isfinite(x[k]))
            FAIL(EK_USAGE, "%s:%zu: '%s' is not a number of %s", r->path, r->line, word ? word : "",
                 what);
    }
    return EK_OK;
}

static enum ek_status next_count(struct reader *r, const char *what, size_t *n)
{
    double x;
    TRY(next_numbers(r, what, 1, &x));
    if (!(x >= 2) || x > MOST || x != floor(x))
        FAIL(EK_USAGE, "%s:%zu: %g %s: this file must contain 2 to %d", r->path, r->line, x, what,
             (int)MOST);
    *n = (size_t)x;
    return EK_OK;
}

static enum ek_status read_nodes(struct reader *r, struct arena *room, struct point **node,
                                 size_t *n, double *first)
{
    TRY(next_count(r, "nodes", n));
    *node = ARENA_NEW(room, *n, struct point);
    TRY(arena_check(room, "the nodes of %s", r->path));
    for (size_t i = 0; i < *n; i++) {
        double x[3];
        TRY(next_numbers(r, "a node", 3, x));
        if (!i)
            *first = x[0];
        if (x[0] != *first + (double)i)
            FAIL(EK_USAGE, "%s:%zu: node %g follows number %g", r->path, r->line, x[0],
                 *first + (double)i - 1);
        (*node)[i] = (struct point){x[1], x[2]};
    }
    return EK_OK;
}

static enum ek_status read_segments(struct reader *r, struct arena *room, const struct point *node,
                                    size_t nodes, double first, struct segment **segment, size_t *n)
{
    TRY(next_count(r, "segments", n));
    *segment = ARENA_NEW(room, *n, struct segment);
    TRY(arena_check(room, "the segments of %s", r->path));
    for (size_t i = 0; i < *n; i++) {
        double x[3];
        size_t end[2];
        TRY(next_numbers(r, "a segment", 3, x));
        for (int k = 0; k < 2; k++) {
            const double at = x[1 + k] - first;
            if (!(at >= 0 && at < (double)nodes) || at != floor(at))
                FAIL(EK_USAGE, "%s:%zu: there is no node %g", r->path, r->line, x[1 + k]);
            end[k] = (size_t)at;
        }
        const bool swap = node[end[0]].y > node[end[1]].y;
        (*segment)[i] =
            (struct segment){node[end[swap]], node[end[!swap]], {end[swap], end[!swap]}, false};
    }
    return EK_OK;
}

static double depth_of(const struct segment *s, double y)
{
    return s->from.z + (s->to.z - s->from.z) * (y - s->from.y) / (s->to.y - s->from.y);
}

/* The first segment below the sea surface at y; NULL: no sea there. */
static struct segment *floor_at(struct segment *segment, size_t n, double y)
{
    struct segment *best = NULL;
    bool sea = false;
    for (size_t i = 0; i < n; i++) {
        if (segment[i].in_sea || !(segment[i].from.y < y && y < segment[i].to.y))
            continue;
        const double z = depth_of(&segment[i], y);
        sea = sea || fabs(z) < SURFACE;
        if (z >= SURFACE && (!best || z < depth_of(best, y)))
            best = &segment[i];
    }
    return sea ? best : NULL;
}

/* At each node: the number of segments that end there, and the exclusive or of their indices. */
struct ends {
    size_t n, numbers;
};

/* Marks the interface of segment s, up to nodes where others meet it, as lying within the sea. */
static void mark_interface(struct segment *segment, struct segment *s, const struct ends *ends)
{
    s->in_sea = true;
    for (int k = 0; k < 2; k++) {
        size_t at = (size_t)(s - segment), node = s->node[k];
        while (ends[node].n == 2) {
            at ^= ends[node].numbers;
            if (segment[at].in_sea)
                break;
            segment[at].in_sea = true;
            node = segment[at].node[segment[at].node[0] == node];
        }
    }
}

/* An interface above receivers lies within the sea; then all receivers must lie on what remains. */
static enum ek_status leave_sea(const char *path, struct segment *segment, size_t n,
                                const struct ends *ends, double first, const double (*receiver)[2],
                                size_t receivers)
{
    struct segment *s, *above = NULL;
    for (size_t i = 0; i < receivers; i++)
        while ((s = floor_at(segment, n, receiver[i][0] + ASIDE)) &&
               receiver[i][1] > depth_of(s, receiver[i][0]) + CLOSE)
            mark_interface(segment, above = s, ends);
    for (size_t i = 0; above && i < receivers; i++) {
        const double y = receiver[i][0], z = receiver[i][1];
        s = floor_at(segment, n, y + ASIDE);
        if (!s || depth_of(s, y) - z > CLOSE)
            FAIL(EK_USAGE,
                 "%s: the segment from node %g to %g lies above receivers, but not all of them lie "
                 "on one below: at y = %g one is %g m deep; give "
                 "the floor as a table y depth instead",
                 path, first + (double)above->node[0], first + (double)above->node[1], y, z);
    }
    return EK_OK;
}

static enum ek_status find_sea(const char *path, struct arena *room, size_t nodes,
                               struct segment *segment, size_t n, double first,
                               const double (*receiver)[2], size_t receivers)
{
    struct ends *ends = ARENA_NEW(room, nodes, struct ends);
    TRY(arena_check(room, "the nodes of %s", path));
    for (size_t i = 0; i < 2 * n; i++) {
        struct ends *e = &ends[segment[i / 2].node[i % 2]];
        e->n++;
        e->numbers ^= i / 2;
    }
    return leave_sea(path, segment, n, ends, first, receiver, receivers);
}

/* Adds both ends of the floor between each node and the next one. */
static enum ek_status walk(const char *path, const struct point *node, size_t nodes,
                           struct segment *segment, size_t n, double (*profile)[2], size_t *points)
{
    OWNED(arena_free) struct arena room = {0};
    double *y = ARENA_NEW(&room, nodes, double);
    TRY(arena_check(&room, "the nodes of %s", path));
    for (size_t i = 0; i < nodes; i++)
        y[i] = node[i].y;
    sort_numbers(y, nodes);
    *points = 0;
    for (size_t i = 1; i < nodes; i++) {
        const struct segment *s =
            y[i] > y[i - 1] ? floor_at(segment, n, 0.5 * (y[i - 1] + y[i])) : NULL;
        for (int k = 0; s && k < 2; k++) {
            const double end = y[i - 1 + (size_t)k], z = depth_of(s, end);
            if (*points && profile[*points - 1][0] == end && profile[*points - 1][1] == z)
                continue;
            profile[*points][0] = end;
            profile[(*points)++][1] = z;
        }
    }
    if (!*points)
        FAIL(EK_USAGE, "%s: no segment lies in the sea surface, z = 0, over another one", path);
    return EK_OK;
}

bool poly_is(const char *path)
{
    return file_ends_in(path, ".poly");
}

enum ek_status poly_floor(const char *path, const double (*receiver)[2], size_t receivers,
                          double (**profile)[2], size_t *n)
{
    OWNED(arena_free) struct arena room = {0};
    struct reader r = {.path = path};
    struct point *node = NULL;
    struct segment *segment = NULL;
    size_t nodes, segments;
    double first = 0;
    OWNED_MEMORY char *text = NULL;
    TRY(file_read_text(path, &text));
    r.rest = text;
    TRY(read_nodes(&r, &room, &node, &nodes, &first));
    TRY(read_segments(&r, &room, node, nodes, first, &segment, &segments));
    if (receivers)
        TRY(find_sea(path, &room, nodes, segment, segments, first, receiver, receivers));
    double(*found)[2] = calloc(2 * nodes, sizeof *found);
    const enum ek_status st = found ? walk(path, node, nodes, segment, segments, found, n)
                                    : status_fail(EK_UNAVAILABLE, "%s: out of memory", path);
    return HAND_OUT(st, found, profile, free);
}
