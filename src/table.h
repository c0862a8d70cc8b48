/* src/table.h – tables of numbers in text files: rows of cells, columns found by name.
 *
 * A line is a row; empty lines and lines that begin with # or > are none. Cells are separated by
 * semicolons where the first row has one, else by commas where it has one, else by blanks. The
 * first row names the columns, unless the caller does. Blanks around a cell, quotes around it, a
 * byte-order mark and carriage returns do not belong to it. */
#pragma once

#include "src/status.h"
#include "src/owned.h"
#include <stdbool.h>
#include <stddef.h>

struct table {
    const char *path;    /* for messages; borrowed */
    int ncolumns;        /* of every row */
    const char **column; /* [ncolumns] names, in the file's order */
    size_t nrows;
    const char **cell; /* [nrows][ncolumns] texts, "" where nothing stands */
    size_t *line;      /* [nrows] line in the file, from 1 */
    bool text_last;    /* the last column is all that is left of a line, or nothing */
    char *preface;     /* the lines in front that begin with #, "" where there are none */
    char *text, *names;
};

/* Reads the whole file ("-" = standard input). `names`: the columns' names, separated by blanks or
 * commas, for a file whose first row is data already, or has other names, which a warning tells;
 * an asterisk at the end: text_last. NULL: the first row has them. EK_USAGE with file and line: a
 * row with more or fewer cells than columns, two columns of one name, numbers where names should
 * be, no columns at all, a file that cannot be opened; EK_UNAVAILABLE: reading fails, out of
 * memory. The caller owns *t; close accepts NULL. Any thread. */
enum ek_status table_open(const char *path, const char *names, struct table **t);
void table_close(struct table *t);
OWNED_POINTER(struct table, table_close)

/* The column called `name`, -1 if there is none. */
int table_find(const struct table *t, const char *name);
/* The same where it must be there: EK_USAGE names the file and the nearest column. */
enum ek_status table_need(const struct table *t, const char *name, int *column);

/* The cell's number. EK_USAGE with file, line and column: it is none, or not a finite one. */
enum ek_status table_number(const struct table *t, size_t row, int column, double *x);
/* The same where a value may be missing: an empty cell, "-" and any spelling of NaN give NAN. */
enum ek_status table_optional(const struct table *t, size_t row, int column, double *x);
/* The cell's text; lives as long as the table. */
const char *table_text(const struct table *t, size_t row, int column);

/* Whether a cell holds anything but blanks and zero. */
bool table_says(const struct table *t, size_t row, int column);
/* Warns, in one line, of the columns that unused(arg) and that hold anything but zeros. */
void table_warn_unused(const struct table *t, bool (*unused)(const void *arg, int column),
                       const void *arg);

/* All of `text` as a number, exactly as strtod() reads it, only faster, and -0 as 0; false if it is
 * none. Infinities and NaN are numbers here. */
bool table_parse(const char *text, double *x);
