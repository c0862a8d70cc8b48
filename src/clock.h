/* src/clock.h – the one clock of all measurements. */
#pragma once

/* Seconds since an arbitrary moment, monotonic, resolution of nanoseconds. Any thread. */
double clock_now(void);

/* Seconds of a cpu that the calling thread has used. */
double clock_cpu(void);
