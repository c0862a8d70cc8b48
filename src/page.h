/* src/page.h – self-contained HTML pages: an embedded template, its data and the chart library. */
#pragma once

#include "src/json.h"

/* Writes the embedded template (such as "cu/bench/report.html") to `path`. Replaces @HEAD@ by the
 * common head (head.html), @TITLE@ by the title, @DATA@ by the data as JSON, @PROGRAM@ by the
 * embedded text `part` (NULL: nothing) and @CHART@ by Chart.js, embedded at build time from the
 * distribution. The page works offline. EK_UNAVAILABLE: the binary was built without Chart.js, the
 * file cannot be written, out of memory. */
enum ek_status page_write(const char *path, const char *template, const char *title,
                          const char *part, const json_t *data);
