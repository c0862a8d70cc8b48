/* okada_mogi/kernels/found.h – what a launch of kernels/search.h leaves: ints.
 *
 * First how many items found something, zero before the launch. Then the responses that looking
 * took, zero before, too: item i adds to tally i % FOUND_TALLIES the lower 16 bits and the upper
 * ones, which 2^20 items cannot make overflow. Then two ints for each item that found something, in
 * any order: its number, and the bits of its trials that may be acceptable. */
#ifndef OKADA_MOGI_KERNELS_FOUND_H
#define OKADA_MOGI_KERNELS_FOUND_H

#define FOUND_TALLIES 1024
#define FOUND_ITEMS   (1 + 2 * FOUND_TALLIES) /* where they begin */

#endif
