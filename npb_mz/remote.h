/* npb_mz/remote.h – faces between zones of different ranks.
 *
 * A face is sent as soon as its zone is computed, while others still are; by the next exchange most
 * have arrived. Face f = 4*zone + side is filled from the zone across that side; f is the message's
 * tag. */
#pragma once

#include "npb_mz/mz.h"
#include "src/json.h"

struct remote;

/* rank_of[nzones]: the rank of each zone. EK_UNAVAILABLE: out of memory. Collective; close accepts
 * NULL. */
enum ek_status remote_open(const struct mz *mz, const int *rank_of, struct remote **remote);
void remote_close(struct remote *remote);

/* For a new partition between two steps: remote_end() completes all pending messages; then the
 * zones move; remote_partition() prepares messages for the new partition, and the faces for the
 * next exchange must be sent again. EK_UNAVAILABLE: out of memory. Collective, one thread. */
void remote_end(struct remote *remote);
enum ek_status remote_partition(struct remote *remote, const int *rank_of);

/* Begins a run: completes the messages of an earlier run, posts all receives, forgets measurements.
 * Collective, one thread. */
void remote_begin(struct remote *remote);

/* Sends the face of (zone, side) if another rank needs it and it was not sent since the last
 * exchange. packed: where its device has packed it, unchanged until remote_wait(); NULL: the zone
 * is on the host and is packed here. Any thread, once per zone. */
void remote_send(struct remote *remote, int zone, int side, double *packed);
/* Posts the receive of face (zone, side), if another rank sends it and none is posted, to `there`
 * (NULL: host memory). Before remote_wait(). Any thread, once per face. */
void remote_expect(struct remote *remote, int zone, int side, double *there);

/* Waits for all messages, which must all have been started. One thread. */
void remote_wait(struct remote *remote);
/* Lets MPI progress messages. Any thread. */
void remote_progress(struct remote *remote);

/* The face that has arrived in host memory for (zone, side), else NULL. After use, remote_taken()
 * posts the next receive; *bytes += the size of the face. */
const double *remote_face(const struct remote *remote, int zone, int side);
void remote_taken(struct remote *remote, int zone, int side, size_t *bytes);

/* What the faces cost. In some steps there is a barrier before the wait, so that it measures
 * messages and not slower ranks. It is compared with the time of the same messages without any
 * computation, which this function measures. Collective, after a run, one thread. New reference;
 * NULL: out of memory. */
json_t *remote_json(struct remote *remote);
