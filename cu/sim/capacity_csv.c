/* cu/sim/capacity_csv.c – the table of a capacity plan as CSV, both a result and the state from
 * which an interrupted plan resumes.
 *
 *    scenario,<type>,…,nodes,cores,devices,price,schedule,makespan_s,lower_bound_s,ratio,inputs */
#include "cu/sim/capacity.h"
#include "src/table.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

enum { FIELDS = CAPACITY_TYPES + 16, LINE = 4096 };

/* ---- writing ----------------------------------------------------------------------------------*/
static void put_text(FILE *out, const char *text)
{
    fprintf(out, strpbrk(text, ",\"") ? "\"%s\"," : "%s,", text);
}

static void put_head(const struct capacity *c, FILE *out)
{
    fputs("scenario,", out);
    for (int t = 0; t < c->machine->ntypes; t++)
        put_text(out, c->machine->node[t].name);
    fputs("nodes,cores,devices,price,schedule,makespan_s,lower_bound_s,ratio,inputs\n", out);
}

void capacity_csv_line(const struct capacity *c, FILE *out, size_t scenario, int schedule)
{
    int counts[CAPACITY_TYPES];
    uint64_t number = c->scenario[scenario];
    const struct capacity_cell *cell =
        &c->cell[scenario * (size_t)c->nschedules + (size_t)schedule];
    struct capacity_size size = capacity_size(c->machine, number);
    capacity_counts(c->machine, number, counts);
    fprintf(out, "%" PRIu64 ",", number);
    for (int t = 0; t < c->machine->ntypes; t++)
        fprintf(out, "%d,", counts[t]);
    fprintf(out, "%d,%d,%d,", size.nodes, size.cores, size.devices);
    if (c->machine->priced)
        fprintf(out, "%.12g", size.price);
    fputc(',', out);
    put_text(out, c->schedule[schedule]);
    fprintf(out, "%.12g,%.12g,%.6f,%016" PRIx64 "\n", cell->makespan, cell->bound,
            cell->makespan / cell->bound, c->inputs);
}

enum ek_status capacity_csv_save(const struct capacity *c, const char *path)
{
    struct file *f;
    TRY(file_create(path, &f));
    FILE *out = file_stream(f);
    put_head(c, out);
    for (size_t i = 0; i < c->nscenarios; i++)
        for (int p = 0; p < c->nschedules; p++)
            if (c->cell[i * (size_t)c->nschedules + (size_t)p].makespan > 0)
                capacity_csv_line(c, out, i, p);
    return file_finish(f);
}

/* ---- reading ----------------------------------------------------------------------------------*/
/* Splits a line at commas outside quotes; returns the number of fields. */
static int split(char *line, char **field)
{
    int n = 0;
    for (char *at = line; n < FIELDS;) {
        char end = *at == '"' ? '"' : ',';
        field[n++] = at += *at == '"';
        at += strcspn(at, end == '"' ? "\"" : ",");
        if (*at == '"')
            *at++ = '\0';
        if (*at != ',')
            break;
        *at++ = '\0';
    }
    return n;
}

static int find_schedule(const struct capacity *c, const char *name)
{
    for (int p = 0; p < c->nschedules; p++)
        if (!strcmp(c->schedule[p], name))
            return p;
    return -1;
}

static void take_line(struct capacity *c, char *line)
{
    char *field[FIELDS], inputs[17], *end;
    int first = 1 + c->machine->ntypes; /* nodes */
    struct capacity_cell cell;
    snprintf(inputs, sizeof inputs, "%016" PRIx64, c->inputs);
    if (split(line, field) != first + 9 || strcmp(field[first + 8], inputs))
        return;
    uint64_t scenario = strtoull(field[0], &end, 10);
    size_t at = capacity_find(c, scenario);
    int schedule = find_schedule(c, field[first + 4]);
    if (*end || at == c->nscenarios || schedule < 0 ||
        !table_parse(field[first + 5], &cell.makespan) ||
        !table_parse(field[first + 6], &cell.bound) || !(cell.makespan > 0) || isinf(cell.makespan))
        return;
    struct capacity_cell *place = &c->cell[at * (size_t)c->nschedules + (size_t)schedule];
    c->known += !(place->makespan > 0);
    *place = cell;
}

enum ek_status capacity_csv_load(struct capacity *c, const char *path)
{
    char line[LINE];
    struct stat found;
    if (stat(path, &found) ? errno == ENOENT : !S_ISREG(found.st_mode))
        return EK_OK; /* pipes and devices hold nothing to read */
    OWNED_STREAM FILE *in = fopen(path, "re");
    if (!in)
        FAIL(EK_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    while (fgets(line, sizeof line, in)) {
        size_t length = strlen(line);
        if (!length || line[length - 1] != '\n')
            continue; /* truncated */
        line[length - 1] = '\0';
        take_line(c, line);
    }
    return EK_OK;
}
