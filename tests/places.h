/* tests/places.h – random numbers for places, and lists of places as text. */
#pragma once

#include "cu/unit/place.h"
#include "cu/unit/topology.h"
#include "src/random.h"

#include <stdint.h>
#include <stdio.h>

static inline unsigned any_below(unsigned n)
{
    static uint64_t state = 20241;
    return (unsigned)random_below(&state, n);
}

/* "0-1 2-3 14" */
static inline const char *as_text(const struct place_list *list)
{
    static char text[4096];
    int at = 0;
    text[0] = 0;
    for (int i = 0; i < list->n; i++) {
        char cpus[512];
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s", i ? " " : "",
                       topology_list(list->cpus[i], cpus, sizeof cpus));
    }
    return text;
}
