/* backends/build_log.h – a kernel compiler's messages, in one line or complete. */
#pragma once

#include "src/status.h"

/* A copy of the log in which places of the whole text, as "<kernel>:98:14", are those of the files
 * that its #line directives name, as "npb_mz/kernels/bt.c:7:14": some compilers ignore these. The
 * caller frees it. NULL: there is no log, or no memory. */
char *build_log_place(const char *log, const char *text);

/* With CU_KERNEL_LOG=1, prints the log on stderr, unless it is empty or NULL. */
void build_log_print(const char *label, const char *log);

/* Fails with the log's most telling line, as "file:line: error: …" whatever the compiler's own
 * format; log may be NULL. EK_USAGE; EK_UNAVAILABLE if the log has no error in the text. */
enum ek_status build_log_fail(const char *label, const char *log);
