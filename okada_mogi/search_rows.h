/* okada_mogi/search_rows.h – bounds chi2 of MODEL_LANES geometries at once, datum by datum: the
 * part of the data that is orthogonal to all responses, and to the scenes' unknowns, must not
 * exceed the largest acceptable chi2. For search_single.c only. */
#pragma once

#include "src/lanes.h"
#include "okada_mogi/search_method.h"

/* The data of scenes, the most telling ones first; shared. */
struct search_rows;
enum ek_status search_rows_open(const struct job *job, struct search_rows **r);
void search_rows_close(struct search_rows *r);
int search_rows_count(const struct search_rows *r);

/* Sums over the data of a block so far; one thread's. */
struct search_sums;
struct search_sums *search_sums_open(void); /* NULL: out of memory; free() it */
void search_sums_clear(struct search_sums *sums);

/* Adds a station that is in no scene, for lanes v * LANES and on; b [nbasis][3]: its responses.
 * Returns the lanes where chi2 may still be at most `chi2`. */
lanes_mask search_sums_add(struct search_sums *sums, const struct job *job,
                           const struct search_station *station, const lanes *b, int v,
                           double chi2);

/* Adds the scenes' data. Returns the lanes (bits of alive) where chi2 may still be at most `chi2`.
 */
unsigned search_rows_screen(const struct search_rows *r, struct search_sums *sums,
                            struct search_worker *w, const double *const *value, double chi2,
                            unsigned alive);
