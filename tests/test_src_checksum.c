/* tests/test_src_checksum.c – sums do not depend on how bytes are split into calls, and are bound
 * to a name. */
#include "src/checksum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmocka.h>

enum { SIZE = 3000 };
static unsigned char data[SIZE];

static void cuts_do_not_matter(void **state)
{
    const uint64_t whole = checksum_of("x", data, SIZE);
    for (size_t cut = 0; cut <= SIZE; cut += 1 + cut / 7) {
        struct checksum c;
        checksum_begin(&c, "x");
        checksum_add(&c, data, cut);
        checksum_end(&c); /* changes nothing */
        checksum_add(&c, NULL, 0);
        checksum_add(&c, data + cut, SIZE - cut);
        assert_true(checksum_end(&c) == whole);
    }
}

static void every_bit_counts(void **state)
{
    const uint64_t whole = checksum_of("x", data, SIZE);
    for (size_t i = 0; i < SIZE; i += 1 + (size_t)(i % 61)) {
        data[i] ^= (unsigned char)(1 << i % 8);
        assert_true(checksum_of("x", data, SIZE) != whole);
        data[i] ^= (unsigned char)(1 << i % 8);
    }
    assert_true(checksum_of("x", data, SIZE - 1) != whole);
    assert_true(checksum_of("y", data, SIZE) != whole);
    assert_true(checksum_of("", data, 0) != checksum_of("", data, 1));
}

static void texts_end_where_they_end(void **state)
{
    struct checksum a, b;
    char left[33], right[33];
    checksum_begin(&a, "x");
    checksum_begin(&b, "x");
    checksum_add_text(&a, "ab");
    checksum_add_text(&a, "c");
    checksum_add_text(&b, "a");
    checksum_add_text(&b, "bc");
    checksum_hex(&a, left);
    checksum_hex(&b, right);
    assert_int_equal(strlen(left), 32);
    assert_string_not_equal(left, right);
}

/* A single block takes another path through xxHash's code. */
static void the_sum_is_that_of_xxhash(void **state)
{
    char hex[33], wanted[33], bytes[2 + SIZE] = "x";
    memcpy(bytes + 2, data, SIZE);
    for (size_t n = 0; n <= SIZE; n += 1 + n / 3) {
        struct checksum c;
        const XXH128_hash_t sum = XXH3_128bits(bytes, 2 + n);
        snprintf(wanted, sizeof wanted, "%016llx%016llx", (unsigned long long)sum.high64,
                 (unsigned long long)sum.low64);
        checksum_begin(&c, "x");
        checksum_add(&c, data, n);
        checksum_hex(&c, hex);
        assert_string_equal(hex, wanted);
    }
}

int main(void)
{
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 11);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(texts_end_where_they_end),
        cmocka_unit_test(the_sum_is_that_of_xxhash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
