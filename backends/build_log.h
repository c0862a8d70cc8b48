/* backends/build_log.h – a kernel compiler's messages, in one line or complete. */
#pragma once

#include "src/status.h"

/* With CU_KERNEL_LOG=1, prints the log on stderr, unless it is empty or NULL. */
void build_log_print(const char *label, const char *log);

/* Fails with the log's most telling line, as "file:line: error: …" whatever the compiler's own
 * format; log may be NULL. EK_USAGE; EK_UNAVAILABLE if the log has no error in the text. */
enum ek_status build_log_fail(const char *label, const char *log);
