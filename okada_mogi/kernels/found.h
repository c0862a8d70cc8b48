/* okada_mogi/kernels/found.h – layout of the ints that a launch of kernels/search.h writes.
 *
 * First the number of items that found something, then FOUND_TALLIES pairs that count responses
 * computed; the host zeroes both before the launch. Item i adds the lower 16 bits of its count to
 * one int of pair i % FOUND_TALLIES and the rest to the other, so that 2^20 items cannot overflow.
 * Then two ints for each item that found something, in any order: its number, and a bit for each of
 * its trials that may be acceptable. */
#ifndef OKADA_MOGI_KERNELS_FOUND_H
#define OKADA_MOGI_KERNELS_FOUND_H

#define FOUND_TALLIES 1024
#define FOUND_ITEMS   (1 + 2 * FOUND_TALLIES) /* index of the first item's pair */

#endif
