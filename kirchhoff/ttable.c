/* kirchhoff/ttable.c – tables in memory and in files. */
#include "kirchhoff/ttable.h"
#include "src/arena.h"
#include "src/checksum.h"
#include "src/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "EKTIMES";
enum { VERSION = 2, BYTE_ORDER_MARK = 0x01020304, HEADER = 1024 };

struct ttable_header {
    char magic[8];
    uint32_t version, byte_order;
    int64_t n[3];
    double origin[3], step[3], source[3];
    int64_t unfilled, judged, failing;
    char velocity[VELOCITY_TEXT];
    uint64_t sum; /* of the arrays and of what stands before */
};

enum { FLOATS = 5, NODE_BYTES = FLOATS * sizeof(float) + 1 };

size_t ttable_bytes(const struct grid *g)
{
    return HEADER + grid_nodes(g) * NODE_BYTES;
}

/* The arrays' places behind the header at t->memory. */
static void lay_out(struct ttable *t)
{
    const size_t n = grid_nodes(&t->grid);
    float *at = (float *)((char *)t->memory + HEADER);
    t->time = at;
    for (int a = 0; a < 3; a++)
        t->p[a] = at + (size_t)(a + 1) * n;
    t->spread = at + 4 * n;
    t->kmah = (uint8_t *)(at + 5 * n);
}

enum ek_status ttable_make(const struct grid *grid, const double source[3], const char *velocity,
                           struct ttable **t)
{
    const size_t bytes = ttable_bytes(grid), n = grid_nodes(grid);
    struct ttable *made = calloc(1, sizeof *made);
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!made || !memory) {
        free(made);
        free(memory);
        FAIL(EK_UNAVAILABLE, "out of memory for a table of %zu nodes, %zu bytes", n, bytes);
    }
    *made = (struct ttable){.grid = *grid, .unfilled = n, .memory = memory, .bytes = bytes};
    memcpy(made->source, source, sizeof made->source);
    snprintf(made->velocity, sizeof made->velocity, "%s", velocity);
    memset(memory, 0, HEADER);
    lay_out(made);
    for (size_t i = 0; i < 5 * n; i++)
        made->time[i] = NAN;
    memset(made->kmah, TTABLE_UNFILLED, n);
    *t = made;
    return EK_OK;
}

void ttable_close(struct ttable *t)
{
    if (!t)
        return;
    if (t->mapped)
        munmap(t->memory, t->bytes);
    else
        free(t->memory);
    free(t);
}

void ttable_copy(struct ttable *t, const struct ttable *from, size_t node)
{
    const size_t n = grid_nodes(&t->grid);
    for (size_t i = 0; i < FLOATS; i++)
        t->time[i * n + node] = from->time[i * n + node];
    t->kmah[node] = from->kmah[node];
}

void ttable_clear(struct ttable *t, size_t node)
{
    const size_t n = grid_nodes(&t->grid);
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

/* ---- files ------------------------------------------------------------------------------------*/

static uint64_t sum_of(const struct ttable_header *h, const void *arrays, size_t bytes)
{
    struct checksum c;
    checksum_begin(&c, "evenkeel travel times 2");
    checksum_add(&c, h, offsetof(struct ttable_header, sum));
    checksum_add(&c, arrays, bytes);
    return checksum_end(&c);
}

static void make_header(const struct ttable *t, struct ttable_header *h)
{
    memset(h, 0, sizeof *h);
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
    h->sum = sum_of(h, t->time, t->bytes - HEADER);
}

enum ek_status ttable_write(const struct ttable *t, const char *path)
{
    char head[HEADER] = {0};
    struct ttable_header h;
    struct file *f;
    make_header(t, &h);
    memcpy(head, &h, sizeof h);
    TRY(file_create(path, &f));
    enum ek_status st = file_write(f, head, HEADER);
    if (!st)
        st = file_write(f, t->time, t->bytes - HEADER);
    if (!st)
        return file_finish(f);
    file_abandon(f);
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
    if (HEADER + nodes * NODE_BYTES != (double)size)
        FAIL(EK_USAGE, "%s: has %zu bytes, but its header says %.0f; make it again", path, size,
             HEADER + nodes * NODE_BYTES);
    return EK_OK;
}

static enum ek_status take_header(const char *path, struct ttable *t)
{
    const struct ttable_header *h = t->memory;
    TRY(check_header(path, h, t->bytes));
    for (int a = 0; a < 3; a++) {
        t->grid.n[a] = (int)h->n[a];
        t->grid.origin[a] = h->origin[a];
        t->grid.step[a] = h->step[a];
        t->source[a] = h->source[a];
    }
    memcpy(t->velocity, h->velocity, sizeof t->velocity);
    t->velocity[sizeof t->velocity - 1] = '\0';
    t->unfilled = (size_t)h->unfilled;
    t->judged = (size_t)h->judged;
    t->failing = (size_t)h->failing;
    lay_out(t);
    if (sum_of(h, t->time, t->bytes - HEADER) != h->sum)
        FAIL(EK_USAGE, "%s: was changed after it was written: its sum is wrong; make it again",
             path);
    return EK_OK;
}

static enum ek_status map_file(const char *path, struct ttable *t)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about)) {
        const int reason = errno;
        if (file >= 0)
            close(file);
        FAIL(EK_USAGE, "%s: cannot be opened: %s", path, strerror(reason));
    }
    void *memory = about.st_size < HEADER ? MAP_FAILED
                                          : mmap(NULL, (size_t)about.st_size,
                                                 PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    const int why = errno;
    close(file);
    if (about.st_size < HEADER)
        FAIL(EK_USAGE, "%s: is no table of travel times: %lld bytes", path,
             (long long)about.st_size);
    if (memory == MAP_FAILED)
        FAIL(EK_UNAVAILABLE, "%s: cannot be mapped: %s", path, strerror(why));
    t->memory = memory;
    t->bytes = (size_t)about.st_size;
    t->mapped = true;
    return EK_OK;
}

enum ek_status ttable_open(const char *path, struct ttable **t)
{
    NEW(struct ttable, made, 1, "%s: out of memory", path);
    enum ek_status st = map_file(path, made);
    if (!st)
        st = take_header(path, made);
    if (st)
        ttable_close(made);
    else
        *t = made;
    return st;
}
