/* mcsem/emdata.c – reads the file block by block, row by row. */
#include "mcsem/emdata.h"
#include "mcsem/survey_columns.h"
#include "src/file.h"
#include "src/opt.h"
#include "src/table.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>
#include <sys/types.h>

enum { MOST_WORDS = 16, METHOD = 100 }; /* data types from METHOD on belong to other methods */

struct reader {
    struct emdata *to;
    FILE *in;
    char *text;
    size_t room, line;
    char *word[MOST_WORDS]; /* words of the current row */
    int nwords;
};

/* ---- lines ----------------------------------------------------------------------------------- */

/* Keeps a comment that describes the earth. */
static enum ek_status read_comment(struct reader *r, char *comment)
{
    char **to = NULL;
    comment = opt_trim(comment);
    if (!strncmp(comment, "earth ", 6))
        to = &r->to->earth;
    else if (!strncmp(comment, "sea ", 4))
        to = &r->to->sea;
    else if (!strncmp(comment, "seabed ", 7))
        to = &r->to->floor;
    if (!to)
        return EK_OK;
    *to = arena_text(&r->to->arena, opt_trim(strchr(comment, ' ')));
    return arena_check(&r->to->arena, "a comment of %s", r->to->path);
}

/* The next line that is not empty, without its comment; NULL at the end of the file. */
static enum ek_status next_line(struct reader *r, char **line)
{
    while (getline(&r->text, &r->room, r->in) >= 0) {
        r->line++;
        char *comment = r->text + strcspn(r->text, "!%");
        if (*comment) {
            *comment++ = '\0';
            TRY(read_comment(r, comment));
        }
        *line = opt_trim(r->text);
        if (**line)
            return EK_OK;
    }
    *line = NULL;
    if (ferror(r->in))
        FAIL(EK_UNAVAILABLE, "%s:%zu: cannot be read: %s", r->to->path, r->line, strerror(errno));
    return EK_OK;
}

/* Reads the next row and splits it into words. */
static enum ek_status next_row(struct reader *r, const char *block, size_t i, size_t n)
{
    char *line, *rest;
    do
        TRY(next_line(r, &line));
    while (line && r->to->version < 2 && *line == '#' && !strchr(line, ':')); /* column headings */
    if (!line)
        FAIL(EK_USAGE, "%s:%zu: cut short: row %zu of %zu of '%s' is missing", r->to->path, r->line,
             i + 1, n, block);
    r->nwords = 0;
    for (char *w = strtok_r(line, " \t,", &rest); w && r->nwords < MOST_WORDS;
         w = strtok_r(NULL, " \t,", &rest))
        r->word[r->nwords++] = w;
    return EK_OK;
}

/* table_parse(), and Fortran's exponents, 1.5D-13. */
static bool parse(char *word, double *x)
{
    if (table_parse(word, x))
        return true;
    char *exponent = strpbrk(word, "dD"), was;
    if (!exponent)
        return false;
    was = *exponent;
    *exponent = 'e';
    const bool number = table_parse(word, x);
    *exponent = number ? 'e' : was;
    return number;
}

/* Parses the row's first n words as finite numbers. */
static enum ek_status numbers(const struct reader *r, const char *what, int n, double *x)
{
    if (r->nwords < n)
        FAIL(EK_USAGE, "%s:%zu: a %s needs at least %d numbers, this line has %d words",
             r->to->path, r->line, what, n, r->nwords);
    for (int i = 0; i < n; i++)
        if (!parse(r->word[i], &x[i]) || !isfinite(x[i]))
            FAIL(EK_USAGE, "%s:%zu: '%s' is not a finite number", r->to->path, r->line, r->word[i]);
    return EK_OK;
}

