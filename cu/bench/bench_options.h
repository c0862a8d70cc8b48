/* cu/bench/bench_options.h – the options common to all programs. */
#pragma once

#include "cu/bench/bench.h"

/* Texts are borrowed from argv or the environment, NULL = not given. */
struct bench_settings {
    const char *help; /* NULL: not given; "all"; or any other text */
    bool version, list_schedules, list_devices, quiet, check, strict, display_env;
    const char *layout, *devices, *isa, *schedule, *compare, *json, *trace, *report, *profile;
    int repeat;
    double tune; /* seconds for --layout auto */
};

/* Reads the program's options into `st` and the common ones into *set. Sets *done if an option
 * asked only to print something, which is done. EK_USAGE as for opt_parse(). One thread. */
enum ek_status bench_options_read(const struct bench_program *program, void *st, int argc,
                                  char **argv, struct bench_settings *set, bool *done);
