/* kirchhoff/segy_internal.h – numbers in headers and samples, in either byte order, and what a file
 * is; for readers and writers of traces only. */
#pragma once

#include "kirchhoff/segy.h"

#include <string.h>

enum { SEGY_TEXT = 3200, SEGY_BINARY = 400, SEGY_HEADER = 240 };

/* `bytes` (1 … 8) bytes as an unsigned number. */
static inline uint64_t segy_unsigned(const unsigned char *p, int bytes, bool little)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x = x << 8 | p[little ? bytes - 1 - i : i];
    return x;
}

static inline int64_t segy_signed(const unsigned char *p, int bytes, bool little)
{
    const int unused = 64 - 8 * bytes;
    return (int64_t)(segy_unsigned(p, bytes, little) << unused) >> unused;
}

/* Word at byte `at`, from 1, as the standard counts. */
static inline int32_t segy_i32(const unsigned char *header, int at, bool little)
{
    return (int32_t)segy_signed(header + at - 1, 4, little);
}

static inline int32_t segy_i16(const unsigned char *header, int at, bool little)
{
    return (int32_t)segy_signed(header + at - 1, 2, little);
}

static inline void segy_set(unsigned char *header, int at, int bytes, bool little, int64_t x)
{
    for (int i = 0; i < bytes; i++)
        header[at - 1 + (little ? i : bytes - 1 - i)] = (unsigned char)((uint64_t)x >> 8 * i);
}

/* What a scalar word multiplies by: s > 0 multiplies, s < 0 divides, 0 is 1. */
static inline double segy_scaled(double x, int scalar)
{
    return scalar > 0 ? x * scalar : scalar < 0 ? x / -scalar : x;
}

/* A way to store samples. */
struct segy_format {
    const char *name; /* NULL: no such code */
    int bytes;
    void (*decode)(const unsigned char *from, size_t n, bool little, float *to);
};

/* Of a data sample format code; NULL: unknown. */
const struct segy_format *segy_format_find(int code);

/* A float as IBM's hexadecimal one. */
uint32_t segy_to_ibm(float x);

/* pread() of exactly `bytes`. EK_UNAVAILABLE: it fails, or the file ends there; `what` is for the
 * message. */
enum ek_status segy_pread(int file, const char *path, void *to, size_t bytes, off_t at,
                          const char *what);

/* Places of a table: columns trace (number in the file, from 1), sx, sy, gx, gy and, where they are
 * there, sz, gz, or sx_m and so on; m, z down. EK_USAGE: no such file or column, a live trace has
 * no row or two. */
enum ek_status segy_take_geometry(struct segy *s, const char *path);

/* EK_USAGE: it is no such file, or of a kind that is not known. */
enum ek_status segy_layout_find(int file, const char *path, const struct segy_options *o,
                                struct segy_layout *layout);
