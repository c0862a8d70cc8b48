/* okada_mogi/search_rows.h – chi2 of MODEL_LANES geometries at once, datum by datum: what the data
 * have at right angles to all responses, and to what is unknown of scenes, must not be more than
 * chi2 may be. For search_single.c only. */
#pragma once

#include "src/lanes.h"
#include "okada_mogi/search_method.h"

/* The data of scenes, those first that tell most; shared. */
struct search_rows;
enum ek_status search_rows_open(const struct job *job, struct search_rows **r);
void search_rows_close(struct search_rows *r);
int search_rows_count(const struct search_rows *r);

/* Sums over the data so far of a block; one thread's. */
struct search_sums;
struct search_sums *search_sums_open(void); /* NULL: out of memory; free() it */
void search_sums_clear(struct search_sums *sums);

/* Adds a station that stands in no scene, lanes v * LANES and on. b [nbasis][3]: its responses.
 * Lanes where chi2 may be as small as `chi2`. */
lanes_mask search_sums_add(struct search_sums *sums, const struct job *job,
                           const struct search_station *station, const lanes *b, int v,
                           double chi2);

/* Lanes (bits of alive) where chi2 of the stations and the scenes' data may be. */
unsigned search_rows_screen(const struct search_rows *r, struct search_sums *sums,
                            struct search_worker *w, const double *const *value, double chi2,
                            unsigned alive);
