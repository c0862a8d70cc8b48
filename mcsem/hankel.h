/* mcsem/hankel.h – digital filters for Hankel transforms, computed from first principles.
 *
 *   f(r) = int_0^inf K(l) J_nu(l r) dl,  nu = 0, 1
 *
 * With x = l r = e^u this is a convolution in u. K is represented by its samples at u_n = n step
 * through a cardinal function whose spectrum falls smoothly (an error function of width `width`)
 * around the Nyquist frequency,
 *   phi^(t) = 1/4 erfc((t - pi) / width) erfc((-t - pi) / width),  t = s step,
 * and the spectrum of J_nu is known: int J_nu(x) x^is dx = 2^is G((1+nu+is)/2) / G((1+nu-is)/2). So
 * the weights are an inverse Fourier transform,
 *   w(u) = step / 2 pi int phi^(s step) e^-isu 2^is G(..)/G(..) ds,   f(r) = 1/r sum_n w(u_n) K_n.
 * Where x J_nu(x) varies much more slowly than the window allows, it is w(u) / step itself.
 * Kernels of layered media are analytic for |arg l| < pi/4, so their spectra fall like e^(-pi s/4):
 * the error is about e^(-pi^2 / (4 step)), and 129 points achieve what least-squares filters need
 * 201 for. There are no samples at x < x_first: there K/l is extrapolated by a cubic through the
 * first samples, which is folded into their weights.
 *
 * w(u) is known for every u, so a filter can be used on any grid of wavenumbers with its step, and
 * one set of kernel values serves every offset. */
#pragma once

#include "src/base.h"

enum {
    HANKEL_FILTERS = 6,          /* from coarse to fine */
    HANKEL_LOW = HANKEL_FILTERS, /* two of them without extrapolation, for comparison */
    HANKEL_LOW_FINE,
    HANKEL_DESIGNS,
    HANKEL_POINTS = 512, /* largest number of points of a filter */
    HANKEL_SHIFTS = 14, /* terms of a Chebyshev series: enough for half a period of J at the Nyquist
                           frequency */
    HANKEL_LADDER = 2 * HANKEL_POINTS, /* wavenumbers of several shifted copies of a filter */
    HANKEL_NUMBERS =
        HANKEL_LADDER + 2 * HANKEL_SHIFTS * HANKEL_POINTS /* doubles of a filter, at most */
};

struct hankel {
    double step; /* of ln x */
    int first;   /* point n stands at x = exp((first + n) step + shift), 0 <= shift < step */
    int n;
    double
        *ladder; /* [HANKEL_LADDER] x without a shift, continued beyond the points; followed by */
    double *series; /* [order nu][power][n] the weights as Chebyshev series in hankel_place() */
};

/* The position of a shift within its range, mapped to -1 .. 1. */
static inline double hankel_place(const struct hankel *h, double shift)
{
    return 2 * shift / h->step - 1;
}

/* Filter `which`, 0 .. HANKEL_DESIGNS-1; computed on first use, then shared for the life of the
 * process. EK_UNAVAILABLE: memory. Any thread. */
enum ek_status hankel_open(int which, const struct hankel **filter);

/* Weights [n] of both orders for points shifted by `shift`. Any thread. */
void hankel_weights(const struct hankel *filter, double shift, double *w0, double *w1);
