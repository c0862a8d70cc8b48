/* mcsem/seabed.h – where the sea floor lies: flat, through the receivers, or through the points of
 * a table. Between points it is a plane through the nearest ones, clipped to the range of their
 * depths; points without x, and a .poly (poly.h), give a line along y that is the same for all x.
 *
 * Every pair gets the depth of the floor below its source and below its receiver, every column the
 * mean depth below its pairs: the layered earth of a pair has the column's floor, and its
 * instruments keep their own heights above the floor (cell.h). */
#pragma once

#include "mcsem/survey.h"

/* Sets the floor below a survey and its earth. `how`: "flat", as in the earth; "receivers"; the
 * name of a table [x,] y, depth or of a .poly; NULL: flat if a floor was `given` and fits the
 * receivers, else through them. EK_USAGE: a given flat floor with instruments below it or, if `how`
 * is NULL, receivers at different depths, an instrument below the floor of a table, an invalid
 * table; `path` names the survey. */
enum ek_status seabed_set(const char *path, const char *how, bool given, struct survey *survey,
                          struct earth *earth);

/* Depths [columns] of a surface, a table [x,] y, depth from the sea surface, at the columns.
 * EK_USAGE: an invalid table; EK_UNAVAILABLE. */
enum ek_status seabed_depths(const char *table, const struct earth *earth, double *depth);

/* How far the floor of a binned survey's cell is from flat: its steepest slope from a source to its
 * receiver, and its range of depths. */
struct seabed_cell {
    double slope, shallowest, deepest;
};
struct seabed_cell seabed_cell(const struct survey *survey, int cell);
/* Whether it is too steep, or varies too much in depth, for a layered earth. */
bool seabed_is_rough(const struct seabed_cell *cell);
