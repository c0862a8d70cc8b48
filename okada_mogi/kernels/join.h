/* okada_mogi/kernels/join.h – shared by kernels/join.c and the host. */
#ifndef OKADA_MOGI_KERNELS_JOIN_H
#define OKADA_MOGI_KERNELS_JOIN_H

#define JOIN_ITEMS 32 /* work-items that look up one target together */

#endif
