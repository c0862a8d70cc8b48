/* src/json.h – additions to Jansson that every program needs. */
#ifndef SRC_JSON_H
#define SRC_JSON_H

#include "src/file.h"
#include <jansson.h>

/* Writes `root` (borrowed) indented, numbers with up to 15 digits; the file is replaced as in
 * file_create(). A NULL root means that memory ran out: EK_UNAVAILABLE. */
enum ek_status json_write(const char *path, const json_t *root);
/* With 17 digits, which keep every bit: for files that are read again. */
enum ek_status json_write_exact(const char *path, const json_t *root);

/* Member `key` of an object as a number; 0 if it is not one. */
double json_number_of(const json_t *o, const char *key);

/* A number, or null if it is not finite (JSON has no NaN). New reference. */
json_t *json_number_or_null(double x);
/* Lists of n such numbers, and of integers. New references. */
json_t *json_numbers(const double *x, size_t n);
json_t *json_integers(const int *x, size_t n);

#endif
