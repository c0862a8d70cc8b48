/* backends/build_log.h – a kernel compiler's messages, in one line or complete. */
#pragma once

#include "src/status.h"

/* With CU_KERNEL_LOG=1, prints the log on stderr, unless it is empty or NULL. */
void build_log_print(const char *label, const char *log);

/* Fails with EK_USAGE and the log's most telling line, as "file:line: error: …" whatever the
 * compiler's own format; log may be NULL. */
enum ek_status build_log_fail(const char *label, const char *log);
