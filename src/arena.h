/* src/arena.h – memory for one object: many arrays, allocated one by one, checked once, freed
 * together.
 *
 *     p->task = ARENA_NEW(&p->arena, n, struct task);
 *     p->cost = ARENA_NEW(&p->arena, n, double);
 *     TRY(arena_check(&p->arena, "the plan"));     before anything is written
 *     …
 *     arena_free(&p->arena);
 *
 * A zeroed arena is empty. One thread at a time. */
#pragma once

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct arena {
    struct arena_block *block; /* the latest; linked to earlier ones */
    size_t bytes;              /* requested in total */
    bool failed;
};

/* Zeroed memory for n members of `size` bytes, aligned to 64, valid until arena_free(). NULL if
 * there is no memory or n * size overflows; arena_check() then fails, whatever else succeeds. n = 0
 * is not a failure: it gives a pointer that must not be dereferenced. */
void *arena_take(struct arena *a, size_t n, size_t size);
#define ARENA_NEW(arena, n, type) ((type *)arena_take((arena), (size_t)(n), sizeof(type)))

/* A copy of n members; NULL if `from` is NULL. */
void *arena_copy(struct arena *a, const void *from, size_t n, size_t size);
/* A copy of a string; "" for NULL. */
char *arena_text(struct arena *a, const char *text);

/* EK_UNAVAILABLE "out of memory for <what>" if any allocation failed. */
enum ek_status arena_check(const struct arena *a, const char *what, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees everything and leaves the arena empty. */
void arena_free(struct arena *a);

/* ---- single pieces --------------------------------------------------------------------------- */

/* Declares `name`, a pointer to n zeroed members; if there is no memory, fails like FAIL() with the
 * message that follows. The caller frees it. */
#define NEW(type, name, n, ...)                                                                    \
    type *name = calloc((size_t)(n), sizeof *name);                                                \
    if (!name)                                                                                     \
    FAIL(EK_UNAVAILABLE, __VA_ARGS__)

/* The end of an open(): if st is EK_OK, sets *out = made, otherwise closes it. Returns st. */
#define HAND_OUT(st, made, out, close) ((st) ? (void)close(made) : (void)(*(out) = (made)), (st))

/* Defines the close() of an object that owns nothing but its arena; it accepts NULL. */
#define ARENA_CLOSE(close, type)                                                                   \
    void close(type *object)                                                                       \
    {                                                                                              \
        if (object)                                                                                \
            arena_free(&object->arena);                                                            \
        free(object);                                                                              \
    }

/* ---- arrays that grow ------------------------------------------------------------------------ */

/* Makes room for one more member at the end of *array, which holds n members of `size` bytes and
 * has capacity *room (initially 0 and NULL), by doubling it. Not from an arena: the caller frees
 * it. EK_UNAVAILABLE: no memory. */
enum ek_status arena_grow(void *array, size_t *room, size_t n, size_t size, const char *what);
