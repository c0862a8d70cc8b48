/* src/arena.c – small allocations share blocks, large ones have their own. */
#include "src/arena.h"
#include "src/base.h"

#include <stdarg.h>

enum { ALIGNMENT = 64, BLOCK = 1 << 14 };

struct arena_block {
    struct arena_block *before;
    size_t used, size; /* of what follows the header, from its first aligned byte */
    unsigned char *at;
};

/* calloc(), not memset(): large arrays use no pages until they are touched. */
static struct arena_block *new_block(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct arena_block) - ALIGNMENT)
        return NULL;
    struct arena_block *b = calloc(1, sizeof *b + ALIGNMENT + size);
    if (!b)
        return NULL;
    const uintptr_t first = (uintptr_t)(b + 1);
    b->at = (unsigned char *)(b + 1) + (ALIGNMENT - first % ALIGNMENT) % ALIGNMENT;
    b->size = size;
    return b;
}

static void *take_from(struct arena_block *b, size_t bytes)
{
    void *found = b->at + b->used;
    b->used += bytes;
    return found;
}

void *arena_take(struct arena *a, size_t n, size_t size)
{
    if (size && n > (SIZE_MAX - ALIGNMENT) / size) {
        a->failed = true;
        return NULL;
    }
    const size_t bytes = (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    a->bytes += bytes;
    if (a->block && a->block->size - a->block->used >= bytes)
        return take_from(a->block, bytes);
    struct arena_block *b = new_block(bytes < BLOCK / 4 ? BLOCK : bytes);
    if (!b) {
        a->failed = true;
        return NULL;
    }
    if (b->size == BLOCK || !a->block) {
        b->before = a->block;
        a->block = b;
    } else { /* full from the start: the block with room stays in front */
        b->before = a->block->before;
        a->block->before = b;
    }
    return take_from(b, bytes);
}

void *arena_copy(struct arena *a, const void *from, size_t n, size_t size)
{
    void *copy = from ? arena_take(a, n, size) : NULL;
    return copy ? memcpy(copy, from, n * size) : NULL;
}

char *arena_text(struct arena *a, const char *text)
{
    return arena_copy(a, text ? text : "", text ? strlen(text) + 1 : 1, 1);
}

enum ek_status arena_check(const struct arena *a, const char *what, ...)
{
    char text[256];
    if (!a->failed)
        return EK_OK;
    va_list ap;
    va_start(ap, what);
    vsnprintf(text, sizeof text, what, ap);
    va_end(ap);
    FAIL(EK_UNAVAILABLE, "out of memory for %s", text);
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->block, *before; b; b = before) {
        before = b->before;
        free(b);
    }
    *a = (struct arena){0};
}

enum ek_status arena_grow(void *array, size_t *room, size_t n, size_t size, const char *what)
{
    void *old, *more;
    if (n < *room)
        return EK_OK;
    const size_t wanted = *room ? 2 * *room : 16;
    memcpy(&old, array, sizeof old); /* a pointer to any pointer */
    more = wanted < SIZE_MAX / size ? realloc(old, wanted * size) : NULL;
    if (!more)
        FAIL(EK_UNAVAILABLE, "out of memory for %zu %s", wanted, what);
    memcpy(array, &more, sizeof more);
    *room = wanted;
    return EK_OK;
}
