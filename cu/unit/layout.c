/* cu/unit/layout.c – the text form of a layout, "NxM+G". */
#include "cu/unit/cu.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYOUT_MAX = 1 << 20 }; /* threads, and each number by itself */

/* The number at *p, which moves behind it and the blanks around it; -1 if there is none. */
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

static bool scan(const char *p, long v[3])
{
    v[0] = number(&p);
    if (*p != 'x' && *p != 'X')
        return false;
    p++;
    v[1] = number(&p);
    v[2] = 0;
    if (*p == '+') {
        p++;
        v[2] = number(&p);
    }
    return !*p && v[0] >= 0 && v[1] >= 0 && v[2] >= 0;
}

enum ek_status cu_layout_parse(const char *text, struct cu_layout *layout)
{
    long v[3];
    if (!scan(text, v))
        FAIL(EK_USAGE,
             "layout '%s' is not of the form NxM+G; for example 7x2+2 is 7 CPU units of 2 cores "
             "and 2 devices, 0x0+1 one device alone",
             text);
    if (v[0] > LAYOUT_MAX || v[1] > LAYOUT_MAX || v[2] > LAYOUT_MAX ||
        v[0] * v[1] + v[2] > LAYOUT_MAX)
        FAIL(EK_USAGE, "layout '%s' asks for more than %d threads", text, LAYOUT_MAX);
    if (v[0] > 0 && v[1] == 0)
        FAIL(EK_USAGE,
             "layout '%s' has CPU units of 0 cores; write 0x0+%ld for devices alone or, for "
             "example, %ldx1+%ld",
             text, v[2] ? v[2] : 1, v[0], v[2]);
    if (v[0] == 0 && v[2] == 0)
        FAIL(EK_USAGE,
             "layout '%s' has no unit at all; for example 1x1 is one core, 0x0+1 one device", text);
    *layout = (struct cu_layout){(int)v[0], v[0] ? (int)v[1] : 0, (int)v[2]};
    return EK_OK;
}

const char *cu_layout_text(const struct cu_layout *layout)
{
    static _Thread_local char text[48];
    int at = snprintf(text, sizeof text, "%dx%d", layout->ncpu, layout->width);
    if (layout->ndev)
        snprintf(text + at, sizeof text - (size_t)at, "+%d", layout->ndev);
    return text;
}

int cu_layout_units(const struct cu_layout *layout)
{
    return layout->ncpu + layout->ndev;
}

int cu_layout_threads(const struct cu_layout *layout)
{
    return layout->ncpu * layout->width + layout->ndev;
}
