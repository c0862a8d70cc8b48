/* kirchhoff/read_geometry.c – reads source and receiver positions from a table, as --headers
 * writes it. */
#include "kirchhoff/segy_internal.h"
#include "src/file.h"
#include "src/table.h"
#include "src/sort.h"

enum { TRACE, SX, SY, GX, GY, NEEDED, SZ = NEEDED, GZ, COLUMNS };

/* Columns may have their unit in the name: sx or sx_m. */
static enum ek_status find_columns(const struct table *t, int column[COLUMNS])
{
    static const char *const names[] = {"trace", "sx", "sy", "gx", "gy", "sz", "gz"};
    for (int c = 0; c < COLUMNS; c++) {
        char unit[16];
        snprintf(unit, sizeof unit, "%s_m", names[c]);
        column[c] = table_find(t, names[c]);
        if (column[c] < 0)
            column[c] = table_find(t, unit);
        if (column[c] < 0 && c < NEEDED)
            return table_need(t, names[c], &column[c]);
    }
    return EK_OK;
}

/* The live trace with this number in the file, or NULL. */
static struct segy_trace *find_trace(const struct segy *s, double number)
{
    size_t low = 0, high = s->n;
    SORT_BISECT(low, high, (double)s->trace[middle].number < number)
    return low < s->n && (double)s->trace[low].number == number ? &s->trace[low] : NULL;
}

static enum ek_status read_row(const struct table *t, size_t row, const int column[COLUMNS],
                               const struct segy *s, bool *seen)
{
    double x[COLUMNS] = {0};
    for (int c = 0; c < COLUMNS; c++)
        if (column[c] >= 0)
            TRY(table_number(t, row, column[c], &x[c]));
    struct segy_trace *trace = find_trace(s, x[TRACE]);
    if (!trace)
        return EK_OK; /* a dead trace, or one of another part of the survey */
    if (seen[trace - s->trace])
        FAIL(EK_USAGE, "%s:%zu: a second row for trace %g", t->path, t->line[row], x[TRACE]);
    seen[trace - s->trace] = true;
    trace->sx = x[SX];
    trace->sy = x[SY];
    trace->gx = x[GX];
    trace->gy = x[GY];
    trace->sz = column[SZ] >= 0 ? x[SZ] : trace->sz;
    trace->gz = column[GZ] >= 0 ? x[GZ] : trace->gz;
    return EK_OK;
}

enum ek_status segy_take_geometry(struct segy *s, const char *path)
{
    OWNED(owned_table_close) struct table *t = NULL;
    int column[COLUMNS];
    file_input(path);
    TRY(table_open(path, NULL, &t));
    OWNED_MEMORY NEW(bool, seen, s->n, "%s: out of memory", path);
    TRY(find_columns(t, column));
    for (size_t row = 0; row < t->nrows; row++)
        TRY(read_row(t, row, column, s, seen));
    for (size_t i = 0; i < s->n; i++)
        if (!seen[i])
            FAIL(EK_USAGE, "%s: has no row for trace %ld of %s", path, s->trace[i].number, s->path);
    s->offsets = s->odd_offset = 0; /* the headers' offsets belong to the headers' positions */
    return EK_OK;
}
