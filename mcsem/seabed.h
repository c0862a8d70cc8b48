/* mcsem/seabed.h – where the sea floor lies: flat, through the receivers, or through the points of
 * a table. Between points it is a plane through the nearest ones, within their depths; where points
 * have no x, and in a .poly (poly.h), a line along y, the same for all x.
 *
 * Every pair learns how deep the floor lies below its source and below its receiver, and every
 * column how deep it lies on average below the midpoints of its pairs: the layered earth that a
 * pair sees has the column's floor, and its instruments at their own heights above that
 * (cell.h). */
#pragma once

#include "mcsem/survey.h"

/* Lays the floor below a survey and its earth. `how`: "flat", as the earth has it; "receivers"; the
 * name of a table [x,] y, depth or of a .poly; NULL: flat where the floor was `given` and fits the
 * receivers, else through them. EK_USAGE: a given flat floor and receivers below it or at depths
 * that are not alike, an instrument below the floor of a table, a table that is none; `path` names
 * the survey. */
enum ek_status seabed_lay(const char *path, const char *how, bool given, struct survey *survey,
                          struct earth *earth);

/* Depths [columns], from the sea surface, at the columns of a surface: a table [x,] y, depth.
 * EK_USAGE: it is none; EK_UNAVAILABLE. */
enum ek_status seabed_depths(const char *table, const struct earth *earth, double *depth);

/* How badly a cell of a binned survey is a layered earth: its steepest slope from a source to its
 * receiver, and from where to where depths of the floor go. */
struct seabed_cell {
    double slope, shallowest, deepest;
};
struct seabed_cell seabed_cell(const struct survey *survey, int cell);
/* Steep, or depths too different, for a layered earth to do. */
bool seabed_is_rough(const struct seabed_cell *cell);
