/* npb_mz/field.c – small fields come from the heap, large ones are mappings of their own. */
#include "npb_mz/field.h"

#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 8, LEAD = LINE - 1 + LINE, TAIL = 16 }; /* doubles */

/* The heap refuses more than the machine could hold if all of it were touched. A mapping without
 * reserve may span the zones of a thousand nodes, of which this one touches a few. */
static const size_t LARGE = (size_t)64 << 20;

static void *map(size_t bytes)
{
    void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return m == MAP_FAILED ? NULL : m;
}

double *field_alloc(size_t n, struct field *field)
{
    const size_t doubles = n + LEAD + TAIL + LINE, bytes = doubles * sizeof(double);
    field->mapped = bytes < LARGE ? 0 : bytes;
    double *m = field->memory = field->mapped ? map(bytes) : calloc(doubles, sizeof *m);
    return m ? m + LINE - (uintptr_t)m / sizeof *m % LINE + LEAD : NULL;
}

void field_free(struct field *field)
{
    if (field->memory && field->mapped)
        munmap(field->memory, field->mapped);
    else
        free(field->memory);
    *field = (struct field){.memory = NULL};
}

void field_release(double *at, size_t n)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)at + page - 1) / page * page;
    const uintptr_t end = (uintptr_t)(at + n) / page * page;
    if (begin < end)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
}
