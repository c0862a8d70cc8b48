/* npb_mz/faces.h – which face crosses which memory nodes, for a given mapping of zones to memory
 * nodes.
 *
 * Face f = 4*zone + side is filled from the zone behind that side. Where both zones share a memory
 * node it is copied there; otherwise the memory node that owns the neighbour packs it into its
 * outgoing buffer, and the memory node that owns the zone unpacks it. A device's faces travel
 * together: one read of everything outgoing, one write of everything incoming. Zones of other ranks
 * have home FACES_ELSEWHERE: their faces come and go through remote.h. */
#pragma once

#include "npb_mz/mz.h"
#include "npb_mz/remote.h"

enum { FACES_ELSEWHERE = -1 };

/* Rows of three longs, as kernels/faces.c takes them. */
struct faces_list {
    long (*row)[3];
    size_t n, room;
};

/* What one memory node has to do in an exchange. The host (memory node 0) packs straight into the
 * incoming buffers of the devices and unpacks straight from their outgoing ones: its `out` is
 * empty, its `in` lists the faces that come from devices. */
struct faces_memory {
    struct faces_list copy;         /* zone, side, neighbour */
    struct faces_list out;          /* neighbour, its side, place in out_buffer */
    struct faces_list in;           /* zone, side, place in in_buffer */
    double *out_buffer, *in_buffer; /* host memory; both NULL for memory node 0 */
    size_t out_size, in_size;       /* doubles */
};

struct faces {
    struct arena arena;
    const struct mz *mz;
    struct remote *remote; /* borrowed; NULL where there is one rank */
    int nmemories;
    int *home;                   /* [nzones] the mapping that the lists are for */
    size_t *out_at;              /* [4*nzones] place of the face in its source's out_buffer */
    struct faces_memory *memory; /* [nmemories] */
    long generation; /* grows with each new mapping, so that devices know their lists are old */
};

/* EK_UNAVAILABLE: out of memory. One thread. close accepts NULL. */
enum ek_status faces_open(const struct mz *mz, struct remote *remote, int nmemories,
                          struct faces **faces);
void faces_close(struct faces *faces);

/* Makes the lists fit the mapping home[nzones]; nothing to do if it is the one they are for. One
 * thread while no other uses *faces. EK_UNAVAILABLE: out of memory. */
enum ek_status faces_plan(struct faces *faces, const int *home);

/* Brings what device `to` receives from other memory nodes into its in_buffer: packs faces of zones
 * on the host, copies those that devices have read into their out_buffers. On to's thread. */
void faces_gather(struct faces *faces, int to, size_t *bytes);

/* Sends what device `from` has read for other ranks. On its thread. */
void faces_send_remote(struct faces *faces, int from);

/* Host work, for unit `part` of `parts` that share it: copies faces between zones on the host;
 * fills faces of zones on the host from what devices have read. */
void faces_copy_host(struct faces *faces, int part, int parts);
void faces_unpack_host(struct faces *faces, int part, int parts, size_t *bytes);