/* The length at word `place`, 0 if there is none. */
static double length_at(const struct reader *r, int place)
{
    double x;
    return r->nwords > place && parse(r->word[place], &x) && isfinite(x) ? x : 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum ek_status read_frequency(struct reader *r, void *to)
{
    double *freq = to;
    TRY(numbers(r, "frequency", 1, freq));
    return survey_check_freq(*freq, r->to->path, r->line);
}

static enum ek_status read_transmitter(struct reader *r, void *to)
{
    struct emdata_transmitter *t = to;
    double x[5], number;
    TRY(numbers(r, "transmitter", 5, x));
    int type = 5; /* index of the first word after the numbers */
    while (type < r->nwords && r->to->version < 2)
        type++;
    while (type < r->nwords && parse(r->word[type], &number))
        type++;
    const bool loop = type < r->nwords && !strcasecmp(r->word[type], "bdipole");
    if (type < r->nwords && !loop && strcasecmp(r->word[type], "edipole"))
        FAIL(EK_USAGE, "%s:%zu: source type '%s' is neither edipole nor bdipole", r->to->path,
             r->line, r->word[type]);
    const double length = r->to->version < 2 ? 0 : length_at(r, 5);
    *t = (struct emdata_transmitter){x[0], x[1], x[2], x[3], x[4], length, loop, r->line};
    return EK_OK;
}

static enum ek_status read_receiver(struct reader *r, void *to)
{
    double x[6] = {0};
    TRY(numbers(r, "receiver", r->to->version < 1.05 ? 3 : 6, x));
    *(struct emdata_receiver *)to = (struct emdata_receiver){
        x[0], x[1], x[2], x[3], x[4], x[5], r->to->version > 2.15 ? length_at(r, 6) : 0, r->line};
    return EK_OK;
}

/* Not checked against its table, which may come later. */
static enum ek_status index_at(const struct reader *r, int place, const char *what, int *index)
{
    long number;
    if (!opt_integer(r->word[place], -1000000000, 1000000000, &number))
        FAIL(EK_USAGE, "%s:%zu: '%s' is not the number of a %s", r->to->path, r->line,
             r->word[place], what);
    *index = (int)number - 1;
    return EK_OK;
}

/* Parses a data type, a number or a name such as ReEx or PhsBz. */
static bool find_type(const char *word, long *type)
{
    static const struct {
        const char *name;
        int first, step; /* type for Ex; increment between axes */
    } parts[] = {{"re", 1, 2},   {"real", 1, 2}, {"im", 2, 2},     {"imag", 2, 2},
                 {"amp", 21, 2}, {"phs", 22, 2}, {"phase", 22, 2}, {"log10amp", 27, 1}};
    if (opt_integer(word, 1, 999, type))
        return true;
    const size_t n = strlen(word);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const int field = tolower(word[n > 1 ? n - 2 : 0]), axis = tolower(word[n - 1]) - 'x';
        if (n != strlen(parts[k].name) + 2 || strncasecmp(word, parts[k].name, n - 2) ||
            (field != 'e' && field != 'b') || axis < 0 || axis > 2)
            continue;
        *type = parts[k].first + axis * parts[k].step + (field == 'b' ? 10 : 0);
        return true;
    }
    return false;
}

