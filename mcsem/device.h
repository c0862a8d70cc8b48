/* mcsem/device.h – exact mode on a device: many pairs at once, with the same bits as on the host.
 *
 * The host describes the geometry of the pairs (pair_outline()); the device computes their weights,
 * and a work-item of kernels/exact.c sums one strand of wavenumbers of one pair at one frequency.
 * J'W^2 J can be formed there too: then only fields come back, and the data's weights are sent.
 * Several calls may be in progress, each in its own slot. Call on the leading thread of the
 * device's unit. */
#pragma once

#include "backends/backend.h"
#include "mcsem/forward.h"

struct device;
struct thread_pool; /* cu/team/thread_pool.h */

/* Pairs that see the same layers. */
struct device_share {
    struct earth_layers layers;
    const struct survey_pair *pair; /* [n] */
    size_t n;
    int filter;
    bool fields; /* compute no derivatives, whatever the call asks for */
};
/* Limits: shares of a call, shares that are squared, calls in progress. */
enum { DEVICE_SHARES = 600, DEVICE_SQUARES = 85, DEVICE_SLOTS = 3 };

/* How a pair counts at one frequency; members in the order of EXACT_RE … in
 * kernels/exact_plan.h. */
struct device_weight {
    double re, im, has_re, has_im, residual_re, residual_im, loop; /* loop: pair_loop_factor() */
};

/* For earths of up to `layers` layers and up to nfreq frequencies; `pairs` is about the number of
 * pairs in all, `width` the number of host threads that prepare them. EK_UNAVAILABLE: no double
 * precision, too little memory for a single pair. close accepts NULL. */
enum ek_status mcsem_device_open(struct backend *backend, int layers, int nfreq, size_t pairs,
                                 int width, struct device **device);
void mcsem_device_close(struct device *device);

/* Number of pairs that fills the device; a call may have up to twice as many. */
size_t mcsem_device_batch(const struct device *device);

/* What its back end says of it. */
const struct backend_info *mcsem_device_info(const struct device *device);

/* Sets the threads that prepare pairs; NULL: the calling thread alone. */
void mcsem_device_feed(struct device *device, struct thread_pool *pool);

/* Starts on the pairs of all shares, whose earths must have the same number of layers. The shares
 * are borrowed until the call has ended; the slot's former contents are lost. EK_USAGE: as
 * pair_make(); EK_LOST: the device failed. */
enum ek_status mcsem_device_begin(struct device *device, int slot, const struct device_share *share,
                                  int shares, int nfreq, const double *freq,
                                  enum forward_derivatives derivatives);
/* Waits for the slot's fields [pairs][nfreq]. */
enum ek_status mcsem_device_fields(struct device *device, int slot, double complex *field);

/* The sums [n][nfreq][1 + layers] of n of the slot's pairs from `first` on, as mcsem_device_pairs()
 * computes them (none of E of magnetic dipoles), once the fields are there. */
enum ek_status mcsem_device_sums(struct device *device, int slot, size_t first, size_t n,
                                 double complex *sum);

/* Starts on J'W^2 J of the first `shares` shares, and of as many spans of pairs that tables serve,
 * table [shares], each share's followed by the span's. weight [pairs][nfreq] (borrowed until the
 * result is fetched) are those of the shares, then of all pairs that tables serve. This overwrites
 * the slot's sums. mcsem_device_squares() waits for the lower
 * triangles, row by row as in cell.h, [shares][columns (columns + 1) / 2], where the columns are
 * the field and the sediments. Only one square at a time. */
struct device_span {
    size_t first, n; /* first: among all that tables serve */
};
enum ek_status mcsem_device_square(struct device *device, int slot, int shares,
                                   const struct device_span *table,
                                   const struct device_weight *weight);
enum ek_status mcsem_device_squares(struct device *device, double *triangle);

/* ---- device_tables.c: shared mode ----
 *
 * A call may end with pairs that are read from tables (tables.h): their sums and fields follow
 * those of all shares. */

/* Gets ready for calls of tables up to these limits; *ready = false: there is no memory for them.
 */
struct tables_limits;
enum ek_status mcsem_device_open_tables(struct device *device, const struct tables_limits *most,
                                        bool *ready);
/* Before the device is closed; accepts NULL. */
void mcsem_device_close_tables(struct device *device);
/* Adds the tables of the call just begun in this slot, over the earths of its first shares. The
 * tables are borrowed until the call has ended. */
struct tables;
enum ek_status mcsem_device_tables(struct device *device, int slot, const struct tables *tables);
/* Waits for shared_parts() of these pairs, [pairs][nfreq][2] = parts, size. */
enum ek_status mcsem_device_parts(struct device *device, int slot, double *parts);
/* Replaces the sums of one of them by those of pair `from` of slot `other`, which are ready. */
enum ek_status mcsem_device_replace(struct device *device, int slot, size_t pair, int other,
                                    size_t from);

/* Waits until the device is idle; all slots are then empty. */
enum ek_status mcsem_device_wait(struct device *device);

/* One complete call, in the last slot, that returns all sums [pairs][nfreq][1 + layers]: the field,
 * then its derivatives (0 if not asked for), as forward_pair() computes them. */
enum ek_status mcsem_device_pairs(struct device *device, const struct device_share *share,
                                  int shares, int nfreq, const double *freq,
                                  enum forward_derivatives derivatives, double complex *sum);
