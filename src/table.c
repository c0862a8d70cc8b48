/* src/table.c – one pass splits the text into cells; numbers are parsed on request. */
#include "src/table.h"
#include "src/file.h"
#include "src/opt.h"

#include <ctype.h>
#include <strings.h>

enum { MOST_COLUMNS = 4096 };

/* ---- lines and cells --------------------------------------------------------------------------*/

/* Cuts the next row off the rest and counts lines; NULL at the end. */
static char *next_row(char **rest, size_t *line)
{
    while (*rest && **rest) {
        char *row = *rest, *end = strchr(row, '\n');
        *rest = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        ++*line;
        row += strspn(row, " \t\r");
        if (*row && *row != '#' && *row != '>')
            return row;
    }
    return NULL;
}

static char separator_of(const char *row)
{
    return strchr(row, ';') ? ';' : strchr(row, ',') ? ',' : ' ';
}

/* Strips blanks and quotes at both ends. */
static char *trimmed(char *cell)
{
    cell += strspn(cell, " \t");
    size_t n = strlen(cell);
    while (n && isspace((unsigned char)cell[n - 1]))
        cell[--n] = '\0';
    if (n > 1 && cell[0] == '"' && cell[n - 1] == '"') {
        cell[n - 1] = '\0';
        cell++;
    }
    return cell;
}

/* Splits a row into at most `room` cells; returns how many there are. With `text`, the last cell is
 * the rest of the line, possibly empty. */
static int cut(char *row, char separator, const char **cell, int room, bool text)
{
    int n = 0;
    while (row) {
        char *end = NULL;
        if (text && n == room - 1) {
            row += strspn(row, " \t\r");
        } else if (separator != ' ') {
            end = strchr(row, separator);
        } else {
            row += strspn(row, " \t\r");
            if (!*row)
                break;
            end = row + strcspn(row, " \t\r");
            end = *end ? end : NULL;
        }
        if (end)
            *end++ = '\0';
        if (n < room)
            cell[n] = trimmed(row);
        n++;
        row = end;
    }
    if (text && n == room - 1)
        cell[n++] = "";
    return n;
}

static bool missing(const char *cell)
{
    return !*cell || !strcmp(cell, "-") || !strcasecmp(cell, "nan") || !strcasecmp(cell, "na");
}

static enum ek_status name_columns(struct table *t, char *row, char separator, size_t line)
{
    const char *name[MOST_COLUMNS];
    int n = cut(row, separator, name, MOST_COLUMNS, false), numbers = 0;
    double x;
    if (n < 1 || n > MOST_COLUMNS)
        FAIL(EK_USAGE, "%s:%zu: %d columns; a table has 1 to %d", t->path, line, n, MOST_COLUMNS);
    for (int i = 0; i < n; i++) {
        numbers += table_parse(name[i], &x);
        for (int j = 0; j < i; j++)
            if (*name[i] && !strcmp(name[i], name[j]))
                FAIL(EK_USAGE, "%s:%zu: two columns are called '%s'", t->path, line, name[i]);
    }
    if (2 * numbers > n)
        FAIL(EK_USAGE, "%s:%zu: numbers where the columns' names are expected", t->path, line);
    t->column = malloc((size_t)n * sizeof *t->column);
    if (!t->column)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %d columns", t->path, n);
    memcpy(t->column, name, (size_t)n * sizeof *name);
    t->ncolumns = n;
    return EK_OK;
}

static enum ek_status cut_rows(struct table *t, char *row, char *rest, char separator, size_t line)
{
    const size_t bytes = (size_t)t->ncolumns * sizeof *t->cell;
    size_t rows = 0, lines = 0; /* capacities */
    for (; row; row = next_row(&rest, &line)) {
        TRY(arena_grow(&t->cell, &rows, t->nrows, bytes, "rows"));
        TRY(arena_grow(&t->line, &lines, t->nrows, sizeof *t->line, "rows"));
        const char **cell = t->cell + t->nrows * (size_t)t->ncolumns;
        int n = cut(row, separator, cell, t->ncolumns, t->text_last);
        if (n != t->ncolumns)
            FAIL(EK_USAGE, "%s:%zu: %d cells where there are %d columns", t->path, line, n,
                 t->ncolumns);
        t->line[t->nrows++] = line;
    }
    return EK_OK;
}

/* Whether some cell of the row is a number. */
static bool has_number(const char *row)
{
    const char *const between = " \t\r,;";
    char cell[64];
    double x;
    for (row += strspn(row, between); *row; row += strspn(row, between)) {
        const size_t n = strcspn(row, between);
        snprintf(cell, sizeof cell, "%.*s", (int)n, row);
        if (table_parse(cell, &x))
            return true;
        row += n;
    }
    return false;
}

/* Copies the lines at the start that begin with #. */
static enum ek_status keep_preface(struct table *t)
{
    const char *end = t->text;
    while (*end == '#') {
        end += strcspn(end, "\n");
        end += *end == '\n';
    }
    t->preface = strndup(t->text, (size_t)(end - t->text));
    if (!t->preface)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", t->path);
    return EK_OK;
}

