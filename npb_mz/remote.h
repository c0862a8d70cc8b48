/* npb_mz/remote.h – faces between zones of different ranks.
 *
 * A face leaves as soon as its zone is computed and travels while other zones are; the next
 * exchange finds most of them arrived. Face f = 4*zone + side is filled from the zone behind that
 * side; its number is the message's tag. */
#pragma once

#include "npb_mz/mz.h"
#include "src/json.h"

struct remote;

/* rank_of[nzones] says whose each zone is. EK_UNAVAILABLE: out of memory. Collective; close accepts
 * NULL. */
enum ek_status remote_open(const struct mz *mz, const int *rank_of, struct remote **remote);
void remote_close(struct remote *remote);

/* Between two steps, for another partition: faces that are under way come to their end, those of
 * the next exchange are sent anew. First remote_end(), then the zones move, then
 * remote_partition(). EK_UNAVAILABLE: out of memory. Collective, one thread. */
void remote_end(struct remote *remote);
enum ek_status remote_partition(struct remote *remote, const int *rank_of);

/* Opens a run: every receiver is ready, nothing is measured yet. What an earlier run left under way
 * is brought to its end. Collective, one thread. */
void remote_begin(struct remote *remote);

/* Sends a face that another rank wants and that is not sent since the last exchange: of a zone on
 * the host (NULL), or packed where its device did so, which stays as it is until remote_wait(). Any
 * thread, once per zone. */
void remote_send(struct remote *remote, int zone, int side, double *packed);
/* The face for (zone, side), if another rank sends it and nobody waits for it yet, will come there,
 * NULL: to the host. Before remote_wait(). Any thread, once per face. */
void remote_expect(struct remote *remote, int zone, int side, double *there);

/* Waits for all faces, out and in. One thread, all have been sent. */
void remote_wait(struct remote *remote);
/* Lets messages move on. Any thread. */
void remote_progress(struct remote *remote);

/* The face that has arrived on the host for (zone, side), else NULL; after it is used,
 * remote_taken() makes room for the next. *bytes += its size. */
const double *remote_face(const struct remote *remote, int zone, int side);
void remote_taken(struct remote *remote, int zone, int side, size_t *bytes);

/* What the faces cost. In some of the steps all ranks meet before they wait, so that what is waited
 * for is messages and not slower ranks; beside it stands how long the same messages take when all
 * are sent at once and waited for with nothing else to do, which is measured now. After a run,
 * collective, one thread. New reference; NULL: out of memory. */
json_t *remote_json(struct remote *remote);
