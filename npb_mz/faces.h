/* npb_mz/faces.h – lists, for a mapping of zones to memory nodes, which faces are copied within a
 * memory node and which move between two.
 *
 * Face f = 4*zone + side is filled from the zone across that side. If both zones are on one memory
 * node it is copied there. Otherwise the memory node of the neighbour packs it into its outgoing
 * buffer, and the memory node of the zone unpacks it. All faces of a device move together: one copy
 * from each device that it reaches, one read of all others that go out, one write of all others
 * that come in. Zones of other ranks have home FACES_ELSEWHERE; their faces go through remote.h. */
#pragma once

#include "npb_mz/mz.h"
#include "npb_mz/remote.h"

struct device;

enum { FACES_ELSEWHERE = -1 };

/* Rows of three longs, as kernels/faces.c takes them. */
struct faces_list {
    long (*row)[3];
    size_t n, room;
};

/* What one memory node does in an exchange. The host (memory node 0) packs directly into the
 * incoming buffers of devices and unpacks directly from their outgoing ones, so its `out` is empty
 * and its `in` lists the faces that come from devices.
 *
 * A device's buffers consist of parts: first what goes through the host; then one part for each
 * device that is reached directly; last what MPI sends and receives from device memory. */
struct faces_memory {
    struct device *device;          /* borrowed; NULL for memory node 0 */
    struct faces_list copy;         /* zone, side, neighbour */
    struct faces_list out;          /* neighbour, its side, place in the outgoing buffer */
    struct faces_list in;           /* zone, side, place in the incoming one */
    size_t *to, *from;              /* [nmemories + 2] where each part begins, doubles */
    double *out_buffer, *in_buffer; /* host memory for the first part; NULL for memory node 0 */
};

struct faces {
    struct arena arena;
    const struct mz *mz;
    struct remote *remote; /* borrowed; NULL where there is one rank */
    int nmemories;
    bool mails_devices;          /* MPI sends and receives faces in device memory */
    int *home;                   /* [nzones] the mapping that the lists are for */
    size_t *out_at;              /* [4*nzones] place of the face in its source's out_buffer */
    struct faces_memory *memory; /* [nmemories] */
    long generation; /* grows with each new mapping; tells devices that their lists are outdated */
};

/* The caller sets memory[].device before the first plan. EK_UNAVAILABLE: out of memory. One thread.
 * close accepts NULL. */
enum ek_status faces_open(const struct mz *mz, struct remote *remote, int nmemories,
                          struct faces **faces);
void faces_close(struct faces *faces);

/* Makes the lists for the mapping home[nzones], unless they are for it already. One thread, while
 * no other uses *faces. EK_UNAVAILABLE: out of memory. */
enum ek_status faces_plan(struct faces *faces, const int *home);

/* Collects in the in_buffer of device `to` all it receives through the host: packs faces of zones
 * on the host and copies those in the out_buffers of other devices. On the thread of `to`. */
void faces_gather(struct faces *faces, int to, size_t *bytes);

/* Sends to other ranks what device `from` has packed for them, and posts the receives of its own
 * faces in its memory. On its thread. */
void faces_mail(struct faces *faces, int from);

/* The host's work, shared by `parts` units of which this is `part`: copies faces between zones on
 * the host; unpacks faces that came from devices or other ranks. */
void faces_copy_host(struct faces *faces, int part, int parts);
void faces_unpack_host(struct faces *faces, int part, int parts, size_t *bytes);
