/* kirchhoff/ttable.c – travel-time tables in memory and in files. */
#include "kirchhoff/ttable.h"
#include "src/checksum.h"
#include "src/file.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "EKTIMES";
enum { VERSION = 3, BYTE_ORDER_MARK = 0x01020304, HEADER = 1024 };

struct ttable_header {
    char magic[8];
    uint32_t version, byte_order;
    int64_t n[3];
    double origin[3], step[3], source[3];
    int64_t unfilled, judged, failing;
    char velocity[VELOCITY_TEXT];
    double time_step, slowness_step, spread_least, spread_step;
    uint64_t sum; /* checksum of the arrays and of all above */
};

enum { FLOATS = 5, NODE_BYTES = 5 * sizeof(int16_t) + 1, CODE = 32767, SPREADS = 65534 };

size_t ttable_bytes(const struct grid *g)
{
    return HEADER + grid_columns(g) * sizeof(float) + grid_nodes(g) * NODE_BYTES;
}

enum ek_status ttable_make(const struct grid *grid, const double source[3], const char *velocity,
                           struct ttable **t)
{
    const size_t n = grid_nodes(grid);
    struct ttable *made = calloc(1, sizeof *made);
    float *at = malloc(n * (FLOATS * sizeof *at + 1));
    if (!made || !at) {
        free(made);
        free(at);
        FAIL(EK_UNAVAILABLE, "out of memory for a table of %zu nodes", n);
    }
    *made = (struct ttable){.grid = *grid,
                            .unfilled = n,
                            .time = at,
                            .p = {at + n, at + 2 * n, at + 3 * n},
                            .spread = at + 4 * n,
                            .kmah = (uint8_t *)(at + 5 * n)};
    memcpy(made->source, source, sizeof made->source);
    snprintf(made->velocity, sizeof made->velocity, "%s", velocity);
    for (size_t i = 0; i < FLOATS * n; i++)
        at[i] = NAN;
    memset(made->kmah, TTABLE_UNFILLED, n);
    *t = made;
    return EK_OK;
}

void ttable_close(struct ttable *t)
{
    if (!t)
        return;
    free(t->packed);
    free(t->time); /* the block of all arrays */
    free(t);
}

void ttable_change(struct ttable *t)
{
    free(t->packed);
    t->packed = NULL;
}

void ttable_copy(struct ttable *t, const struct ttable *from, size_t node)
{
    const size_t n = grid_nodes(&t->grid);
    ttable_change(t);
    for (size_t i = 0; i < FLOATS; i++)
        t->time[i * n + node] = from->time[i * n + node];
    t->kmah[node] = from->kmah[node];
}

void ttable_clear(struct ttable *t, size_t node)
{
    const size_t n = grid_nodes(&t->grid);
    ttable_change(t);
    for (size_t i = 0; i < FLOATS; i++)
        t->time[i * n + node] = NAN;
    t->kmah[node] = TTABLE_UNFILLED;
}

void ttable_count(struct ttable *t)
{
    t->unfilled = t->eikonal = 0;
    for (size_t i = 0; i < grid_nodes(&t->grid); i++) {
        t->unfilled += t->kmah[i] == TTABLE_UNFILLED;
        t->eikonal += t->kmah[i] == TTABLE_EIKONAL;
    }
}

/* ---- encoding ---------------------------------------------------------------------------------*/

/* The arrays that follow a file's header. */
struct codes {
    float *first; /* [columns] time of the first filled node, s */
    int16_t *time, *p[3];
    uint16_t *spread;
    uint8_t *kmah;
};

static struct codes codes_at(const struct grid *g, void *memory)
{
    const size_t n = grid_nodes(g);
    float *first = (float *)((char *)memory + HEADER);
    int16_t *at = (int16_t *)(first + grid_columns(g));
    return (struct codes){first,
                          at,
                          {at + n, at + 2 * n, at + 3 * n},
                          (uint16_t *)at + 4 * n,
                          (uint8_t *)(at + 5 * n)};
}

