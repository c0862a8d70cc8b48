/* src/random.h – one seeded generator for samples, starting points and noise (not cryptographic):
 * Steele, Lea & Flood's SplitMix64 (2014). The state is the seed; a seed gives the same numbers on
 * every machine. And the system's generator, for names that no other process may have. */
#pragma once

#include "src/base.h"
#include <sys/random.h>

/* Fills n <= 256 bytes by the system's generator. EK_UNAVAILABLE: it has none. */
static inline enum ek_status random_unique(void *bytes, size_t n)
{
    if (getrandom(bytes, n, 0) != (ssize_t)n)
        FAIL(EK_UNAVAILABLE, "no random numbers: %m");
    return EK_OK;
}

/* 64 random bits. */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number in [0, n), n > 0; the bias is negligible for n << 2^64. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return random_bits(state) % n;
}

/* A number in (0, 1), both ends excluded. */
static inline double random_uniform(uint64_t *state)
{
    return ((double)(random_bits(state) >> 11) + 0.5) / (double)(1ull << 53);
}
