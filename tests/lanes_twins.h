/* tests/lanes_twins.h – compiled for every instruction level. */
#pragma once

/* How many operations on vectors of x[n] have other bits than lane by lane. */
int lanes_twins(const double *x, int n);
