/* npb_mz/write_npb.c – prints the report of the official suite, in the columns of its Fortran
 * formats. */
#include "npb_mz/write_npb.h"
#include "src/json.h"
#include "src/self.h"
#include "src/version.h"

#include <ctype.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>

#ifndef EK_FLAGS
#define EK_FLAGS "not recorded"
#endif

/* In Fortran's format E20.13: 0.1047687395830E+04. */
static void put_real(FILE *out, double x)
{
    char digits[32];
    if (!isfinite(x)) {
        fprintf(out, "%20s", isnan(x) ? "NaN" : "Infinity");
        return;
    }
    snprintf(digits, sizeof digits, "%.12e", fabs(x));
    fprintf(out, " %s0.%c%.12sE%+03d", signbit(x) ? "-" : "", digits[0], digits + 2,
            x != 0 ? atoi(digits + 15) + 1 : 0);
}

/* Value, reference and relative deviation of a norm; a line that fails begins with "FAILURE:". */
static void put_norm(FILE *out, const char *label, double value, double reference)
{
    const double deviation = fabs((value - reference) / reference);
    fprintf(out, " %-9s%2s", deviation <= MZ_TOLERANCE ? "" : "FAILURE:", label);
    put_real(out, value);
    put_real(out, reference);
    put_real(out, deviation);
    fputc('\n', out);
}

static double value_at(const json_t *list, int m)
{
    const json_t *x = json_array_get(list, (size_t)m);
    return json_is_number(x) ? json_number_value(x) : NAN;
}

static void put_norms(FILE *out, const char *what, const json_t *list, const double *reference)
{
    fprintf(out, " Comparison of RMS-norms of %s\n", what);
    for (int m = 0; m < MZ_NORMS; m++) {
        const char label[] = {(char)('1' + m), 0};
        put_norm(out, label, value_at(list, m), reference[m]);
    }
}

static void put_verification(FILE *out, const struct mz_class *class, const json_t *result)
{
    const json_t *v = json_object_get(result, "verification");
    if (json_is_null(json_object_get(result, "verified"))) {
        fputs(" No reference values for this run\n No verification performed\n", out);
        return;
    }
    fprintf(out, " Verification being performed for class %c\n accuracy setting for epsilon = ",
            class->letter);
    put_real(out, MZ_TOLERANCE);
    fputc('\n', out);
    put_norms(out, "residual", json_object_get(v, "residual"), class->residual);
    put_norms(out, "solution error", json_object_get(v, "error"), class->error);
    if (class->surface != 0.0) {
        fputs(" Comparison of surface integral\n", out);
        put_norm(out, "", json_number_of(v, "surface"), class->surface);
    }
    fprintf(out, " Verification %s\n",
            json_is_true(json_object_get(result, "verified")) ? "Successful" : "failed");
}

static const char *verdict(const json_t *result)
{
    const json_t *v = json_object_get(result, "verified");
    return json_is_null(v) ? "NOT PERFORMED" : json_is_true(v) ? "SUCCESSFUL" : "UNSUCCESSFUL";
}

/* Cores of CPU units and a thread for each device, on all ranks. */
static int threads(const json_t *result)
{
    size_t i;
    json_t *unit;
    int sum = 0;
    json_array_foreach(json_object_get(result, "units"), i, unit) sum +=
        (int)json_number_of(unit, "width");
    return sum;
}

/* The day this binary was written. */
static void compile_date(char *text, size_t room)
{
    struct stat st;
    struct tm tm;
    snprintf(text, room, "unknown");
    if (!stat(self_path(), &st) && localtime_r(&st.st_mtime, &tm))
        strftime(text, room, "%d %b %Y", &tm);
}

static void put_line(FILE *out, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void put_line(FILE *out, const char *label, const char *format, ...)
{
    char text[64];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fprintf(out, " %-15s = %24s\n", label, text);
}

/* Steps, seconds and rate are those of this launch, without the steps that an earlier one did. */
static void put_block(FILE *out, const char *name, const struct mz *mz, const json_t *result)
{
    const int *size = mz->mesh->points, n = threads(result);
    const int steps = (int)json_number_of(result, "steps"),
              before = (int)json_number_of(result, "steps_before");
    char text[64];
    fprintf(out, "\n\n %s Benchmark Completed.\n", name);
    put_line(out, "Class", "%c", mz->class->letter);
    put_line(out, "Size", "%dx%4dx%4d", size[0], size[1], size[2]);
    put_line(out, "Iterations", "%d", steps);
    if (before)
        put_line(out, "Resumed at step", "%d", before);
    put_line(out, "Time in seconds", "%.2f", json_number_of(result, "seconds"));
    put_line(out, "Total processes", "%d", (int)json_number_of(result, "ranks"));
    put_line(out, "Total threads", "%d", n);
    put_line(out, "Mop/s total", "%.2f", json_number_of(result, "rate"));
    put_line(out, "Mop/s/thread", "%.2f", json_number_of(result, "rate") / (n ? n : 1));
    put_line(out, "Operation type", "%s", "floating point");
    put_line(out, "Verification", "%s", verdict(result));
    put_line(out, "Version", "%s", "3.3.1 Evenkeel " EK_VERSION);
    compile_date(text, sizeof text);
    put_line(out, "Compile date", "%s", text);
    fprintf(out, "\n Compile options:\n    CC           = %s %s\n    CFLAGS       = %s\n\n",
#ifdef __clang__
            "clang",
#else
            "gcc",
#endif
            __VERSION__, EK_FLAGS);
}

static void put_timers(FILE *out, const json_t *result)
{
    const double total = json_number_of(result, "seconds"),
                 faces = json_number_of(result, "communication_s"),
                 zones = json_number_of(result, "computation_s");
    const struct {
        const char *name;
        double seconds;
    } row[] = {{"total", total}, {"zones", zones}, {"exch_qbc", faces}};
    fputs("  SECTION   Time (secs)\n", out);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        fprintf(out, "  %-8s:%9.3f  (%6.2f%%)\n", row[i].name, row[i].seconds,
                total > 0 ? 100 * row[i].seconds / total : 0.0);
}

void write_npb(FILE *out, const struct mz *mz, int steps, bool timers, const json_t *result)
{
    const int ranks = (int)json_number_of(result, "ranks"), n = threads(result);
    char name[16];
    snprintf(name, sizeof name, "%s", mz->ops->name);
    for (char *c = name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    fprintf(out, "\n NAS Parallel Benchmarks (NPB3.3-MZ) - %s Benchmark\n\n", name);
    fprintf(out, " Number of zones: %3d x %3d\n", mz_zones_along(mz->ops, mz->mesh, 0),
            mz_zones_along(mz->ops, mz->mesh, 1));
    fprintf(out, " Iterations: %3d    dt: %10.6f\n", steps, mz->class->dt);
    fprintf(out, " Number of active processes: %6d\n", ranks);
    fprintf(out, " Total number of threads: %6d  (%5.1f threads/process)\n\n", n,
            (double)n / (ranks ? ranks : 1));
    put_verification(out, mz->class, result);
    put_block(out, name, mz, result);
    if (timers)
        put_timers(out, result);
}
