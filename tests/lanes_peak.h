/* tests/lanes_peak.h – compiled for every instruction level. */
#ifndef TESTS_LANES_PEAK_H
#define TESTS_LANES_PEAK_H

/* Fused multiply-adds a second of this core, counted in doubles. */
double lanes_peak(void);

#endif
