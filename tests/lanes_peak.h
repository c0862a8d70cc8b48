/* tests/lanes_peak.h – compiled for every instruction level. */
#pragma once

/* Fused multiply-adds a second of this core, counted in doubles. */
double lanes_peak(void);
