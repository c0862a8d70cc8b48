/* kirchhoff/line.h – crooked lines: places as distances along a line. */
#pragma once

#include "kirchhoff/segy.h"

struct line_fit {
    double length, beside; /* m: of the stretch that has ends; of the farthest end from the line */
};

/* Puts all ends on the line y = `y` of an image: midpoints lie at the distance along the survey's
 * line, 0 where its first end is, half the true offset to either side. `where`: "auto", a line
 * through the ends' means along their principal axis, or FILE.csv with the points x, y of one.
 * EK_USAGE: no such file, ends that are no line; EK_UNAVAILABLE: memory. */
enum ek_status line_project(struct segy *s, const char *where, double y, struct line_fit *fit);

/* EK_USAGE: an end stands beside the line y = `y` by more than a fiftieth of the survey. */
enum ek_status line_check(const struct segy *s, double y);