/* Finds the quantization steps of p and log L. */
static void find_steps(const struct ttable *t, struct ttable_header *h)
{
    float p = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < grid_nodes(&t->grid); i++) {
        if (t->kmah[i] == TTABLE_UNFILLED)
            continue;
        for (int a = 0; a < 3; a++)
            p = fabsf(t->p[a][i]) > p ? fabsf(t->p[a][i]) : p;
        const float spread = t->spread[i];
        if (spread > 0 && spread <= FLT_MAX) {
            least = spread < least ? spread : least;
            most = spread > most ? spread : most;
        }
    }
    h->slowness_step = p > 0 ? (double)p / CODE : 1;
    h->spread_least = most > 0 ? (double)least : 1;
    h->spread_step = most > least ? log((double)most / h->spread_least) / (SPREADS - 1) : 1;
}

/* Rounds to the nearest code, within range. */
static int16_t code_of(double steps)
{
    const long code = lrint(steps);
    return (int16_t)(code > CODE ? CODE : code < -CODE ? -CODE : code);
}

/* Single precision is accurate to thousandths of a step. */
static uint16_t spread_code(float spread, float least, float steps)
{
    return !(spread > 0) || !isfinite(spread) ? 0 : (uint16_t)(1.5F + logf(spread / least) * steps);
}

/* Time expected at `node` from that of the filled node `way` m above and the stored pz of both. */
static double expected(const struct ttable_header *h, const struct codes *c, double time,
                       size_t above, size_t node, double way)
{
    const int both = c->p[2][above] + c->p[2][node];
    return time + 0.5 * way * h->slowness_step * both;
}

/* Encodes a column's times if h->time_step is known (> 0). Returns the largest difference between
 * a time and the expected one, s. */
static double code_times(const struct ttable *t, const struct ttable_header *h,
                         const struct codes *c, size_t column)
{
    const size_t nz = (size_t)t->grid.n[2], begin = column * nz;
    const double steps = h->time_step > 0 ? 1 / h->time_step : 0;
    size_t above = begin + nz;
    double time = 0, most = 0;
    c->first[column] = 0;
    for (size_t i = begin; i < begin + nz; i++) {
        double off = 0;
        c->time[i] = 0;
        if (t->kmah[i] == TTABLE_UNFILLED)
            continue;
        if (above == begin + nz) {
            time = (double)(c->first[column] = t->time[i]);
        } else {
            time = expected(h, c, time, above, i, (double)(i - above) * t->grid.step[2]);
            off = (double)t->time[i] - time;
            c->time[i] = code_of(off * steps);
            time = steps > 0 ? time + c->time[i] * h->time_step : (double)t->time[i];
        }
        most = fabs(off) > most ? fabs(off) : most;
        above = i;
    }
    return most;
}

static void code(const struct ttable *t, struct ttable_header *h, const struct codes *c)
{
    double most = 0;
    find_steps(t, h);
    const double p_steps = 1 / h->slowness_step;
    const float l_least = (float)h->spread_least, l_steps = (float)(1 / h->spread_step);
    for (size_t i = 0; i < grid_nodes(&t->grid); i++) {
        const bool filled = t->kmah[i] != TTABLE_UNFILLED;
        for (int a = 0; a < 3; a++)
            c->p[a][i] = filled ? code_of((double)t->p[a][i] * p_steps) : 0;
        c->spread[i] = filled ? spread_code(t->spread[i], l_least, l_steps) : 0;
    }
    memcpy(c->kmah, t->kmah, grid_nodes(&t->grid));
    for (size_t column = 0; column < grid_columns(&t->grid); column++)
        most = fmax(most, code_times(t, h, c, column));
    h->time_step = most > 0 ? most / CODE : 1;
    for (size_t column = 0; column < grid_columns(&t->grid); column++)
        code_times(t, h, c, column);
}

/* L of a code is coarse[code / FINE] * fine[code % FINE]: calling exp() for every node would double
 * the time of decoding. */
