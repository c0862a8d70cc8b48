/* cu/bench/report.h – one self-contained HTML page per run or comparison. */
#pragma once

#include "src/json.h"

/* Writes the page for `result` (as made by result_json()) and the trace's events (NULL: no charts
 * over time). It contains its data and scripts, so it opens offline. part, view: the program's
 * embedded text at the top of the page, and the data that its script finds as data.view; both or
 * none. EK_UNAVAILABLE: file not writable, out of memory. */
enum ek_status report_write(const char *path, const char *title, const json_t *result,
                            const json_t *events, const char *part, const json_t *view);
