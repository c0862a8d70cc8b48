/* src/clock.h – the one clock of all measurements. */
#ifndef SRC_CLOCK_H
#define SRC_CLOCK_H

/* Seconds since an arbitrary moment, monotonic, resolution of nanoseconds. Any thread. */
double clock_now(void);

/* Seconds of a cpu that the calling thread has used. */
double clock_cpu(void);

#endif
