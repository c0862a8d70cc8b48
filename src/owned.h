/* src/owned.h – scope guards: a variable's resource is released when its block is left in any way,
 * by the cleanup attribute of gcc and clang. Initialize such a variable where it is declared. */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Placed before a variable: close(&variable) is called at the end of the block. */
#define OWNED(close) __attribute__((cleanup(close)))
/* Placed before a pointer or a stream, which is then freed or closed unless NULL. */
#define OWNED_MEMORY OWNED(owned_free)
#define OWNED_STREAM OWNED(owned_fclose)
/* Defines owned_<close>() for use in OWNED(), from a close() that takes the pointer itself. */
#define OWNED_POINTER(type, close)                                                                 \
    static inline void owned_##close(type **pointer)                                               \
    {                                                                                              \
        close(*pointer);                                                                           \
    }
/* Holds a mutex until the end of the block. */
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
