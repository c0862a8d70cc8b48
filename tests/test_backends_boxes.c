/* tests/test_backends_boxes.c – strided boxes of bytes: a back end writes, reads and copies them
 * like three nested loops, for any shape and pitch. */
#include "tests/backends.h"

enum { BOX_BYTES = 40000 };

/* Draws a box that fits into BOX_BYTES bytes on both sides and whose rows do not overlap. Slice
 * pitches need not be multiples of row pitches; slices may be interleaved or contiguous. */
static struct backend_rect draw_box(void)
{
    struct backend_rect r = {.width = 1 + draw(40), .rows = 1 + draw(7), .slices = 1 + draw(6)};
    size_t *row[] = {&r.dst_row, &r.src_row}, *slice[] = {&r.dst_slice, &r.src_slice};
    for (int side = 0; side < 2; side++) {
        *row[side] = r.width + (draw(2) ? draw(30) : 0);
        *slice[side] = *row[side] * r.rows + (draw(3) ? draw(50) : 0);
        if (draw(4) == 0) { /* interleaved: slices are closer together than rows */
            *slice[side] = r.width + draw(5);
            *row[side] = *slice[side] * r.slices + draw(9);
        }
    }
    r.dst_offset = draw(1000);
    r.src_offset = draw(1000);
    return r;
}

static void move_box(unsigned char *dst, const unsigned char *src, const struct backend_rect *r)
{
    for (size_t z = 0; z < r->slices; z++)
        for (size_t y = 0; y < r->rows; y++)
            for (size_t x = 0; x < r->width; x++)
                dst[r->dst_offset + z * r->dst_slice + y * r->dst_row + x] =
                    src[r->src_offset + z * r->src_slice + y * r->src_row + x];
}

struct boxes {
    unsigned char in[BOX_BYTES], out[BOX_BYTES], want[BOX_BYTES];
    struct backend_mem *from, *to;
};

static struct boxes *boxes_on(struct backend *b)
{
    struct boxes *x = malloc(sizeof *x);
    for (int i = 0; i < BOX_BYTES; i++) {
        x->in[i] = (unsigned char)draw(256);
        x->want[i] = x->out[i] = (unsigned char)draw(256);
    }
    x->from = alloc_on(b, BOX_BYTES);
    x->to = alloc_on(b, BOX_BYTES);
    put(b, x->from, x->in, BOX_BYTES);
    put(b, x->to, x->want, BOX_BYTES);
    return x;
}

static void free_boxes(struct backend *b, struct boxes *x)
{
    backend_free(b, x->from);
    backend_free(b, x->to);
    free(x);
}

static void boxes_are_written(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    struct boxes *x = boxes_on(b);
    for (int turn = 0; turn < 200; turn++) {
        struct backend_rect r = draw_box();
        move_box(x->want, x->in, &r);
        assert_int_equal(backend_write(b, BACKEND_COPY, x->to, x->in, &r), EK_OK);
        assert_int_equal(backend_wait(b, BACKEND_COPY), EK_OK);
    }
    get(b, x->out, x->to, BOX_BYTES);
    assert_memory_equal(x->out, x->want, BOX_BYTES);
    free_boxes(b, x);
}

static void boxes_are_read(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    struct boxes *x = boxes_on(b);
    for (int turn = 0; turn < 200; turn++) {
        struct backend_rect r = draw_box();
        move_box(x->want, x->in, &r);
        assert_int_equal(backend_read(b, BACKEND_COPY, x->out, x->from, &r), EK_OK);
    }
    assert_int_equal(backend_wait(b, BACKEND_COPY), EK_OK);
    assert_memory_equal(x->out, x->want, BOX_BYTES);
    free_boxes(b, x);
}

static void boxes_are_copied(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    struct boxes *x = boxes_on(b);
    for (int turn = 0; turn < 200; turn++) {
        struct backend_rect r = draw_box();
        move_box(x->want, x->in, &r);
        assert_int_equal(backend_within(b, BACKEND_COMPUTE, x->to, x->from, &r), EK_OK);
    }
    get(b, x->out, x->to, BOX_BYTES);
    assert_memory_equal(x->out, x->want, BOX_BYTES);
    free_boxes(b, x);
}

/* Within one buffer, from its first half to its second. */
static void boxes_are_copied_within_a_buffer(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    struct boxes *x = boxes_on(b);
    memcpy(x->want, x->in, BOX_BYTES);
    for (int turn = 0; turn < 200; turn++) {
        struct backend_rect r = draw_box();
        r.dst_offset += BOX_BYTES / 2;
        if (turn % 3 == 0) {
            r.dst_row = r.src_row;
            r.dst_slice = r.src_slice;
        }
        move_box(x->want, x->want, &r);
        assert_int_equal(backend_within(b, BACKEND_COMPUTE, x->from, x->from, &r), EK_OK);
    }
    get(b, x->out, x->from, BOX_BYTES);
    assert_memory_equal(x->out, x->want, BOX_BYTES);
    free_boxes(b, x);
}

