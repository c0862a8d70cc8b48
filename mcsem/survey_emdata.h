/* mcsem/survey_emdata.h – surveys as MARE2DEM data files (emdata.h).
 *
 * A pair is a transmitter, a receiver and one of its channels; a datum joins the two numbers that
 * the file has of it: real and imaginary part, or amplitude (or its decimal logarithm) and phase.
 * Its sigma is the root mean square of the standard errors of both, those of amplitude A and phase
 * p being (dA, A dp) or (A ln 10 dlogA, A dp). B becomes H = B / mu0. Numbers without their
 * partner, axes of polarisation ellipses and other methods' data are left out and counted in a
 * warning. Receivers are points, whatever their length; that is said. Errors of 0 stand for those
 * of `noise`, where its relative part is given. */
#ifndef MCSEM_SURVEY_EMDATA_H
#define MCSEM_SURVEY_EMDATA_H

#include "mcsem/earth_list.h"
#include "mcsem/survey.h"

/* Reads and checks a survey. Adds to *list what comments "! earth …" and "! sea …" say; where there
 * is no such comment, a grid of columns 500 m apart below all midpoints. EK_USAGE with file and
 * line; EK_UNAVAILABLE. Caller closes. */
enum ek_status survey_emdata_read(const char *path, const struct survey_noise *noise,
                                  struct survey **survey, struct earth_list *list);

/* Writes a survey as EMData_2.2 (real and imaginary parts, phases lead), its starting earth, flat
 * and with layers alike, as comments. EK_UNAVAILABLE: the file cannot be written. */
enum ek_status survey_emdata_write(const char *path, const struct survey *survey,
                                   const struct earth *earth);

#endif
