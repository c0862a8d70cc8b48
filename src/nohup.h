/* src/nohup.h – whether the program was started with nohup. */
#pragma once

#include "src/base.h"

/* Whether SIGHUP was ignored when the process began, even if a library has changed that since. */
bool nohup_given(void);
