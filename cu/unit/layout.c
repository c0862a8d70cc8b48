/* cu/unit/layout.c – the text form of a layout, "NxM+GxK". */
#include "cu/unit/cu.h"
#include "src/base.h"

#include <ctype.h>

enum { LAYOUT_MAX = 1 << 20 }; /* threads, and each number by itself */

/* Reads a number and the blanks around it, advancing *p; -1 if there is none. */
static long number(const char **p)
{
    while (isspace((unsigned char)**p))
        ++*p;
    if (!isdigit((unsigned char)**p))
        return -1;
    char *end;
    long v = strtol(*p, &end, 10);
    while (isspace((unsigned char)*end))
        end++;
    *p = end;
    return v;
}

/* Reads "AxB", or just "A" if `alone` allows it; *b then keeps its value. */
static bool scan_product(const char **p, bool alone, long *a, long *b)
{
    *a = number(p);
    if (**p != 'x' && **p != 'X')
        return alone && *a >= 0;
    ++*p;
    *b = number(p);
    return *a >= 0 && *b >= 0;
}

static bool scan(const char *p, long v[4])
{
    v[2] = 0;
    v[3] = 1;
    if (!scan_product(&p, false, &v[0], &v[1]))
        return false;
    if (*p == '+') {
        p++;
        if (!scan_product(&p, true, &v[2], &v[3]))
            return false;
    }
    return !*p;
}

static bool too_many(const long v[4])
{
    for (int i = 0; i < 4; i++)
        if (v[i] > LAYOUT_MAX)
            return true;
    return v[0] * v[1] + v[2] * v[3] > LAYOUT_MAX;
}

enum ek_status cu_layout_parse(const char *text, struct cu_layout *layout)
{
    long v[4];
    if (!scan(text, v))
        FAIL(EK_USAGE,
             "layout '%s' is not of the form NxM+G or NxM+GxK; for example 7x2+2 is 7 CPU units of "
             "2 cores and 2 devices, 0x0+1 one device alone, 0x0+1x4 one fed by 4 threads",
             text);
    if (too_many(v))
        FAIL(EK_USAGE, "layout '%s' asks for more than %d threads", text, LAYOUT_MAX);
    if (v[0] > 0 && v[1] == 0)
        FAIL(EK_USAGE,
             "layout '%s' has CPU units of 0 cores; write 0x0+%ld for devices alone or, for "
             "example, %ldx1+%ld",
             text, v[2] ? v[2] : 1, v[0], v[2]);
    if (v[0] == 0 && v[2] == 0)
        FAIL(EK_USAGE,
             "layout '%s' has no unit at all; for example 1x1 is one core, 0x0+1 one device", text);
    if (v[2] > 0 && v[3] == 0)
        FAIL(EK_USAGE, "layout '%s' has devices that no thread feeds; write +%ld or +%ldx2", text,
             v[2], v[2]);
    *layout = (struct cu_layout){(int)v[0], v[0] ? (int)v[1] : 0, (int)v[2], v[2] ? (int)v[3] : 0};
    return EK_OK;
}

const char *cu_layout_text(const struct cu_layout *layout)
{
    static _Thread_local char text[48];
    int at = snprintf(text, sizeof text, "%dx%d", layout->ncpu, layout->width);
    if (layout->ndev)
        at += snprintf(text + at, sizeof text - (size_t)at, "+%d", layout->ndev);
    if (layout->feeders > 1)
        snprintf(text + at, sizeof text - (size_t)at, "x%d", layout->feeders);
    return text;
}

int cu_layout_units(const struct cu_layout *layout)
{
    return layout->ncpu + layout->ndev;
}

int cu_layout_threads(const struct cu_layout *layout)
{
    return layout->ncpu * layout->width + layout->ndev * layout->feeders;
}

int cu_layout_workers(const struct cu_layout *layout)
{
    return layout->ncpu * layout->width + layout->ndev;
}
