/* cu/bench/paje.h – traces for the tools that read Paje (ViTE, pajeng, those of StarPU and
 * SimGrid). */
#pragma once

#include "src/json.h"
#include "src/status.h"
#include <stdbool.h>

/* The name asks for this format: it ends in .paje. */
bool paje_wanted(const char *path);

/* Writes what trace_events() has. EK_UNAVAILABLE: nothing can be written there. */
enum ek_status paje_write(const char *path, const json_t *events);
