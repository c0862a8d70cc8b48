/* mcsem/device.h – exact mode on a device: many pairs at once, with the host's bits.
 *
 * The host outlines the pairs (pair.h); the device makes plans of that, a work-item of
 * kernels/exact.c takes one strand of wavenumbers of one pair at one frequency. What J'W^2 J needs
 * can stay there: only fields come back, and how they are to be weighed goes there. Several calls
 * may be under way, each in a slot of its own. All calls on the leading thread of the device's
 * unit. */
#pragma once

#include "backends/backend.h"
#include "mcsem/forward.h"

struct device;
struct thread_pool; /* cu/team/thread_pool.h */

/* Pairs over one earth. */
struct device_share {
    struct earth_layers layers;
    const struct survey_pair *pair; /* [n] */
    size_t n;
    int filter;
    bool fields; /* no derivatives of these, whatever the call is told */
};
/* Shares of a call, those of them that are squared, at most; calls under way. */
enum { DEVICE_SHARES = 512, DEVICE_SQUARES = 85, DEVICE_SLOTS = 3 };

/* How a pair counts at one frequency, as EXACT_RE … of kernels/exact_plan.h. */
struct device_weight {
    double re, im, has_re, has_im, miss_re, miss_im, turn; /* turn: pair_turn() */
};

/* For earths of up to `layers` layers, up to nfreq frequencies and not many more pairs in all than
 * `pairs`, which `width` threads of the host outline. EK_UNAVAILABLE: no double precision, too
 * little memory for a single pair. close accepts NULL. */
enum ek_status mcsem_device_open(struct backend *backend, int layers, int nfreq, size_t pairs,
                                 int width, struct device **device);
void mcsem_device_close(struct device *device);

/* Pairs that a call should have, as many as fill the device; it may have twice as many. */
size_t mcsem_device_batch(const struct device *device);

/* These threads do so from now on; NULL: the calling thread alone. */
void mcsem_device_feed(struct device *device, struct thread_pool *pool);

/* Begins with the pairs of all shares, whose earths have equally many layers and which are the
 * device's until the call has ended; what was in the slot is over. EK_USAGE: as pair_make();
 * EK_LOST: the device failed. */
enum ek_status mcsem_device_begin(struct device *device, int slot, const struct device_share *share,
                                  int shares, int nfreq, const double *freq,
                                  enum forward_derivatives derivatives);
/* Waits for the slot's fields [pairs][nfreq]. */
enum ek_status mcsem_device_fields(struct device *device, int slot, double complex *field);

/* Begins with J'W^2 J of the first `shares` shares, weighed so, weight [pairs][nfreq] (the device's
 * until they are fetched), after which the slot holds no sums; and waits for them, lower triangles
 * row by row as in cell.h, [shares][columns (columns + 1) / 2], columns the field and the
 * sediments. One slot at a time. */
enum ek_status mcsem_device_square(struct device *device, int slot, int shares,
                                   const struct device_weight *weight);
enum ek_status mcsem_device_squares(struct device *device, int slot, double *triangle);

/* Waits for all that is under way, so that no slot holds anything. */
enum ek_status mcsem_device_settle(struct device *device);

/* One call from beginning to end, in the last slot, for all sums [pairs][nfreq][1 + layers], the
 * field and then its derivatives (0 without), as forward_pair() has them. */
enum ek_status mcsem_device_pairs(struct device *device, const struct device_share *share,
                                  int shares, int nfreq, const double *freq,
                                  enum forward_derivatives derivatives, double complex *sum);
