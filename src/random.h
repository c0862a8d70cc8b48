/* src/random.h – one seeded generator for samples, starts and noise, not for secrets: Steele, Lea &
 * Flood's SplitMix64 (2014). The state is the seed; the same seed draws the same on every
 * machine. */
#pragma once

#include <stdint.h>

/* 64 random bits. */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Below n > 0; for n below 2^53 as good as even. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return random_bits(state) % n;
}

/* Between 0 and 1, neither of them. */
static inline double random_uniform(uint64_t *state)
{
    return ((double)(random_bits(state) >> 11) + 0.5) / (double)(1ull << 53);
}
