/* src/demand.h – numbers that people and programs write into JSON files, and the refusal of those
 * that make no sense: the message names the file, its line and the key, as units[1].speed. */
#pragma once

#include "src/status.h"
#include <jansson.h>
#include <stdbool.h>

/* What a number must be. */
struct demand {
    double min, max;
    bool open, whole; /* open: min itself is not allowed */
};

/* Reads a whole file, "-" = standard input. JSON has no NaN, infinity or 1e999, but programs write
 * them: they are read as something that is no number, so that the reader meets them where it knows
 * the key. EK_USAGE: cannot be read, or is no JSON. New reference in *root. `path` is for messages
 * in all that follows. */
enum ek_status demand_open(const char *path, json_t **root);

/* *x = the number. EK_USAGE: `value` is NULL, no finite number, out of range or not whole; `key` is
 * its name. */
enum ek_status demand_number(const char *path, const char *key, const json_t *value,
                             const struct demand *d, double *x);
/* Member `name` of an object that is called `where` ("": the root). */
enum ek_status demand_member(const char *path, const char *where, const json_t *object,
                             const char *name, const struct demand *d, double *x);
/* One that need not be there: *x keeps its value then. */
enum ek_status demand_optional(const char *path, const char *where, const json_t *object,
                               const char *name, const struct demand *d, double *x);

/* A member that is true or false, where it is there. */
enum ek_status demand_flag(const char *path, const char *where, const json_t *object,
                           const char *name, bool *flag);

/* Every member of the object is one of the n names: a misspelt one would be a default in disguise.
 * EK_USAGE names it, and the nearest one that there is; also where it is no object. */
enum ek_status demand_keys(const char *path, const char *where, const json_t *object,
                           const char *const *names, int n);

/* The same for names in place. */
#define DEMAND_KEYS(path, where, object, ...)                                                      \
    demand_keys((path), (where), (object), (const char *const[]){__VA_ARGS__},                     \
                (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

/* "path:line" of a key, for messages about it: of the object or list that it should be in, where it
 * is not there; "path" alone where that is no file. One per thread, until the next call. */
const char *demand_at(const char *path, const char *key);

/* EK_USAGE "path:line: key must be what" unless `right`. */
enum ek_status demand_that(const char *path, bool right, const char *key, const char *what);