static void empty_boxes_move_nothing(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    struct boxes *x = boxes_on(b);
    const struct backend_rect empty[] = {backend_linear(0, 0, 0),
                                         {.width = 8, .rows = 0, .slices = 3},
                                         {.width = 8, .rows = 3, .slices = 0}};
    for (int i = 0; i < LENGTH(empty); i++) {
        assert_int_equal(backend_write(b, BACKEND_COPY, x->to, x->in, &empty[i]), EK_OK);
        assert_int_equal(backend_within(b, BACKEND_COPY, x->to, x->from, &empty[i]), EK_OK);
        assert_int_equal(backend_read(b, BACKEND_COPY, x->out, x->to, &empty[i]), EK_OK);
    }
    assert_int_equal(backend_wait(b, BACKEND_COPY), EK_OK);
    assert_memory_equal(x->out, x->want, BOX_BYTES);
    free_boxes(b, x);
}

static void boxes_that_do_not_fit_are_refused(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    struct boxes *x = boxes_on(b);
    const struct backend_rect bad[] = {
        backend_linear(BOX_BYTES - 7, 0, 8),
        {.width = 8, .rows = 2, .slices = 1, .dst_row = BOX_BYTES - 7, .src_row = 8},
        {.width = 8, .rows = 2, .slices = 1, .dst_row = 4, .src_row = 8},
        {.width = 8, .rows = 2, .slices = 1, .dst_row = 8, .src_row = 0},
        backend_linear(SIZE_MAX - 3, 0, 8),
        {.width = 8, .rows = 3, .slices = 1, .dst_row = SIZE_MAX / 2 + 1, .src_row = 8},
        {.width = SIZE_MAX / 2 + 1,
         .rows = 2,
         .slices = 1,
         .dst_row = SIZE_MAX / 2 + 1,
         .src_row = SIZE_MAX / 2 + 1},
    };
    for (int i = 0; i < LENGTH(bad); i++) {
        ASSERT_FAILS(EK_USAGE, backend_write(b, BACKEND_COPY, x->to, x->in, &bad[i]), b->label);
        ASSERT_FAILS(EK_USAGE, backend_within(b, BACKEND_COPY, x->to, x->from, &bad[i]), b->label);
    }
    get(b, x->out, x->to, BOX_BYTES);
    assert_memory_equal(x->out, x->want, BOX_BYTES);
    free_boxes(b, x);
}

/* Whether a byte of a side belongs to two rows of a box. */
static bool overlaps(const struct backend_rect *r, size_t row, size_t slice)
{
    unsigned char count[4096] = {0};
    for (size_t i = 0; i < r->rows * r->slices * r->width; i++) {
        const size_t line = i / r->width, y = line % r->rows, z = line / r->rows;
        if (count[y * row + z * slice + i % r->width]++)
            return true;
    }
    return false;
}

static void boxes_are_refused_where_rows_overlap(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    int refused = 0;
    for (int turn = 0; turn < 2000; turn++) {
        struct backend_rect flat, r = {.width = 1 + draw(9),
                                       .rows = 1 + draw(5),
                                       .slices = 1 + draw(5),
                                       .dst_row = draw(50),
                                       .dst_slice = draw(50),
                                       .src_row = draw(50),
                                       .src_slice = draw(50)};
        const bool bad =
            overlaps(&r, r.dst_row, r.dst_slice) || overlaps(&r, r.src_row, r.src_slice);
        status_mute(+1);
        assert_int_equal(backend_box(b->label, &r, SIZE_MAX, SIZE_MAX, &flat),
                         bad ? EK_USAGE : EK_OK);
        status_mute(-1);
        refused += bad;
    }
    assert_in_range(refused, 200, 1800);
}

static const struct law laws[] = {
    LAW(boxes_are_written),
    LAW(boxes_are_read),
    LAW(boxes_are_copied),
    LAW(boxes_are_copied_within_a_buffer),
    LAW(empty_boxes_move_nothing),
    LAW(boxes_that_do_not_fit_are_refused),
    LAW(boxes_are_refused_where_rows_overlap),
};

static int all_devices(void)
{
    return over_devices(laws, LENGTH(laws));
}

static int gpus(void)
{
    return over_devices_of("cuda", laws, LENGTH(laws)) + over_devices_of("hip", laws, LENGTH(laws));
}

int main(void)
{
    if (fakes())
        return in_process(NULL, gpus);
    return in_process(NULL, all_devices) + in_process("2", all_devices) + with_fakes("fakegpu");
}
