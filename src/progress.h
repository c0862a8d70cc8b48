/* src/progress.h – a progress line with rate and ETA on stderr, if stderr is a terminal. */
#pragma once

#include "src/base.h"

/* Turns all progress lines of this process off (--quiet). One thread, at start. */
void progress_quiet(bool quiet);

/* Starts a line "label  37 %  x unit/s  ETA 00:12". total = number of unit that make 100 %. */
void progress_begin(const char *label, double total, const char *unit);

/* Reports `done` units in total; redraws at most ten times a second. One thread. */
void progress_at(double done);

/* Erases the line. */
void progress_end(void);
