/* okada_mogi/clusters.h – clusters of accepted trials: connected components on the grid.
 *
 * Two trials are neighbours if no parameter differs by more than one step of the grid; a cluster is
 * a set of trials that neighbours connect. This is exact for up to CLUSTERS_CELLS trials. With
 * more, cells of 2 (4, 8, …) values of every parameter represent the trials in them, so that memory
 * stays bounded; clusters closer than such a cell then merge.
 *
 * Use: pass the places of all trials to clusters_add(), clusters_join(), then all of them to
 * clusters_count(), clusters_rank(), then clusters_of() any number of times. One thread. */
#pragma once

#include "okada_mogi/trial.h"

enum { CLUSTERS_CELLS = 1 << 21 }; /* about 70 MB */

struct clusters;

/* For places on `naxes` axes, axis a from low[a] to high[a]. `cells`: how many to keep at most,
 * CLUSTERS_CELLS except in tests. EK_UNAVAILABLE: out of memory. close accepts NULL. */
enum ek_status clusters_open(int naxes, const long *low, const long *high, size_t cells,
                             struct clusters **s);
void clusters_close(struct clusters *s);

void clusters_add(struct clusters *s, const long *place);
/* Finds the clusters of all places added. EK_UNAVAILABLE: out of memory. */
enum ek_status clusters_join(struct clusters *s);

/* Counts a trial of a cluster. */
void clusters_count(struct clusters *s, const long *place);
/* Numbers the clusters by decreasing count. Returns how many there are. */
size_t clusters_rank(struct clusters *s);

/* Number, from 0, of the cluster that contains a place that was added. */
size_t clusters_of(const struct clusters *s, const long *place);
/* Values of each parameter in a cell; 1: the clusters are exact. */
long clusters_coarseness(const struct clusters *s);
