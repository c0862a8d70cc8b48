/* tests/bench/gpu_activity.c – what a program's NVIDIA GPUs did, by CUPTI's records. Built where
 * CUPTI's header is; the driver loads it into a program that it is named for:
 *
 *     CUDA_INJECTION64_PATH=build/bench/libgpu_activity.so bin/bt-mz --class C --devices cuda:0 …
 *
 * At the end of the program it prints to stderr (or to the file GPU_ACTIVITY), for each GPU, the
 * share of the time that it computed or copied: of the time from the first record to the last, and
 * of that from record number GPU_ACTIVITY_FROM (60) on, when the program has settled; then the
 * seconds of each kernel and of each kind of copy. Recording costs about a microsecond a launch. */
#if __has_include(<cupti.h>)
#include <cupti.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if CUPTI_API_VERSION < 130000 /* the records of CUDA 12, whose beginnings are the same */
#define CUpti_ActivityKernel10 CUpti_ActivityKernel9
#define CUpti_ActivityMemcpy6  CUpti_ActivityMemcpy5
#endif

enum { BUFFER = 4 << 20, GPUS = 16, NAMES = 128 };

struct span {
    uint64_t begin, end; /* ns */
};

struct name {
    char text[64];
    long count;
    double seconds;
};

static struct gpu {
    struct span *spans;
    long n, room;
    struct name names[NAMES];
    int n_names;
} gpus[GPUS];

static void add(uint32_t device, const char *text, uint64_t begin, uint64_t end)
{
    if (device >= GPUS || end < begin || !begin)
        return;
    struct gpu *g = &gpus[device];
    if (g->n == g->room) {
        const long room = g->room ? 2 * g->room : 1 << 16;
        struct span *more = realloc(g->spans, (size_t)room * sizeof *more);
        if (!more)
            return;
        g->spans = more;
        g->room = room;
    }
    g->spans[g->n++] = (struct span){begin, end};
    int i = 0;
    while (i < g->n_names && strncmp(g->names[i].text, text, sizeof g->names[i].text - 1))
        i++;
    if (i == NAMES)
        return;
    if (i == g->n_names)
        snprintf(g->names[g->n_names++].text, sizeof g->names->text, "%s", text);
    g->names[i].count++;
    g->names[i].seconds += 1e-9 * (double)(end - begin);
}

static void CUPTIAPI hand_out(uint8_t **buffer, size_t *bytes, size_t *records)
{
    *buffer = aligned_alloc(8, BUFFER);
    *bytes = *buffer ? BUFFER : 0;
    *records = 0;
}

static void CUPTIAPI take_in(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                             size_t valid)
{
    static const char *const copies[16] = {[CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = "copy to the device",
                                           [CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = "copy to the host"};
    CUpti_Activity *r = NULL;
    (void)context;
    (void)stream;
    (void)bytes;
    while (valid && cuptiActivityGetNextRecord(buffer, valid, &r) == CUPTI_SUCCESS)
        switch (r->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
            const CUpti_ActivityKernel10 *k = (const CUpti_ActivityKernel10 *)r;
            add(k->deviceId, k->name ? k->name : "?", k->start, k->end);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            const CUpti_ActivityMemcpy6 *c = (const CUpti_ActivityMemcpy6 *)r;
            const char *kind = copies[c->copyKind % 16];
            add(c->deviceId, kind ? kind : "copy", c->start, c->end);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY2: {
            const CUpti_ActivityMemcpyPtoP4 *c = (const CUpti_ActivityMemcpyPtoP4 *)r;
            add(c->deviceId, "copy between devices", c->start, c->end);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            const CUpti_ActivityMemset4 *s = (const CUpti_ActivityMemset4 *)r;
            add(s->deviceId, "set", s->start, s->end);
            break;
        }
        default:
            break;
        }
    free(buffer);
}

static int earlier(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int longer(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* The share of the time from record `from` on that some record covers; *all: that time, seconds. */
static double busy(const struct gpu *g, long from, double *all)
{
    uint64_t last = g->spans[from].begin, covered = 0;
    for (long i = from; i < g->n; i++) {
        const struct span s = g->spans[i];
        if (s.end <= last)
            continue;
        covered += s.end - (s.begin > last ? s.begin : last);
        last = s.end;
    }
    *all = 1e-9 * (double)(last - g->spans[from].begin);
    return *all > 0 ? 1e-9 * (double)covered / *all : 0;
}

static void report(void)
{
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    const char *file = getenv("GPU_ACTIVITY"), *number = getenv("GPU_ACTIVITY_FROM");
    FILE *out = file ? fopen(file, "a") : stderr;
    if (!out)
        return;
    for (int d = 0; d < GPUS; d++) {
        struct gpu *g = &gpus[d];
        if (!g->n)
            continue;
        qsort(g->spans, (size_t)g->n, sizeof *g->spans, earlier);
        long from = number ? atol(number) : 60;
        from = from < g->n - 1 ? from : g->n - 1;
        double all, later;
        const double share = busy(g, 0, &all), steady = busy(g, from, &later);
        fprintf(out,
                "device %d: busy %.1f %% of %.4f s, %.1f %% of %.4f s from record %ld on; %ld "
                "records\n",
                d, 100 * share, all, 100 * steady, later, from, g->n);
        qsort(g->names, (size_t)g->n_names, sizeof *g->names, longer);
        for (int i = 0; i < g->n_names; i++)
            fprintf(out, "    %-32s %8ld %11.6f s %11.2f us each\n", g->names[i].text,
                    g->names[i].count, g->names[i].seconds,
                    1e6 * g->names[i].seconds / (double)g->names[i].count);
    }
    if (out != stderr)
        fclose(out);
}

int InitializeInjection(void); /* the name that the driver calls */
int InitializeInjection(void)
{
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
    if (cuptiActivityRegisterCallbacks(hand_out, take_in) != CUPTI_SUCCESS)
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        cuptiActivityEnable(kinds[i]);
    atexit(report);
    return 1;
}
#endif
