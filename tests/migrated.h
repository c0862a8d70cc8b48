/* tests/migrated.h – migrates all chunks on the calling thread. */
#pragma once

#include "kirchhoff/migrate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* The caller closes the result. */
static inline struct migrate *migrated(const struct migrate_options *o)
{
    struct migrate *m;
    struct migrate_worker *w;
    assert_int_equal(migrate_open(o, &m), EK_OK);
    assert_int_equal(migrate_worker_open(m, 1, &w), EK_OK);
    for (size_t c = 0; c < m->survey->nchunks; c++)
        assert_int_equal(migrate_chunk(w, NULL, c), EK_OK);
    migrate_worker_close(w);
    return m;
}
