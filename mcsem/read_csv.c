/* mcsem/read_csv.c – surveys from tables. */
#include "mcsem/survey_columns.h"
#include "mcsem/survey_file.h"
#include "src/checksum.h"
#include "src/sort.h"

enum { MOST_FREQUENCIES = 64 };

/* ---- lines with # ---------------------------------------------------------------------------- */

struct preface {
    struct earth_list list;
    double rows; /* expected number, -1: unknown */
};

static enum ek_status read_remark(const char *where, char *line, struct preface *p)
{
    char word[16] = "", *text = line + strcspn(line, "\r\n");
    int used = 0;
    *text = 0;
    if (sscanf(line, "# %15s %n", word, &used) < 1)
        return EK_OK;
    if (!strcmp(word, "earth"))
        return earth_list_read(where, line + used, &p->list);
    if (!strcmp(word, "seabed")) {
        snprintf(p->list.floor, sizeof p->list.floor, "%s", line + used);
        return EK_OK;
    }
    if (!strcmp(word, "sea"))
        return earth_list_read_sea(where, line + used, &p->list);
    if (!strcmp(word, "rows") &&
        (!table_parse(line + used, &p->rows) || !(p->rows >= 0) || p->rows != floor(p->rows)))
        FAIL(EK_USAGE, "%s: '%s' is not a number of rows", where, line + used);
    return EK_OK;
}

