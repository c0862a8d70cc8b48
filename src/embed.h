/* src/embed.h – texts embedded in the binary, found by repository path: src/kernel.h and every
 * <program>/kernels/<thing>.[ch], the pages <folder>/<thing>.html, and Chart.js as chart.min.js if
 * it is installed. The Makefile generates the tables. */
#ifndef SRC_EMBED_H
#define SRC_EMBED_H

#include <stddef.h>

struct embed_text {
    const char *path; /* "npb_mz/kernels/bt.c" */
    const char *text; /* NUL-terminated */
    size_t size;      /* bytes without the NUL */
};

/* A kernel that is also compiled by the host compiler, as an oracle for tests. */
struct embed_host_kernel {
    const char *name;
    void (*call)(void); /* call it through libffi with the kernel's own arguments */
};

extern const struct embed_text embed_texts[];               /* ends with path NULL */
extern const struct embed_host_kernel embed_host_kernels[]; /* ends with name NULL */

/* The text embedded as `path`, or NULL. Any thread. */
const struct embed_text *embed_find(const char *path);

/* Joins kernel.h and the texts at paths[0..n-1] into one string, with #line directives so that
 * compilers name the real file. A line #include "path" is replaced by the embedded text of that
 * path; each text appears once. Caller frees. NULL: out of memory, or a path that is not embedded.
 */
char *embed_join(const char *const *paths, int n);

/* The same for a text that is not embedded: kernel.h, whatever embedded texts it includes, and
 * `text`, which compilers call `name`. */
char *embed_source(const char *name, const char *text);

/* Registers host-compiled kernels of such texts for the back end `host`, in place of those
 * registered before; the list ends with name NULL and is borrowed. One thread, before devices are
 * opened. */
void embed_host_add(const struct embed_host_kernel *kernels);
/* The kernel of this name, embedded or added; NULL if there is none. Any thread. */
const struct embed_host_kernel *embed_host_find(const char *name);

#endif
