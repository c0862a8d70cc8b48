/* kirchhoff/line.h – crooked lines: coordinates become distances along a line. */
#pragma once

#include "kirchhoff/segy.h"

struct line_fit {
    double length, beside; /* m: extent of the ends along the line; farthest end from it */
};

/* Moves all ends to the line y = `y` of an image: a midpoint to its distance along the survey's
 * line (0 at the first end), source and receiver half the true offset to either side. `where`:
 * "auto", a line through the means of the ends along their principal axis, or FILE.csv with the
 * line's points x, y. EK_USAGE: no such file, or the points are no line; EK_UNAVAILABLE: memory. */
enum ek_status line_project(struct segy *s, const char *where, double y, struct line_fit *fit);

/* EK_USAGE: an end is farther from the line y = `y` than 2 % of the survey's length (plus 1 m). */
enum ek_status line_check(const struct segy *s, double y);
