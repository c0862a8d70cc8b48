/* cu/moldable/moldable_swf.c – reads traces in the Standard Workload Format (Feitelson et al.):
 * lines of 18 numbers, comments after ';'. Field 1 is the job's number, 4 its run time in s, 5 and
 * 8 the processors that it had and requested; -1 means unknown. */
#include "cu/moldable/moldable.h"
#include "src/file.h"

#include <errno.h>

enum { JOB = 0, RUN_TIME = 3, PROCESSORS = 4, REQUESTED = 7, FIELDS = 18 };

/* Numbers on the line; -1: it also has something else. */
static int read_fields(const char *line, double field[FIELDS])
{
    int n = 0;
    for (char *end;; line = end, n++) {
        const double x = strtod(line, &end);
        if (end == line)
            return line[strspn(line, " \t")] ? -1 : n;
        if (n < FIELDS)
            field[n] = x;
    }
}

static double processors(const double *field)
{
    return field[PROCESSORS] > 0 ? field[PROCESSORS] : field[REQUESTED];
}

static enum ek_status add_job(struct moldable_problem *p, const double *field, int cores,
                              double scale)
{
    const double had = processors(field);
    char name[32];
    snprintf(name, sizeof name, "job%.0f", field[JOB]);
    const int wanted = had < 1e6 ? (int)ceil(had) : 1000000;
    const struct moldable_kind kind = {.name = name,
                                       .law = {.c = field[RUN_TIME] * scale},
                                       .cluster = wanted > cores,
                                       .least = wanted,
                                       .most = wanted <= cores ? wanted : wanted + cores - 1};
    return moldable_add_tasks(p, &kind, 1);
}

enum ek_status moldable_read_swf(struct moldable_problem *p, const char *path, int cores,
                                 double scale)
{
    OWNED_MEMORY char *line = NULL;
    size_t room = 0;
    double field[FIELDS];
    int left_out = 0;
    file_input(path);
    OWNED_STREAM FILE *f = fopen(path, "re");
    if (!f)
        return file_not_opened(path, errno);
    for (int number = 1; getline(&line, &room, f) >= 0; number++) {
        if (number == 1 && !strncmp(line, "\xEF\xBB\xBF", 3)) /* a byte order mark */
            memset(line, ' ', 3);
        line[strcspn(line, ";\r\n")] = 0;
        if (!line[strspn(line, " \t")])
            continue;
        const int n = read_fields(line, field);
        if (n < 0)
            FAIL(EK_USAGE, "%s:%d: a job has %d numbers and nothing else", path, number, FIELDS);
        if (n != FIELDS)
            FAIL(EK_USAGE, "%s:%d: a job has %d numbers, this line %d", path, number, FIELDS, n);
        if (field[RUN_TIME] > 0 && processors(field) > 0)
            TRY(add_job(p, field, cores, scale));
        else
            left_out++;
    }
    if (left_out)
        status_warn("%s: jobs that never ran or whose processors are unknown, left out: %d", path,
                    left_out);
    return EK_OK;
}
