/* tests/bench/fuzz.c – damaged SEG-Y and SU files: whatever the bytes are, the reader answers with
 * an index or with one line, within bounds. Best under sanitizers:
 *
 *   make SAN=address,undefined build-address-undefined/bench/fuzz
 *   build-address-undefined/bench/fuzz 200000
 *   clang -I. -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -DLIBFUZZER tests/bench/fuzz.c \
 *       kirchhoff/segy*.c kirchhoff/whole.c src/status.c src/opt.c -lm -o fuzz && ./fuzz */
#include "kirchhoff/segy.h"
#include "kirchhoff/segy_internal.h"
#include "src/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_READ = 50 };

static void read_all(const struct segy *s)
{
    float *x = malloc((size_t)s->ns * sizeof *x);
    for (size_t i = 0; x && i < s->n && i < MOST_READ; i++)
        (void)segy_read(s, i, x);
    free(x);
}

/* As SEG-Y or, where the last bit of the last byte is set, as SU. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct segy_options o = {.as = size && data[size - 1] & 1 ? SEGY_AS_SU : SEGY_AS_SEGY};
    char path[32];
    struct segy *s;
    const int file = memfd_create("fuzz", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    status_mute(1);
    if (!segy_open(path, &o, &s)) {
        read_all(s);
        segy_close(s);
    }
    status_mute(-1);
    close(file);
    return 0;
}

#ifndef LIBFUZZER

enum { NS = 9, TRACES = 4, SEED = SEGY_TEXT + SEGY_BINARY + TRACES * (SEGY_HEADER + 8 * NS) };

/* A good file to spoil. */
static void make_seed(uint8_t *file, int format, bool little, int revision)
{
    memset(file, 0, SEED);
    segy_set(file, 3217, 2, little, 2000);
    segy_set(file, 3221, 2, little, NS);
    segy_set(file, 3225, 2, little, format);
    segy_set(file, 3501, 1, little, revision);
    for (int t = 0; t < TRACES; t++) {
        uint8_t *h = file + 3600 + t * (SEGY_HEADER + NS * segy_format_find(format)->bytes);
        segy_set(h, 29, 2, little, 1);
        segy_set(h, 115, 2, little, NS);
        segy_set(h, 117, 2, little, 2000);
    }
}

static uint64_t draw(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    return *x ^= *x << 17;
}

/* Words that sizes and offsets hang on, more often than others. */
static size_t place(uint64_t *x, size_t size)
{
    static const size_t word[] = {3217, 3221, 3225, 3269, 3273, 3297, 3501, 3503,
                                  3505, 3507, 3521, 3629, 3671, 3715, 3717, 3815};
    const size_t at =
        draw(x) % 3 ? word[draw(x) % (sizeof word / sizeof *word)] - 1 + draw(x) % 4 : draw(x);
    return at % size;
}

int main(int argc, char **argv)
{
    static const int format[] = {1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16};
    const long rounds = argc > 1 ? atol(argv[1]) : 20000;
    static uint8_t file[SEED];
    uint64_t x = 88172645463325252u;
    for (long r = 0; r < rounds; r++) {
        make_seed(file, format[draw(&x) % 13], draw(&x) % 2, (int)(draw(&x) % 3));
        const size_t size = draw(&x) % 4 ? SEED : 1 + draw(&x) % SEED;
        for (uint64_t n = draw(&x) % 12; n > 0; n--)
            file[place(&x, size)] = (uint8_t)(draw(&x) % 3 ? draw(&x) : draw(&x) % 2 * 255);
        if (size > 3600)
            LLVMFuzzerTestOneInput(file + 3600, size - 3600);
        LLVMFuzzerTestOneInput(file, size);
    }
    printf("%ld damaged files, twice each: all answered\n", rounds);
    return 0;
}

#endif