static enum ek_status read_datum(struct reader *r, void *to)
{
    struct emdata_datum *d = to;
    const struct emdata *e = r->to;
    long type;
    double x[2];
    if (r->nwords < 6)
        FAIL(EK_USAGE, "%s:%zu: a datum is: type frequency transmitter receiver value error",
             e->path, r->line);
    if (!find_type(r->word[0], &type))
        FAIL(EK_USAGE, "%s:%zu: '%s' is not a data type", e->path, r->line, r->word[0]);
    *d = (struct emdata_datum){.type = (int)type, .line = r->line};
    if (type > METHOD)
        return EK_OK;
    TRY(index_at(r, 1, "frequency", &d->freq));
    TRY(index_at(r, 2, "transmitter", &d->transmitter));
    TRY(index_at(r, 3, "receiver", &d->receiver));
    if (d->transmitter < 0) /* as in MARE2DEM */
        d->transmitter = d->receiver;
    for (int i = 0; i < 2; i++)
        if (!parse(r->word[4 + i], &x[i]) || !isfinite(x[i]))
            FAIL(EK_USAGE, "%s:%zu: '%s' is not a finite number", e->path, r->line, r->word[4 + i]);
    d->value = x[0];
    d->error = x[1];
    return EK_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

#define AT(member) offsetof(struct emdata, member)
static const struct block {
    const char *name;
    size_t size, rows,
        count; /* size of a row; offsets of the rows and of their number in struct emdata */
    enum ek_status (*read)(struct reader *, void *);
} blocks[] = {
    {"# csem frequencies", sizeof(double), AT(freq), AT(nfreq), read_frequency},
    {"# frequencies", sizeof(double), AT(freq), AT(nfreq), read_frequency},
    {"# transmitters", sizeof(struct emdata_transmitter), AT(transmitter), AT(ntransmitters),
     read_transmitter},
    {"# csem transmitters", sizeof(struct emdata_transmitter), AT(transmitter), AT(ntransmitters),
     read_transmitter},
    {"# csem receivers", sizeof(struct emdata_receiver), AT(receiver), AT(nreceivers),
     read_receiver},
    {"# receivers", sizeof(struct emdata_receiver), AT(receiver), AT(nreceivers), read_receiver},
    {"# data", sizeof(struct emdata_datum), AT(datum), AT(ndata), read_datum},
    {"#data", sizeof(struct emdata_datum), AT(datum), AT(ndata), read_datum},
    {"ndata", sizeof(struct emdata_datum), AT(datum), AT(ndata), read_datum},
};

static enum ek_status read_block(struct reader *r, const struct block *b, size_t n)
{
    char **rows = (char **)(void *)((char *)r->to + b->rows);
    size_t *count = (size_t *)(void *)((char *)r->to + b->count);
    if (*rows)
        FAIL(EK_USAGE, "%s:%zu: a second block '%s'", r->to->path, r->line, b->name);
    *rows = arena_take(&r->to->arena, n + 1, b->size);
    TRY(arena_check(&r->to->arena, "%zu rows of '%s' of %s", n, b->name, r->to->path));
    for (size_t i = 0; i < n; i++) {
        TRY(next_row(r, b->name, i, n));
        TRY(b->read(r, *rows + i * b->size));
    }
    *count = n;
    return EK_OK;
}

static enum ek_status skip_block(struct reader *r, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        TRY(next_row(r, name, i, n));
    return EK_OK;
}

static enum ek_status read_format(struct reader *r, const char *value)
{
    static const char *const begins[] = {"EMData_", "EMResp_"};
    char *end = NULL;
    for (int k = 0; k < 2; k++)
        if (!strncasecmp(value, begins[k], strlen(begins[k])))
            r->to->version = strtod(value + strlen(begins[k]), &end);
    const double v = r->to->version;
    if (!end || *end || v < 0.95 || (v > 1.25 && v < 1.95) || v > 2.35)
        FAIL(EK_USAGE, "%s:%zu: format '%s' is not EMData_1.0 to 1.2 or 2.0 to 2.3", r->to->path,
             r->line, value);
    return EK_OK;
}

static enum ek_status read_length(struct reader *r, char *value)
{
    if (!parse(value, &r->to->length) || !isfinite(r->to->length) || r->to->length < 0)
        FAIL(EK_USAGE, "%s:%zu: '%s' is not the length of a dipole", r->to->path, r->line, value);
    return EK_OK;
}

static enum ek_status read_phase(struct reader *r, const char *value)
{
    if (strcasecmp(value, "lead") && strcasecmp(value, "lag"))
        FAIL(EK_USAGE, "%s:%zu: phase convention '%s' is neither lag nor lead", r->to->path,
             r->line, value);
    r->to->lead = !strcasecmp(value, "lead");
    return EK_OK;
}

/* Reads a line "token: value" and, if the value is a number of rows, the block that follows. */
static enum ek_status read_header(struct reader *r, char *line)
{
    char *colon = strchr(line, ':');
    if (!colon)
        FAIL(EK_USAGE, "%s:%zu: '%.40s' is not a line of the form 'token: value'", r->to->path,
             r->line, line);
    *colon = '\0';
    char *value = opt_trim(colon + 1);
    const char *name = opt_trim(line);
    if (!strcasecmp(name, "format"))
        return read_format(r, value);
    if (!strcasecmp(name, "phase convention") || !strcasecmp(name, "phase"))
        return read_phase(r, value);
    if (!strcasecmp(name, "dipole length"))
        return read_length(r, value);
    const struct block *b = NULL;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (!strcasecmp(name, blocks[i].name))
            b = &blocks[i];
    long n;
    if (!b && (*name != '#' || !strcasecmp(name, "# integ pts")))
        return EK_OK; /* UTM origin, reciprocity, … */
    if (!b && r->to->version < 2)
        FAIL(EK_USAGE, "%s:%zu: the effect of '%s' on the data is unknown; leave it out",
             r->to->path, r->line, name);
    if (!opt_integer(value, 0, 1000000000, &n))
        FAIL(EK_USAGE, "%s:%zu: '%s' is not a number of rows of '%s'", r->to->path, r->line, value,
             name);
    return b ? read_block(r, b, (size_t)n) : skip_block(r, "a block of other data", (size_t)n);
}

/* Removes data of other methods. */
static void drop_other_methods(struct emdata *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->ndata; i++)
        if (e->datum[i].type < METHOD)
            e->datum[kept++] = e->datum[i];
    e->nothers = e->ndata - kept;
    e->ndata = kept;
}

