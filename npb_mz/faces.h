/* npb_mz/faces.h – which face crosses which memory nodes, for a given mapping of zones to memory
 * nodes.
 *
 * Face f = 4*zone + side is filled from the zone behind that side. Where both zones share a memory
 * node it is copied there; otherwise the memory node that owns the neighbour packs it into its
 * outgoing buffer, and the memory node that owns the zone unpacks it. A device's faces travel
 * together: one copy from each device that it reaches, one read of everything else outgoing, one
 * write of everything else incoming. Zones of other ranks have home FACES_ELSEWHERE: their faces
 * come and go through remote.h. */
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

/* What one memory node has to do in an exchange. The host (memory node 0) packs straight into the
 * incoming buffers of the devices and unpacks straight from their outgoing ones: its `out` is
 * empty, its `in` lists the faces that come from devices.
 *
 * A device's buffers begin with what goes through the host; behind it lies, for each device that
 * is reached directly, what goes to it or comes from it; at the end what goes to other ranks and
 * comes from them, where MPI takes it from the device. */
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
    bool mails_devices;          /* MPI takes faces from devices and brings them there */
    int *home;                   /* [nzones] the mapping that the lists are for */
    size_t *out_at;              /* [4*nzones] place of the face in its source's out_buffer */
    struct faces_memory *memory; /* [nmemories] */
    long generation; /* grows with each new mapping, so that devices know their lists are old */
};

/* EK_UNAVAILABLE: out of memory. One thread; before the first plan, memory[] gets its devices.
 * close accepts NULL. */
enum ek_status faces_open(const struct mz *mz, struct remote *remote, int nmemories,
                          struct faces **faces);
void faces_close(struct faces *faces);

/* Makes the lists fit the mapping home[nzones]; nothing to do if it is the one they are for. One
 * thread while no other uses *faces. EK_UNAVAILABLE: out of memory. */
enum ek_status faces_plan(struct faces *faces, const int *home);

/* Brings what device `to` receives through the host into its in_buffer: packs faces of zones on the
 * host, copies those that devices have read into their out_buffers. On to's thread. */
void faces_gather(struct faces *faces, int to, size_t *bytes);

/* Sends what device `from` has packed for other ranks, and says where to put what comes for it from
 * them. On its thread. */
void faces_mail(struct faces *faces, int from);

/* Host work, for unit `part` of `parts` that share it: copies faces between zones on the host;
 * fills faces of zones on the host from what devices have read. */
void faces_copy_host(struct faces *faces, int part, int parts);
void faces_unpack_host(struct faces *faces, int part, int parts, size_t *bytes);
