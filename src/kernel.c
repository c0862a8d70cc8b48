/* src/kernel.c – the work-item that each host thread is running. */
#include "src/kernel.h"

_Thread_local int kernel_gid[3], kernel_lid[3], kernel_group[3];
