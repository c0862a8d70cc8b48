/* src/progress.c – the progress line. */
#include "src/progress.h"
#include "src/clock.h"

#include <unistd.h>

static struct {
    bool quiet, shown;
    const char *label, *unit;
    double total, start, last;
} line;

void progress_quiet(bool quiet)
{
    line.quiet = quiet;
}

void progress_begin(const char *label, double total, const char *unit)
{
    line.label = label;
    line.unit = unit;
    line.total = total;
    line.start = line.last = clock_now();
    line.shown = false;
}

void progress_at(double done)
{
    double now = clock_now();
    if (line.quiet || now - line.last < 0.1 || !isatty(STDERR_FILENO))
        return;
    double elapsed = now - line.start, rate = done / elapsed;
    int left = rate > 0 ? (int)((line.total - done) / rate) : 0;
    fprintf(stderr, "\r\033[K%s  %3.0f %%  %.4g %s/s  ETA %02d:%02d", line.label,
            100 * done / line.total, rate, line.unit, left / 60, left % 60);
    fflush(stderr);
    line.last = now;
    line.shown = true;
}

void progress_end(void)
{
    if (line.shown)
        fputs("\r\033[K", stderr);
    line.shown = false;
}
