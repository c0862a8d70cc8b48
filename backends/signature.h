/* backends/signature.h – what arguments a kernel takes, read from its KERNEL() line: neither a C
 * call nor a GPU driver tells wrong arguments from right ones. */
#ifndef BACKENDS_SIGNATURE_H
#define BACKENDS_SIGNATURE_H

#include "backends/backend.h"

enum { SIGNATURE_ARGS = 64 };

struct signature {
    char name[64];
    int nargs;
    enum backend_type type[SIGNATURE_ARGS];
};

/* Finds the line "KERNEL(name, x, y, z)" in the text and reads the list behind it. EK_USAGE: there
 * is none. `label` is the device, for messages. */
enum ek_status signature_read(const char *label, const char *text, const char *name,
                              struct signature *);

/* EK_USAGE: not as many arguments, or not of the types, that the kernel takes. */
enum ek_status signature_check(const char *label, const struct signature *, int nargs,
                               const struct backend_arg *args);

#endif