static enum ek_status fill(struct table *t, const char *names)
{
    TRY(file_read_text(t->path, &t->text));
    char *rest = t->text;
    size_t line = 0;
    TRY(keep_preface(t));
    char *row = next_row(&rest, &line);
    if (!row)
        FAIL(EK_USAGE, "%s: no rows in it", t->path);
    const char separator = separator_of(row);
    if (!names) {
        TRY(name_columns(t, row, separator, line));
        row = next_row(&rest, &line);
    } else {
        t->names = strdup(names);
        if (!t->names)
            FAIL(EK_UNAVAILABLE, "%s: out of memory", t->path);
        const size_t n = strlen(names);
        t->text_last = n && names[n - 1] == '*';
        t->names[n - t->text_last] = '\0';
        TRY(name_columns(t, t->names, separator_of(names), 0));
        if (!has_number(row)) {
            status_warn("%s:%zu: not read: names; the columns are %s", t->path, line, names);
            row = next_row(&rest, &line);
        }
    }
    return cut_rows(t, row, rest, separator, line);
}

enum ek_status table_open(const char *path, const char *names, struct table **t)
{
    NEW(struct table, made, 1, "%s: out of memory", path);
    made->path = path;
    enum ek_status st = fill(made, names);
    return HAND_OUT(st, made, t, table_close);
}

void table_close(struct table *t)
{
    if (!t)
        return;
    free(t->column);
    free(t->cell);
    free(t->line);
    free(t->text);
    free(t->preface);
    free(t->names);
    free(t);
}

/* ---- columns and cells ------------------------------------------------------------------------*/

int table_find(const struct table *t, const char *name)
{
    for (int c = 0; c < t->ncolumns; c++)
        if (!strcmp(t->column[c], name))
            return c;
    return -1;
}

enum ek_status table_need(const struct table *t, const char *name, int *column)
{
    int found = table_find(t, name);
    if (found < 0)
        FAIL(EK_USAGE, "%s: no column '%s'%s", t->path, name,
             opt_suggest(name, t->column, t->ncolumns));
    *column = found;
    return EK_OK;
}

const char *table_text(const struct table *t, size_t row, int column)
{
    return t->cell[row * (size_t)t->ncolumns + (size_t)column];
}

bool table_says(const struct table *t, size_t row, int column)
{
    double x;
    const char *text = table_text(t, row, column);
    return *text && !(table_parse(text, &x) && x == 0);
}

void table_warn_unused(const struct table *t, bool (*unused)(const void *arg, int column),
                       const void *arg)
{
    char list[512] = "";
    for (int c = 0; c < t->ncolumns; c++) {
        const size_t used = strlen(list);
        size_t row = 0;
        while (row < t->nrows && !table_says(t, row, c))
            row++;
        if (row < t->nrows && unused(arg, c))
            snprintf(list + used, sizeof list - used, "%s'%s'", used ? ", " : "", t->column[c]);
    }
    if (*list)
        status_warn("%s: not used: %s", t->path, list);
}

enum ek_status table_number(const struct table *t, size_t row, int column, double *x)
{
    const char *cell = table_text(t, row, column);
    double value;
    if (!table_parse(cell, &value) || !isfinite(value))
        FAIL(EK_USAGE, "%s:%zu: %s is '%s', not a finite number", t->path, t->line[row],
             t->column[column], cell);
    *x = value;
    return EK_OK;
}

enum ek_status table_optional(const struct table *t, size_t row, int column, double *x)
{
    if (!missing(table_text(t, row, column)))
        return table_number(t, row, column, x);
    *x = NAN;
    return EK_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------*/

/* Reads digits with at most one point among them; false if their value exceeds 2^53. */
static bool read_digits(const char **text, uint64_t *digits, int *scale)
{
    const char *c = *text;
    bool point = false;
    int n = 0;
    *digits = 0;
    *scale = 0;
    for (;; c++) {
        if (*c == '.' && !point) {
            point = true;
            continue;
        }
        if (*c < '0' || *c > '9')
            break;
        *digits = 10 * *digits + (uint64_t)(*c - '0');
        *scale -= point;
        if (++n > 18)
            return false;
    }
    *text = c;
    return n > 0 && *digits <= (uint64_t)1 << 53;
}

/* Integers up to 2^53 and powers up to 10^22 are exact, so one operation rounds once, as strtod()
 * does (Clinger 1990). */
static bool parse_short(const char *text, double *x)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bool negative = *text == '-';
    uint64_t digits;
    int scale;
    text += *text == '-' || *text == '+';
    if (!read_digits(&text, &digits, &scale))
        return false;
    if (*text == 'e' || *text == 'E') {
        long e;
        if (isspace((unsigned char)text[1]) || !opt_integer(text + 1, -400, 400, &e))
            return false;
        scale += (int)e;
    } else if (*text) {
        return false;
    }
    if (scale < -22 || scale > 22)
        return false;
    const double value = scale < 0 ? (double)digits / power[-scale] : (double)digits * power[scale];
    *x = negative ? -value : value;
    return true;
}

bool table_parse(const char *text, double *x)
{
    if (!parse_short(text, x)) {
        char *end;
        const double value = strtod(text, &end);
        if (end == text || *end)
            return false;
        *x = value;
    }
    *x += 0.0; /* turns -0 into 0: positions are compared bytewise */
    return true;
}
