/* mcsem/device.h – exact mode on a device: many pairs at once, with the host's bits.
 *
 * The host plans the pairs (pair.h); a work-item of kernels/exact.c takes one strand of wavenumbers
 * of one pair at one frequency. All calls on the device's thread. */
#pragma once

#include "backends/backend.h"
#include "mcsem/forward.h"

struct device;

/* Pairs over one earth. */
struct device_share {
    struct earth_layers layers;
    const struct survey_pair *pair; /* [n] */
    size_t n;
    int filter;
};
enum { DEVICE_SHARES = 256 }; /* of a call, at most */

/* For earths of up to `layers` layers, up to nfreq frequencies and not many more pairs in all than
 * `pairs`. EK_UNAVAILABLE: no double precision, too little memory for a single pair. close accepts
 * NULL. */
enum ek_status mcsem_device_open(struct backend *backend, int layers, int nfreq, size_t pairs,
                                 struct device **device);
void mcsem_device_close(struct device *device);

/* Pairs that a call should have at most: some launches' worth. */
size_t mcsem_device_batch(const struct device *device);

/* As forward_pair() for the pairs of all shares, whose earths have equally many layers: sum
 * [pairs][nfreq][1 + layers], the field and then its derivatives (0 without). EK_USAGE: as
 * pair_make(); EK_LOST: the device failed. */
enum ek_status mcsem_device_pairs(struct device *device, const struct device_share *share,
                                  int shares, int nfreq, const double *freq,
                                  enum forward_derivatives derivatives, double complex *sum);

/* The same in two parts: what is begun goes on until end(), and shares and sum are the device's. A
 * call that is still under way is ended by the next one; end() without any does nothing. */
enum ek_status mcsem_device_begin(struct device *device, const struct device_share *share,
                                  int shares, int nfreq, const double *freq,
                                  enum forward_derivatives derivatives, double complex *sum);
enum ek_status mcsem_device_end(struct device *device);
