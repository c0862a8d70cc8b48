/* src/table.h – tables of numbers in text files: rows of cells, columns found by name.
 *
 * A line is a row; empty lines and lines that begin with # or > are skipped. Cells are separated by
 * semicolons if the first row has one, else by commas if it has one, else by blanks. The first row
 * names the columns, unless the caller does. Blanks and quotes around a cell, a byte-order mark and
 * carriage returns are dropped. */
#pragma once

#include "src/base.h"

struct table {
    const char *path;    /* for messages; borrowed */
    int ncolumns;        /* of every row */
    const char **column; /* [ncolumns] names, in the file's order */
    size_t nrows;
    const char **cell; /* [nrows][ncolumns] texts, "" for empty cells */
    size_t *line;      /* [nrows] line in the file, from 1 */
    bool text_last;    /* the last column is the rest of the line, possibly empty */
    char *preface;     /* the lines at the start that begin with #, or "" */
    char *text, *names;
};

/* Reads the whole file ("-" = standard input). `names`: the columns' names, separated by blanks or
 * commas, for a file without a row of names (one with other names is skipped with a warning); an
 * asterisk at the end sets text_last. NULL: the first row has the names. EK_USAGE with file and
 * line: a row with more or fewer cells than columns, two columns of one name, numbers where names
 * should be, no columns at all, a file that cannot be opened; EK_UNAVAILABLE: a read error or out
 * of memory. The caller owns *t; close accepts NULL. Any thread. */
enum ek_status table_open(const char *path, const char *names, struct table **t);
void table_close(struct table *t);
OWNED_POINTER(struct table, table_close)

/* Index of the column called `name`, -1 if there is none. */
int table_find(const struct table *t, const char *name);
/* The same for a required column: EK_USAGE names the file and the nearest column. */
enum ek_status table_need(const struct table *t, const char *name, int *column);

/* The cell as a number. EK_USAGE with file, line and column: it is not a finite number. */
enum ek_status table_number(const struct table *t, size_t row, int column, double *x);
/* The same for a value that may be missing: an empty cell, "-", "NA" and any spelling of NaN give
 * NAN. */
enum ek_status table_optional(const struct table *t, size_t row, int column, double *x);
/* The cell's text; lives as long as the table. */
const char *table_text(const struct table *t, size_t row, int column);

/* Whether a cell holds anything but blanks and zero. */
bool table_says(const struct table *t, size_t row, int column);
/* Warns in one line about columns for which unused(arg) is true and that hold anything but zeros.
 */
void table_warn_unused(const struct table *t, bool (*unused)(const void *arg, int column),
                       const void *arg);

/* Reads all of `text` as a number, exactly like strtod() but faster, and -0 as 0; false if it is
 * not a number. Infinities and NaN are accepted. */
bool table_parse(const char *text, double *x);