static enum ek_status check_index(const struct emdata *e, const struct emdata_datum *d,
                                  const char *what, int index, size_t n)
{
    if (!n)
        FAIL(EK_USAGE, "%s:%zu: the file has no table of any %s", e->path, d->line, what);
    if (index < 0 || (size_t)index >= n)
        FAIL(EK_USAGE, "%s:%zu: %s %d, there are 1 to %zu", e->path, d->line, what, index + 1, n);
    return EK_OK;
}

static enum ek_status read_all(struct reader *r)
{
    struct emdata *e = r->to;
    char *line;
    TRY(next_line(r, &line));
    while (line) {
        TRY(read_header(r, line));
        if (e->version == 0)
            FAIL(EK_USAGE, "%s:%zu: the first line does not say 'Format: EMData_…'", e->path,
                 r->line);
        TRY(next_line(r, &line));
    }
    if (!e->datum)
        FAIL(EK_USAGE, "%s:%zu: cut short: there is no block '# Data'", e->path, r->line);
    for (size_t i = 0; i < e->ntransmitters; i++)
        e->transmitter[i].length = fmax(e->transmitter[i].length, e->length);
    drop_other_methods(e);
    for (size_t i = 0; i < e->ndata; i++) {
        const struct emdata_datum *d = &e->datum[i];
        TRY(check_index(e, d, "frequency", d->freq, e->nfreq));
        TRY(check_index(e, d, "transmitter", d->transmitter, e->ntransmitters));
        TRY(check_index(e, d, "receiver", d->receiver, e->nreceivers));
    }
    return EK_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

bool emdata_is(const char *path)
{
    char line[256];
    bool is = false;
    FILE *in = file_replaceable(path) ? fopen(path, "r") : NULL; /* a pipe can be read only once */
    while (in && fgets(line, sizeof line, in)) {
        const char *text = opt_trim(file_text_start(line));
        if (!*text || *text == '!' || *text == '%')
            continue;
        is = !strncasecmp(text, "format", 6) &&
             (strcasestr(text, "emdata") || strcasestr(text, "emresp"));
        break;
    }
    if (in)
        fclose(in);
    return is;
}

enum ek_status emdata_open(const char *path, struct emdata **emdata)
{
    NEW(struct emdata, e, 1, "%s: out of memory", path);
    struct reader r = {.to = e};
    char *whole = NULL;
    e->path = path;
    enum ek_status st = file_read_text(path, &whole);
    r.in = whole ? fmemopen(whole, strlen(whole), "r") : NULL;
    THEN(st, r.in ? read_all(&r) : status_fail(EK_USAGE, "%s: the file is empty", path));
    if (r.in)
        fclose(r.in);
    free(r.text);
    free(whole);
    return HAND_OUT(st, e, emdata, emdata_close);
}

ARENA_CLOSE(emdata_close, struct emdata)
