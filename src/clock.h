/* src/clock.h – the clock used by every measurement. */
#pragma once

/* Monotonic time since an arbitrary moment, seconds, nanosecond resolution. Any thread. */
double clock_now(void);

/* CPU time used by the calling thread, seconds. */
double clock_cpu(void);
