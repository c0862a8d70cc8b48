/* okada_mogi/device.h – buffers, launches and judging of a search on a device; for device*.c only.
 */
#pragma once

#include "okada_mogi/search_method.h"

enum { SEARCH_BUFFERS = 10 };

/* A buffer that grows on demand. */
struct search_buffer {
    struct backend_mem *mem;
    size_t bytes;
};

struct search_device {
    const struct search *search;
    struct backend *backend;
    struct backend_program *program;
    /* The workers of the threads that feed the device and judge what it reports; the first is the
     * leader's, which collects all results. */
    struct search_worker **worker; /* [width] */
    enum ek_status *status;        /* [width] of each thread's judging */
    int width;
    struct thread_pool *pool;
    struct search_buffer buffer[SEARCH_BUFFERS];
    const struct search_device_ops *ops;
    void *own; /* their state */
    long part; /* least places in a launch, except the last; most answers to a launch of queries;
                * tests take few */
};

/* Makes room for this many bytes; a buffer that grows loses its contents. */
enum ek_status search_device_room(struct search_device *d, int buffer, size_t bytes);
/* Makes room and copies from the host. */
enum ek_status search_device_write(struct search_device *d, int buffer, const void *from,
                                   size_t bytes);
enum ek_status search_device_build(struct search_device *d, const char *text, const char *kernel);

/* Waits for `event`, then until the list in `buffer` is here: `head` ints, of which the first is
 * the number of entries, and two ints for each. With more than `most` entries, or too few to fill
 * the first copy, that copy is all. */
enum { SEARCH_SOON = 1024 }; /* entries fetched before their number is known */
enum ek_status search_device_found(struct search_device *d, int event, int buffer, int head,
                                   int most, int *found);

/* Calls judge(d, thread, i) for i = 0 .. n-1, divided among the threads that feed the device, each
 * with its own worker; then moves accepted trials to the leader's worker. EK_STOPPED: there are
 * more than that may hold; it then holds the first ones. */
enum ek_status search_device_judge(struct search_device *d, size_t n,
                                   enum ek_status (*judge)(struct search_device *d, int thread,
                                                           size_t i));

/* What a device does: it tests trials or geometries, given by their axes; or the queries of a join.
 */
struct search_device_ops {
    enum ek_status (*open)(struct search_device *d); /* makes d->own */
    void (*close)(struct search_device *d);
    enum ek_status (*run)(void *device);
};
extern const struct search_device_ops search_device_axes, search_device_join;