static enum ek_status read_preface(const struct table *t, struct preface *p)
{
    char where[4200], *rest = t->preface;
    for (int number = 1; rest && *rest; number++) {
        char *line = strsep(&rest, "\n");
        snprintf(where, sizeof where, "%s:%d", t->path, number);
        TRY(read_remark(where, line, p));
    }
    return EK_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Columns of the table. */
struct columns {
    struct survey_columns pair;
    int re, im, sigma;
};

static enum ek_status find_columns(const struct table *t, struct columns *c)
{
    TRY(survey_columns_find(t, &c->pair));
    TRY(table_need(t, "re", &c->re));
    TRY(table_need(t, "im", &c->im));
    c->sigma = table_find(t, "sigma");
    return EK_OK;
}

/* A number, or an empty cell (NAN). Other text is an error: NaN from a computation is not a
 * datum. */
static enum ek_status read_number(const struct table *t, size_t row, int column, double *x)
{
    TRY(table_optional(t, row, column, x));
    if (isnan(*x) && *table_text(t, row, column))
        FAIL(EK_USAGE,
             "%s:%zu: %s is '%s', not a finite number; leave the cell empty if there is no datum",
             t->path, t->line[row], t->column[column], table_text(t, row, column));
    return EK_OK;
}

static enum ek_status read_datum(const struct table *t, const struct columns *c, size_t row,
                                 struct survey_datum *d)
{
    double sigma = NAN; /* take that of --noise */
    TRY(read_number(t, row, c->re, &d->re));
    TRY(read_number(t, row, c->im, &d->im));
    if (c->sigma >= 0)
        TRY(read_number(t, row, c->sigma, &sigma));
    d->sigma = isnan(d->re) && isnan(d->im) ? INFINITY : sigma;
    d->part = isnan(d->re) == isnan(d->im) ? SURVEY_BOTH
              : isnan(d->re)               ? SURVEY_IMAGINARY
                                           : SURVEY_REAL;
    if (d->part) /* the other part is unknown */
        *(d->part == SURVEY_REAL ? &d->im : &d->re) = 0;
    if (d->sigma <= 0)
        FAIL(EK_USAGE, "%s:%zu: sigma %g is not positive", t->path, t->line[row], sigma);
    return EK_OK;
}

/* The rows of a table grouped into pairs; frequencies may come in any order. */
struct rows {
    const struct table *table;
    struct columns columns;
    int nfreq;
    double freq[MOST_FREQUENCIES];
    size_t npairs;
    struct survey_pair *pair; /* [rows] the first npairs are used */
    size_t *of;               /* [rows] index of the row's pair */
    size_t *slot, nslots;     /* hash table of 1 + index of a pair, 0: free */
    int *freq_index;          /* [rows] index of the row's frequency in freq */
    struct arena *room;       /* of the arrays */
};

static enum ek_status add_frequency(struct rows *h, size_t row)
{
    double freq;
    TRY(survey_columns_freq(h->table, &h->columns.pair, row, &freq));
    int k = 0;
    while (k < h->nfreq && h->freq[k] != freq)
        k++;
    if (k == MOST_FREQUENCIES)
        FAIL(EK_USAGE, "%s:%zu: more than %d frequencies", h->table->path, h->table->line[row],
             MOST_FREQUENCIES);
    if (k == h->nfreq)
        h->freq[h->nfreq++] = freq;
    h->freq_index[row] = k;
    return EK_OK;
}

/* Index of an equal pair (except for its line) of an earlier row, or h->npairs after adding this
 * one: rows of one pair need not be adjacent. */
static size_t find_pair(struct rows *h, const struct survey_pair *pair)
{
    const size_t bytes = offsetof(struct survey_pair, line);
    if (h->npairs && !memcmp(pair, &h->pair[h->npairs - 1], bytes))
        return h->npairs - 1;
    size_t at = checksum_of("pair", pair, bytes) & (h->nslots - 1);
    while (h->slot[at] && memcmp(pair, &h->pair[h->slot[at] - 1], bytes))
        at = (at + 1) & (h->nslots - 1);
    if (!h->slot[at])
        h->slot[at] = h->npairs + 1;
    return h->slot[at] - 1;
}

static enum ek_status gather(struct rows *h)
{
    for (size_t row = 0; row < h->table->nrows; row++) {
        struct survey_pair *next = &h->pair[h->npairs];
        TRY(survey_columns_pair(h->table, &h->columns.pair, row, next));
        TRY(survey_check_pair(next, h->table->path));
        TRY(add_frequency(h, row));
        h->of[row] = find_pair(h, next);
        h->npairs += h->of[row] == h->npairs;
    }
    return EK_OK;
}

struct position {
    double at[3];
    int *id; /* where its number goes */
};

static int compare_positions(const void *a, const void *b)
{
    return memcmp(a, b, sizeof((const struct position *)a)->at);
}

/* Numbers sources or receivers, equal positions alike; returns how many there are. */
static size_t number_positions(struct survey *s, bool receivers, struct position *list)
{
    size_t found = 0;
    for (size_t i = 0; i < s->npairs; i++) {
        struct survey_pair *p = &s->pair[i];
        memcpy(list[i].at, receivers ? p->receiver : p->source, sizeof list[i].at);
        list[i].id = receivers ? &p->receiver_id : &p->source_id;
    }
    qsort(list, s->npairs, sizeof *list, compare_positions);
    for (size_t i = 0; i < s->npairs; i++) {
        found += !i || compare_positions(&list[i - 1], &list[i]);
        *list[i].id = (int)found - 1;
    }
    return found;
}

static enum ek_status fill_data(struct rows *h, struct survey *s)
{
    int place[MOST_FREQUENCIES];
    memcpy(s->freq, h->freq, (size_t)h->nfreq * sizeof *s->freq);
    sort_numbers(s->freq, (size_t)h->nfreq);
    for (int k = 0; k < h->nfreq; k++)
        for (int j = 0; j < h->nfreq; j++)
            place[k] = s->freq[j] == h->freq[k] ? j : j ? place[k] : 0;
    memcpy(s->pair, h->pair, h->npairs * sizeof *s->pair);
    for (size_t row = 0; row < h->table->nrows; row++) {
        struct survey_datum *d =
            &s->datum[h->of[row] * (size_t)s->nfreq + (size_t)place[h->freq_index[row]]];
        if (!isinf(d->sigma))
            FAIL(EK_USAGE, "%s:%zu: this pair has a datum at that frequency already",
                 h->table->path, h->table->line[row]);
        TRY(read_datum(h->table, &h->columns, row, d));
    }
    struct position *list = ARENA_NEW(h->room, s->npairs, struct position);
    TRY(arena_check(h->room, "the positions of %s", h->table->path));
    s->nsources = number_positions(s, false, list);
    s->nreceivers = number_positions(s, true, list);
    return EK_OK;
}

static enum ek_status make_survey(struct rows *h, struct survey **survey)
{
    struct survey *s;
    TRY(find_columns(h->table, &h->columns));
    const size_t rows = h->table->nrows + 1;
    h->pair = ARENA_NEW(h->room, rows, struct survey_pair);
    h->of = ARENA_NEW(h->room, rows, size_t);
    h->freq_index = ARENA_NEW(h->room, rows, int);
    for (h->nslots = 2; h->nslots < 2 * rows; h->nslots *= 2)
        ;
    h->slot = ARENA_NEW(h->room, h->nslots, size_t);
    TRY(arena_check(h->room, "%zu data of %s", h->table->nrows, h->table->path));
    TRY(gather(h));
    TRY(survey_open(h->npairs, h->nfreq, &s));
    const enum ek_status st = fill_data(h, s);
    return HAND_OUT(st, s, survey, survey_close);
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum ek_status read_table(const char *path, struct preface *p, struct survey **survey)
{
    OWNED(owned_table_close) struct table *t = NULL;
    OWNED(arena_free) struct arena room = {0};
    struct rows h = {.room = &room};
    TRY(table_open(path, NULL, &t));
    TRY(read_preface(t, p));
    if (p->rows >= 0 && (double)t->nrows != p->rows)
        FAIL(EK_USAGE, "%s:%zu: %s: %zu rows, not %.0f", path, t->nrows ? t->line[t->nrows - 1] : 1,
             (double)t->nrows < p->rows ? "cut short" : "too long", t->nrows, p->rows);
    h.table = t;
    return make_survey(&h, survey);
}

enum ek_status read_csv(const char *path, const struct survey_noise *noise, struct survey **survey,
                        struct earth_list *list)
{
    struct preface p = {.list = *list, .rows = -1};
    struct survey *s = NULL;
    TRY(read_table(path, &p, &s));
    survey_set_errors(s, noise);
    TRY_OR(survey_check(s, path), survey_close(s));
    *list = p.list;
    *survey = s;
    return EK_OK;
}
