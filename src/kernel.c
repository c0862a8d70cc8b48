/* src/kernel.c – which work-item a thread of the host is running. */
#include "src/kernel.h"

_Thread_local int kernel_gid[3], kernel_lid[3], kernel_group[3];
