/* okada_mogi/transport_socket.h – messages over TCP between the ranks of a cu/rank/family.h. A rank
 * that dies is seen at once, as its connection ends; one that comes back calls again. */
#ifndef OKADA_MOGI_TRANSPORT_SOCKET_H
#define OKADA_MOGI_TRANSPORT_SOCKET_H

#include "cu/rank/family.h"
#include "okada_mogi/transport.h"

/* Rank 0 answers calls from now on; the others call rank 0, who has listened since before they were
 * there. *gone: it does no more, as it has ended. EK_LACK: it cannot be reached, or out of memory.
 */
enum ek_status transport_socket_open(const struct family *family, struct transport *t, bool *gone);

#endif
