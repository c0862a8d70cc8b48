/* src/owned.h – what a block owns goes when the block is left, whichever way: by the cleanup
 * attribute of gcc and clang. Such a variable is initialized where it is declared. */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before a variable: close(&variable) is called in the end. */
#define OWNED(close) __attribute__((cleanup(close)))
/* Before a pointer, or a stream: it is freed, or closed, unless it is NULL. */
#define OWNED_MEMORY OWNED(owned_free)
#define OWNED_STREAM OWNED(owned_fclose)
/* Makes owned_<close>() for OWNED(): of a close() that takes the pointer, before such a pointer. */
#define OWNED_POINTER(type, close)                                                                 \
    static inline void owned_##close(type **pointer)                                               \
    {                                                                                              \
        close(*pointer);                                                                           \
    }
/* A mutex is held until then. */
#define LOCKED(mutex)                                                                              \
    OWNED(owned_unlock) __attribute__((unused)) pthread_mutex_t *const locked_ = owned_lock(mutex)

static inline void owned_free(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof memory); /* a pointer to any pointer */
    free(memory);
}

static inline void owned_fclose(FILE **stream)
{
    if (*stream)
        fclose(*stream);
}

static inline pthread_mutex_t *owned_lock(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    return mutex;
}

static inline void owned_unlock(pthread_mutex_t *const *mutex)
{
    pthread_mutex_unlock(*mutex);
}
