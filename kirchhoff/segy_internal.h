/* kirchhoff/segy_internal.h – header words and sample formats in either byte order, shared by the
 * readers and writers of traces only. */
#pragma once

#include "kirchhoff/segy.h"

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

/* The word at byte `at`, counted from 1 as in the standard. */
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

/* Applies a scalar word: positive ones multiply, negative ones divide, 0 counts as 1. */
static inline double segy_scaled(double x, int scalar)
{
    return scalar > 0 ? x * scalar : scalar < 0 ? x / -scalar : x;
}

struct segy_format {
    const char *name; /* NULL: no such code */
    int bytes;        /* per sample */
    void (*decode)(const unsigned char *from, size_t n, bool little, float *to);
};

/* The format with this data sample format code, or NULL. */
const struct segy_format *segy_format_find(int code);

/* Converts to an IBM hexadecimal float. */
uint32_t segy_to_ibm(float x);

/* Reads exactly `bytes`. `what`: of what, for the message. EK_UNAVAILABLE: pread() fails; EK_USAGE:
 * the file ends there. */
enum ek_status segy_pread(int file, const char *path, void *to, size_t bytes, off_t at,
                          const char *what);

/* Replaces positions by those of a table with columns trace (number in the file, from 1), sx, sy,
 * gx, gy and optionally sz, gz, or sx_m and so on; m, z down. EK_USAGE: no such file or column, a
 * live trace has no row or two. */
enum ek_status segy_take_geometry(struct segy *s, const char *path);

/* Finds the file's layout. EK_USAGE: neither SEG-Y nor SU, or an unsupported format. */
enum ek_status segy_layout_find(int file, const char *path, const struct segy_options *o,
                                struct segy_layout *layout);
