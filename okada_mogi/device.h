/* okada_mogi/device.h – buffers and launches of a search on a device; for device*.c
 * only. */
#pragma once

#include "okada_mogi/search_method.h"

enum { SEARCH_BUFFERS = 8 };

/* A buffer that grows as it is needed. */
struct search_buffer {
    struct backend_mem *mem;
    size_t bytes;
};

struct search_device {
    const struct search *search;
    struct backend *backend;
    struct backend_program *program;
    /* They finish what the device leaves: the first is the leader's, into which all is gathered. */
    struct search_worker **worker; /* [width] */
    enum ek_status *status;        /* [width] of what each judged */
    int width;
    struct thread_pool *pool;
    struct search_buffer buffer[SEARCH_BUFFERS];
    void *own;  /* search_device_axes' or search_device_join's */
    long least; /* places at least that a launch looks at, if there are so many; tests take few */
};

/* Makes room for so many bytes; what was in the buffer is lost if it grows. */
enum ek_status search_device_room(struct search_device *d, int buffer, size_t bytes);
/* Makes room and copies from the host. */
enum ek_status search_device_write(struct search_device *d, int buffer, const void *from,
                                   size_t bytes);
enum ek_status search_device_build(struct search_device *d, const char *text, const char *kernel);

/* judge(d, thread, i) for i = 0 .. n-1, divided among the threads that feed the device, by the
 * worker of each; what they accept is the leader's worker's. EK_STOPPED: it is more than that may
 * hold; then it holds what comes first. */
enum ek_status search_device_judge(struct search_device *d, size_t n,
                                   enum ek_status (*judge)(struct search_device *d, int thread,
                                                           size_t i));

/* Trials or geometries by their axes: search_device_axes.c. */
enum ek_status search_device_axes_open(struct search_device *d);
void search_device_axes_close(struct search_device *d);
enum ek_status search_device_axes_run(void *device);

/* Joins: search_device_join.c. */
enum ek_status search_device_join_open(struct search_device *d);
void search_device_join_close(struct search_device *d);
enum ek_status search_device_join_run(void *device);
