/* backends/backend_box.c – boxes of memory and room for it: what back ends and their callers share.
 */
#include "backends/backend.h"

#include <string.h>

enum ek_status backend_no_room(const char *label, const struct backend_info *info, size_t bytes,
                               size_t most, size_t used)
{
    const bool refused = bytes <= most;
    FAIL(EK_UNAVAILABLE,
         "%s: %.1f MB of device memory asked for, %s%.1f MB %s (%.1f of %.1f MB used, at most %.1f "
         "MB in one piece): use a smaller problem or more devices",
         label, 1e-6 * (double)bytes, refused ? "refused by the driver though " : "",
         1e-6 * (double)most, refused ? "are free" : "can be had", 1e-6 * (double)used,
         1e-6 * (double)info->memory, 1e-6 * (double)info->max_alloc);
}

struct backend_rect backend_linear(size_t dst_offset, size_t src_offset, size_t bytes)
{
    return (struct backend_rect){
        .width = bytes, .rows = 1, .slices = 1, .dst_offset = dst_offset, .src_offset = src_offset};
}

static struct backend_rect flatten(struct backend_rect r)
{
    if (!r.width || !r.rows || !r.slices)
        return backend_linear(r.dst_offset, r.src_offset, 0);
    while (r.rows > 1 || r.slices > 1) {
        const bool touching = r.dst_row == r.width && r.src_row == r.width;
        size_t joined;
        if ((r.rows > 1 && !touching) || __builtin_mul_overflow(r.width, r.rows, &joined))
            break;
        r.width = joined;
        r.rows = r.slices;
        r.dst_row = r.dst_slice;
        r.src_row = r.src_slice;
        r.slices = 1;
    }
    return r;
}

/* *end = bytes from the start of a side to the end of a flattened box; false: beyond size_t. */
static bool find_end(const struct backend_rect *r, size_t offset, size_t row, size_t slice,
                     size_t *end)
{
    size_t y, z;
    return !__builtin_mul_overflow(r->rows - 1, row, &y) &&
           !__builtin_mul_overflow(r->slices - 1, slice, &z) && !__builtin_add_overflow(y, z, &y) &&
           !__builtin_add_overflow(y, r->width, &y) && !__builtin_add_overflow(y, offset, end);
}

/* Whether rows of a side overlap, all of whose bytes have numbers that fit into size_t. */
static bool overlaps(const struct backend_rect *r, size_t row, size_t slice)
{
    const size_t y = r->rows - 1, z = r->slices - 1;
    if ((y && row < r->width) || (z && slice < r->width))
        return true;
    if (slice >= y * row + r->width || row >= z * slice + r->width)
        return false;
    for (size_t i = 1; i <= z; i++) { /* the row of the first slice that begins before slice i */
        const size_t before = i * slice / row, gap = i * slice % row;
        if ((before <= y && gap < r->width) || (before < y && row - gap < r->width))
            return true;
    }
    return false;
}

enum ek_status backend_box(const char *label, const struct backend_rect *box, size_t dst_bytes,
                           size_t src_bytes, struct backend_rect *flat)
{
    const struct backend_rect r = flatten(*box);
    size_t dst_end = 0, src_end = 0;
    if (r.width && (!find_end(&r, r.dst_offset, r.dst_row, r.dst_slice, &dst_end) ||
                    !find_end(&r, r.src_offset, r.src_row, r.src_slice, &src_end)))
        FAIL(EK_USAGE, "%s: a copy reaches beyond the end of memory", label);
    if (r.width && (overlaps(&r, r.dst_row, r.dst_slice) || overlaps(&r, r.src_row, r.src_slice)))
        FAIL(EK_USAGE, "%s: rows of %zu bytes overlap in a copy", label, r.width);
    if (dst_end > dst_bytes || src_end > src_bytes)
        FAIL(EK_USAGE, "%s: a copy reaches byte %zu of a buffer of %zu", label,
             dst_end > dst_bytes ? dst_end : src_end, dst_end > dst_bytes ? dst_bytes : src_bytes);
    *flat = r;
    return EK_OK;
}

void backend_move(void *dst, const void *src, const struct backend_rect *r)
{
    for (size_t z = 0; z < r->slices; z++)
        for (size_t y = 0; y < r->rows; y++)
            memcpy((char *)dst + r->dst_offset + z * r->dst_slice + y * r->dst_row,
                   (const char *)src + r->src_offset + z * r->src_slice + y * r->src_row, r->width);
}
