/* backends/build_log.h – what a kernel compiler said, in one line or whole. */
#pragma once

#include "src/status.h"

/* With CU_KERNEL_LOG=1, prints the log on stderr, unless it is empty or NULL. */
void build_log_print(const char *label, const char *log);

/* Fails with EK_USAGE and the line of the log that says what is wrong, as "file:line: error: …"
 * whatever the compiler's own way of writing it; log NULL: it said nothing. */
enum ek_status build_log_fail(const char *label, const char *log);
