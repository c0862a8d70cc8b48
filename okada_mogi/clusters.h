/* okada_mogi/clusters.h – which accepted trials hang together: connected components on the grid.
 *
 * Two trials are neighbours if no parameter differs by more than one step of the grid; an cluster
 * is a set of trials that neighbours connect. That is exact for up to CLUSTERS_CELLS trials. Of
 * more, cells of 2 (4, 8, …) values of every parameter stand for the trials in them, so that memory
 * stays bounded; clusters that are closer than such a cell then become one.
 *
 * Three rounds over the places of all trials: clusters_add(), then clusters_count(), then as often
 * as wanted clusters_of(). One thread. */
#pragma once

#include "okada_mogi/trial.h"
#include "src/status.h"

enum { CLUSTERS_CELLS = 1 << 21 }; /* about 70 MB */

struct clusters;

/* For places of `naxes` axes, axis a from low[a] to high[a]. `cells`: how many to keep at most,
 * CLUSTERS_CELLS unless a test wants less. EK_UNAVAILABLE: out of memory. close accepts NULL. */
enum ek_status clusters_open(int naxes, const long *low, const long *high, size_t cells,
                             struct clusters **s);
void clusters_close(struct clusters *s);

void clusters_add(struct clusters *s, const long *place);
/* All are added: finds the clusters. EK_UNAVAILABLE: out of memory. */
enum ek_status clusters_join(struct clusters *s);

/* Again, to count the trials of each cluster. */
void clusters_count(struct clusters *s, const long *place);
/* All are counted: numbers the clusters, the largest first. Returns how many there are. */
size_t clusters_rank(struct clusters *s);

/* Number of the cluster that holds a place that was added, from 0. */
size_t clusters_of(const struct clusters *s, const long *place);
/* Values of each parameter in a cell: 1 where the clusters are exact. */
long clusters_coarseness(const struct clusters *s);
