/* src/demand.h – reads numbers from JSON files and refuses senseless ones: the message names the
 * file, its line and the key, such as units[1].speed. */
#pragma once

#include "src/base.h"
#include <jansson.h>

/* What a number must satisfy. */
struct demand {
    double min, max;
    bool open, whole; /* open: min itself is excluded */
};

/* Reads and parses a whole file ("-" = standard input). JSON has no NaN, infinity or 1e999, but
 * programs write them: they are read as a value that is not a number, so that the reader can name
 * the key when it meets them. EK_USAGE: cannot be read, or is not JSON. New reference in *root.
 * `path` in all functions below is used for messages. */
enum ek_status demand_open(const char *path, json_t **root);

/* *x = the number. EK_USAGE: `value` is NULL, not a finite number, out of range or not whole. `key`
 * is its name. */
enum ek_status demand_number(const char *path, const char *key, const json_t *value,
                             const struct demand *d, double *x);
/* Member `name` of an object whose own key is `where` ("" for the root). */
enum ek_status demand_member(const char *path, const char *where, const json_t *object,
                             const char *name, const struct demand *d, double *x);
/* An optional member: *x keeps its value if it is absent. */
enum ek_status demand_optional(const char *path, const char *where, const json_t *object,
                               const char *name, const struct demand *d, double *x);

/* An optional member that is true or false. */
enum ek_status demand_flag(const char *path, const char *where, const json_t *object,
                           const char *name, bool *flag);

/* Checks that every member of the object is one of the n names, because a misspelt key would
 * silently leave a default in force. EK_USAGE names the unknown key and the nearest known one; also
 * if this is not an object. */
enum ek_status demand_keys(const char *path, const char *where, const json_t *object,
                           const char *const *names, int n);

/* The same with the names listed in the call. */
#define DEMAND_KEYS(path, where, object, ...)                                                      \
    demand_keys((path), (where), (object), (const char *const[]){__VA_ARGS__},                     \
                (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

/* "path:line" of a key, for messages; if the key is absent, of the object or list that should hold
 * it; just "path" if that is not a file. One buffer per thread, valid until the next call. */
const char *demand_at(const char *path, const char *key);

/* EK_USAGE "path:line: key must be what" unless `right`. */
enum ek_status demand_that(const char *path, bool right, const char *key, const char *what);
