/* cu/bench/report.h – one self-contained HTML page per run or comparison. */
#pragma once

#include "src/json.h"

/* Writes the page for `result` (an object as result_json() makes it, or {"runs": […]}) and the
 * trace's events (may be NULL: no charts over time). It holds its data and scripts: opens offline.
 * `part`: an embedded text that stands first in the page, which draws from `view`: the script finds
 * it as data.view once the page is loaded; both NULL: there is none. EK_UNAVAILABLE: file not
 * writable, out of memory. */
enum ek_status report_write(const char *path, const char *title, const json_t *result,
                            const json_t *events, const char *part, const json_t *view);
