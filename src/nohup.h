/* src/nohup.h – whether the program was started to outlive its terminal. */
#pragma once

#include <stdbool.h>

/* SIGHUP was ignored when the process began, as nohup has it, whatever a library has made of it. */
bool nohup_given(void);
