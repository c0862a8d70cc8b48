/* src/arena.h – the memory of one object: many arrays that are asked for one by one, checked once
 * and freed together.
 *
 *     p->task = ARENA_NEW(&p->arena, n, struct task);
 *     p->cost = ARENA_NEW(&p->arena, n, double);
 *     TRY(arena_check(&p->arena, "the plan"));     before anything is written
 *     …
 *     arena_free(&p->arena);
 *
 * A zeroed arena is an empty one. One thread at a time. */
#pragma once

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct arena {
    struct arena_block *block; /* the latest; each knows the one before */
    size_t bytes;              /* asked for */
    bool failed;
};

/* Zeroed room for n members of `size` bytes, aligned to 64, until arena_free(). NULL: no memory, or
 * more than there are numbers for; then arena_check() fails, whatever else is asked for. n = 0 is
 * no failure: a pointer that must not be followed. */
void *arena_take(struct arena *a, size_t n, size_t size);
#define ARENA_NEW(arena, n, type) ((type *)arena_take((arena), (size_t)(n), sizeof(type)))

/* A copy of n members; NULL also where `from` is. */
void *arena_copy(struct arena *a, const void *from, size_t n, size_t size);
/* A copy of a text, "" of NULL. */
char *arena_text(struct arena *a, const char *text);

/* EK_UNAVAILABLE "out of memory for <what>" if anything could not be had. */
enum ek_status arena_check(const struct arena *a, const char *what, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees everything; the arena is an empty one again. */
void arena_free(struct arena *a);

/* ---- single pieces --------------------------------------------------------------------------- */

/* Declares `name`, a pointer to n zeroed members; without memory for them it fails as FAIL() does,
 * with the words that follow. free() it. */
#define NEW(type, name, n, ...)                                                                    \
    type *name = calloc((size_t)(n), sizeof *name);                                                \
    if (!name)                                                                                     \
    FAIL(EK_UNAVAILABLE, __VA_ARGS__)

/* The end of an open(): where st is EK_OK, *out = what was made, else that is closed. Returns st.
 */
#define HAND_OUT(st, made, out, close) ((st) ? (void)close(made) : (void)(*(out) = (made)), (st))

/* ---- arrays that grow ------------------------------------------------------------------------ */

/* Room for one member more at the end of *array, which holds n members of `size` bytes and has
 * *room (0 at first, NULL): doubles it. Not from an arena; free() it. EK_UNAVAILABLE: no memory. */
enum ek_status arena_grow(void *array, size_t *room, size_t n, size_t size, const char *what);