enum { FINE = 256 };
struct spreads {
    double coarse[FINE], fine[FINE];
};

static void list_spreads(const struct ttable_header *h, struct spreads *l)
{
    for (int i = 0; i < FINE; i++) {
        l->coarse[i] = h->spread_least * exp(h->spread_step * FINE * i);
        l->fine[i] = exp(h->spread_step * (i - 1));
    }
}

static void decode(const struct ttable_header *h, const struct codes *c, struct ttable *t)
{
    const size_t nz = (size_t)t->grid.n[2];
    struct spreads l;
    list_spreads(h, &l);
    size_t above = 0;
    double time = 0;
    for (size_t i = 0; i < grid_nodes(&t->grid); i++) {
        const size_t begin = i / nz * nz;
        above = i == begin ? i + nz : above;
        t->kmah[i] = c->kmah[i];
        if (t->kmah[i] == TTABLE_UNFILLED)
            continue;
        time = above == begin + nz
                   ? (double)c->first[i / nz]
                   : expected(h, c, time, above, i, (double)(i - above) * t->grid.step[2]) +
                         c->time[i] * h->time_step;
        above = i;
        t->time[i] = (float)time;
        for (int a = 0; a < 3; a++)
            t->p[a][i] = (float)(c->p[a][i] * h->slowness_step);
        const unsigned spread = c->spread[i];
        t->spread[i] = spread ? (float)(l.coarse[spread / FINE] * l.fine[spread % FINE]) : 0;
    }
}

/* ---- files ------------------------------------------------------------------------------------*/

static uint64_t sum_of(const struct ttable_header *h, const void *arrays, size_t bytes)
{
    struct checksum c;
    checksum_begin(&c, "evenkeel travel times 3");
    checksum_add(&c, h, offsetof(struct ttable_header, sum));
    checksum_add(&c, arrays, bytes);
    return checksum_end(&c);
}

static void describe(const struct ttable *t, struct ttable_header *h)
{
    memcpy(h->magic, magic, sizeof magic);
    h->version = VERSION;
    h->byte_order = BYTE_ORDER_MARK;
    for (int a = 0; a < 3; a++) {
        h->n[a] = t->grid.n[a];
        h->origin[a] = t->grid.origin[a];
        h->step[a] = t->grid.step[a];
        h->source[a] = t->source[a];
    }
    h->unfilled = (int64_t)t->unfilled;
    h->judged = (int64_t)t->judged;
    h->failing = (int64_t)t->failing;
    memcpy(h->velocity, t->velocity, sizeof h->velocity);
}

/* Encodes the table as a file; of the header only the steps are set. The caller frees. */
static enum ek_status pack(const struct ttable *t, void **memory)
{
    const size_t bytes = ttable_bytes(&t->grid);
    struct ttable_header *h = malloc(bytes);
    if (!h)
        FAIL(EK_UNAVAILABLE, "out of memory for a table's file of %zu bytes", bytes);
    const struct codes c = codes_at(&t->grid, h);
    memset(h, 0, HEADER);
    code(t, h, &c);
    *memory = h;
    return EK_OK;
}

enum ek_status ttable_round(struct ttable *t)
{
    if (t->packed)
        return EK_OK;
    TRY(pack(t, &t->packed));
    const struct codes c = codes_at(&t->grid, t->packed);
    decode(t->packed, &c, t);
    return EK_OK;
}

/* Rounded tables are not encoded again, as the steps, and so the bits, might differ. */
enum ek_status ttable_write(const struct ttable *t, const char *path)
{
    const size_t bytes = ttable_bytes(&t->grid);
    void *memory = t->packed;
    if (!memory)
        TRY(pack(t, &memory));
    struct ttable_header *h = memory;
    describe(t, h);
    h->sum = sum_of(h, (char *)memory + HEADER, bytes - HEADER);
    const enum ek_status st = file_replace(path, memory, bytes);
    if (memory != t->packed)
        free(memory);
    return st;
}

