/* src/opt.h – option tables: one table drives the parser (getopt_long()), the environment
 * variables, --help and, through --help, the man page. */
#ifndef SRC_OPT_H
#define SRC_OPT_H

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum opt_type {
    OPT_FLAG, /* bool; no argument */
    OPT_INT,  /* int, within [min, max] */
    OPT_REAL, /* double, within [min, max] */
    OPT_TEXT, /* const char *, borrowed from argv or the environment */
    OPT_FILE, /* the same, an input file: protected from being overwritten, see file_input() */
    OPT_NAME, /* int: index in `names` */
};

/* One option. A table ends with OPT_END. */
struct opt {
    const char *name; /* long name, without dashes */
    enum opt_type type;
    size_t offset;            /* of the value in the struct that the table fills */
    const char *arg;          /* the argument's name in --help, NULL for a flag */
    const char *help;         /* one line, lower case, with unit and default */
    const char *env;          /* variable used if the option is not given; or NULL */
    double min, max;          /* OPT_INT, OPT_REAL; both 0 = no bounds */
    bool optional;            /* OPT_TEXT: "--name" alone stores "" */
    const char *const *names; /* OPT_NAME: the allowed words, then NULL */
    bool rare;                /* rarely needed: listed only by "--help all" */
};

#define OPT_END                                                                                    \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* A titled table and the struct that it fills. */
struct opt_group {
    const char *title;       /* heading in --help */
    const struct opt *table; /* borrowed */
    void *values;            /* struct that the offsets refer to; holds the defaults */
};

/* Fills the values of `ngroups` groups from the environment, then from argv (an option beats its
 * variable). Positional arguments go to args[0..*nargs-1] if nargs is not NULL (room for argc);
 * otherwise they are an error. EK_USAGE: unknown option (the nearest one is suggested), missing or
 * malformed argument, out of bounds. One thread. */
enum ek_status opt_parse(const struct opt_group *groups, int ngroups, int argc, char **argv,
                         const char **args, int *nargs);

/* Fills `values` from "chunk=4,learn=2"; `what` names the owner in errors. EK_USAGE as above. */
enum ek_status opt_parse_list(const struct opt *table, void *values, const char *what,
                              const char *list);

/* Cuts the white space around a text, in place; returns its first other character. */
char *opt_trim(char *text);

/* Prints words within 80 columns; lines after the first begin with `indent` blanks. */
void opt_wrap(FILE *out, int indent, const char *text);

/* Prints the groups as --help does; with `all`, rare options too. Returns how many were omitted. */
int opt_help(FILE *out, const struct opt_group *groups, int ngroups, bool all);

/* *at = index of `text` among n names, the first of which is *name and each next one `stride` bytes
 * further: an array of names, or of structs that begin with one. EK_USAGE: "<what>: 'text' is not
 * one of a, b, c". */
enum ek_status opt_choose(const char *what, const char *text, const char *const *name,
                          size_t stride, int n, int *at);

/* " (did you mean 'x'?)" or "" for the nearest name; static buffer per thread. */
const char *opt_suggest(const char *word, const char *const *names, int n);

/* Reads all of `text` as an integer in [min, max] or as a finite number; false if it is not one. */
bool opt_integer(const char *text, long min, long max, long *value);
bool opt_number(const char *text, double *value);

#endif