static enum ek_status check_header(const char *path, const struct ttable_header *h, size_t size)
{
    if (memcmp(h->magic, magic, sizeof magic) != 0)
        FAIL(EK_USAGE, "%s: is no table of travel times", path);
    if (h->byte_order != BYTE_ORDER_MARK)
        FAIL(EK_USAGE, "%s: was written on a machine of the other byte order; make it here", path);
    if (h->version != VERSION)
        FAIL(EK_USAGE, "%s: is of version %u, this program reads %d; make it again", path,
             h->version, VERSION);
    double nodes = 1;
    for (int a = 0; a < 3; a++) {
        if (h->n[a] < 1 || !(h->step[a] > 0))
            FAIL(EK_USAGE, "%s: its header makes no sense; make it again", path);
        nodes *= (double)h->n[a];
    }
    const double bytes =
        HEADER + (double)h->n[0] * (double)h->n[1] * sizeof(float) + nodes * NODE_BYTES;
    if (bytes != (double)size)
        FAIL(EK_USAGE, "%s: has %zu bytes, but its header says %.0f; make it again", path, size,
             bytes);
    return EK_OK;
}

void ttable_unmap(struct ttable_file *f)
{
    if (!f)
        return;
    if (f->memory)
        munmap(f->memory, f->bytes);
    free(f->name);
    free(f);
}

static enum ek_status map_file(const char *path, struct ttable_file *f)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about)) {
        const int reason = errno;
        if (file >= 0)
            close(file);
        return file_not_opened(path, reason);
    }
    void *memory = about.st_size < HEADER
                       ? MAP_FAILED
                       : mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    const int why = errno;
    close(file);
    if (about.st_size < HEADER)
        FAIL(EK_USAGE, "%s: is no table of travel times: %lld bytes", path,
             (long long)about.st_size);
    if (memory == MAP_FAILED)
        FAIL(EK_UNAVAILABLE, "%s: cannot be mapped: %s", path, strerror(why));
    f->memory = memory;
    f->bytes = (size_t)about.st_size;
    return EK_OK;
}

enum ek_status ttable_map(const char *path, struct ttable_file **f)
{
    NEW(struct ttable_file, made, 1, "%s: out of memory", path);
    made->name = strdup(path);
    const enum ek_status st =
        made->name ? map_file(path, made) : status_fail(EK_UNAVAILABLE, "%s: out of memory", path);
    return HAND_OUT(st, made, f, ttable_unmap);
}

/* Whether the bytes between header and arrays are all zero. */
static bool is_blank(const struct ttable_header *h)
{
    const char *at = (const char *)(h + 1);
    return !*at && !memcmp(at, at + 1, HEADER - sizeof *h - 1);
}

enum ek_status ttable_unpack(const struct ttable_file *f, struct ttable **t)
{
    const struct ttable_header *h = f->memory;
    struct grid g;
    struct ttable *made;
    TRY(check_header(f->name, h, f->bytes));
    if (!is_blank(h) || sum_of(h, (const char *)f->memory + HEADER, f->bytes - HEADER) != h->sum)
        FAIL(EK_USAGE, "%s: was changed after it was written: its sum is wrong; make it again",
             f->name);
    for (int a = 0; a < 3; a++) {
        g.n[a] = (int)h->n[a];
        g.origin[a] = h->origin[a];
        g.step[a] = h->step[a];
    }
    TRY(ttable_make(&g, h->source, h->velocity, &made));
    const struct codes c = codes_at(&g, f->memory);
    decode(h, &c, made);
    made->judged = (size_t)h->judged;
    made->failing = (size_t)h->failing;
    ttable_count(made);
    *t = made;
    return EK_OK;
}

enum ek_status ttable_open(const char *path, struct ttable **t)
{
    struct ttable_file *f;
    TRY(ttable_map(path, &f));
    const enum ek_status st = ttable_unpack(f, t);
    ttable_unmap(f);
    return st;
}
