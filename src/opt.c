/* src/opt.c – option tables on top of getopt_long(). */
#include "src/opt.h"
#include "src/file.h"
#include "src/base.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>

enum { MAX_OPTS = 128, MAX_NAME = 64 };

bool opt_integer(const char *text, long min, long max, long *value)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (end == text || *end || errno || v < min || v > max)
        return false;
    *value = v;
    return true;
}

char *opt_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

bool opt_number(const char *text, double *value)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v))
        return false;
    *value = v;
    return true;
}

/* Edit distance by dynamic programming with a single row; names are short. */
static int edit_distance(const char *a, const char *b)
{
    int row[MAX_NAME + 1], n = (int)strnlen(b, MAX_NAME);
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1] && i <= MAX_NAME; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int replace = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int skip = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            row[j] = replace < skip ? replace : skip;
        }
    }
    return row[n];
}

/* The entry of names[0..n-1] nearest to `word`; NULL if none is close. */
static const char *nearest(const char *word, const char *const *names, int n)
{
    const char *best = NULL;
    int best_distance = 1 + (int)strlen(word) / 2;
    for (int i = 0; i < n; i++) {
        bool prefix = word[0] && strncmp(names[i], word, strlen(word)) == 0;
        int d = prefix ? 0 : edit_distance(word, names[i]);
        if (d < best_distance || (d == best_distance && !best && d <= 2)) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}

const char *opt_suggest(const char *word, const char *const *names, int n)
{
    static _Thread_local char text[128];
    const char *near = nearest(word, names, n);
    text[0] = 0;
    if (near)
        snprintf(text, sizeof text, " (did you mean '%s'?)", near);
    return text;
}

/* "a, b, c" */
static void list_names(char *list, size_t room, const char *const *names, int n)
{
    size_t used = 0;
    list[0] = 0;
    for (int i = 0; i < n && used < room; i++)
        used += (size_t)snprintf(list + used, room - used, "%s%s", i ? ", " : "", names[i]);
}

enum ek_status opt_choose(const char *what, const char *text, const char *const *name,
                          size_t stride, int n, int *at)
{
    const char *names[MAX_OPTS];
    char list[512];
    for (int i = 0; i < n && i < MAX_OPTS; i++) {
        names[i] = *(const char *const *)((const char *)name + (size_t)i * stride);
        if (!strcmp(text, names[i])) {
            *at = i;
            return EK_OK;
        }
    }
    list_names(list, sizeof list, names, n);
    FAIL(EK_USAGE, "%s: '%s' is not one of %s%s", what, text, list, opt_suggest(text, names, n));
}

static enum ek_status store_name(const struct opt *o, int *at, const char *where, const char *text)
{
    int n = 0;
    while (o->names[n])
        n++;
    return opt_choose(where, text, o->names, sizeof *o->names, n, at);
}

/* An empty name of a file would be taken for an option that is not given, and the files of an empty
 * prefix would be hidden ones. */
static bool names_no_file(const struct opt *o, const char *text)
{
    static const char *const names[] = {"FILE", "FOLDER", "PATH", "PREFIX", "STEM"};
    for (size_t i = 0; text && !*text && o->arg && i < sizeof names / sizeof *names; i++)
        if (!strncmp(o->arg, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Stores `text` as the option's value. `where` is "--chunk", "CU_LAYOUT" or "dynamic: chunk". */
static enum ek_status store(const struct opt *o, void *values, const char *where, const char *text)
{
    void *at = (char *)values + o->offset;
    bool bounded = o->min != 0 || o->max != 0;
    long i;
    double x;
    if (names_no_file(o, text))
        FAIL(EK_USAGE, "%s: '' is not a file name", where);
    switch (o->type) {
    case OPT_FLAG:
        *(bool *)at = true;
        return EK_OK;
    case OPT_NAME:
        return store_name(o, at, where, text);
    case OPT_FILE:
        file_input(text);
        *(const char **)at = text;
        return EK_OK;
    case OPT_TEXT:
        *(const char **)at = text ? text : "";
        return EK_OK;
    case OPT_INT:
        if (!opt_integer(text, INT_MIN, INT_MAX, &i))
            FAIL(EK_USAGE, "%s: '%s' is not a whole number", where, text);
        x = (double)i;
        break;
    default:
        if (!opt_number(text, &x))
            FAIL(EK_USAGE, "%s: '%s' is not a finite number", where, text);
    }
    if (bounded && (x < o->min || x > o->max))
        FAIL(EK_USAGE, "%s: %s is out of range; allowed is %g to %g", where, text, o->min, o->max);
    if (o->type == OPT_INT)
        *(int *)at = (int)x;
    else
        *(double *)at = x;
    return EK_OK;
}

static enum ek_status from_environment(const struct opt_group *g)
{
    for (const struct opt *o = g->table; o->name; o++) {
        const char *text = o->env ? getenv(o->env) : NULL;
        if (!text || !*text)
            continue;
        if (o->type == OPT_FLAG && (!strcmp(text, "0") || !strcasecmp(text, "false")))
            continue;
        TRY(store(o, g->values, o->env, text));
    }
    return EK_OK;
}

/* One entry of the flattened tables; index = getopt's return value - 256. */
struct flat {
    const struct opt *opt;
    void *values;
};

static int flatten(const struct opt_group *groups, int ngroups, struct flat *flat,
                   struct option *longs, const char **names)
{
    int n = 0;
    for (int g = 0; g < ngroups; g++)
        for (const struct opt *o = groups[g].table; o->name && n < MAX_OPTS; o++, n++) {
            int takes = o->type == OPT_FLAG ? no_argument
                        : o->optional       ? optional_argument
                                            : required_argument;
            flat[n] = (struct flat){o, groups[g].values};
            longs[n] = (struct option){o->name, takes, NULL, 256 + n};
            names[n] = o->name;
        }
    longs[n] = (struct option){0};
    return n;
}

static enum ek_status unknown(const char *word, const char *const *names, int n)
{
    char name[MAX_NAME] = "";
    snprintf(name, sizeof name, "%s", word + strspn(word, "-"));
    name[strcspn(name, "=")] = 0;
    FAIL(EK_USAGE, "unknown option '%s'%s; see --help", word, opt_suggest(name, names, n));
}

/* The word that getopt_long() did not understand. It takes "-layout" for single letters, and does
 * not count the word before it has read the last of them. */
static const char *refused_word(int argc, char **argv)
{
    const char *next = optopt && optind < argc ? argv[optind] : "";
    return next[0] == '-' && next[1] == optopt ? next : argv[optind - 1];
}

enum ek_status opt_parse(const struct opt_group *groups, int ngroups, int argc, char **argv,
                         const char **args, int *nargs)
{
    struct flat flat[MAX_OPTS];
    struct option longs[MAX_OPTS + 1];
    const char *names[MAX_OPTS];
    for (int g = 0; g < ngroups; g++)
        TRY(from_environment(&groups[g]));
    int n = flatten(groups, ngroups, flat, longs, names);
    int found = 0, code;
    opterr = 0;
    optind = 0; /* glibc: start over, so that tests may parse twice */
    while ((code = getopt_long(argc, argv, "-:h", longs, NULL)) != -1) {
        if (code == 1) { /* a positional argument, in order */
            if (!nargs)
                FAIL(EK_USAGE, "unexpected argument '%s'; options begin with --, see --help",
                     optarg);
            args[found++] = optarg;
        } else if (code == ':') {
            FAIL(EK_USAGE, "option '%s' needs an argument; see --help", argv[optind - 1]);
        } else if (code >= 256) {
            const struct flat *f = &flat[code - 256];
            char where[MAX_NAME];
            /* "--compare LIST" with an optional argument: take the next word if it is no option */
            if (f->opt->optional && !optarg && optind < argc && argv[optind][0] != '-')
                optarg = argv[optind++];
            snprintf(where, sizeof where, "--%s", f->opt->name);
            TRY(store(f->opt, f->values, where, optarg));
        } else if (code == 'h') {
            for (int i = 0; i < n; i++)
                if (!strcmp(names[i], "help"))
                    TRY(store(flat[i].opt, flat[i].values, "-h", NULL));
        } else {
            return unknown(refused_word(argc, argv), names, n);
        }
    }
    while (optind < argc) {
        if (!nargs)
            FAIL(EK_USAGE, "unexpected argument '%s'; see --help", argv[optind]);
        args[found++] = argv[optind++];
    }
    if (nargs)
        *nargs = found;
    return EK_OK;
}

enum ek_status opt_parse_list(const struct opt *table, void *values, const char *what,
                              const char *list)
{
    const char *names[MAX_OPTS];
    int n = 0;
    for (const struct opt *o = table; o && o->name && n < MAX_OPTS; o++)
        names[n++] = o->name;
    bool given[MAX_OPTS] = {false};
    while (*list) {
        char name[MAX_NAME], where[2 * MAX_NAME], value[MAX_NAME];
        size_t word = strcspn(list, ","), key = strcspn(list, "=,");
        snprintf(name, sizeof name, "%.*s", (int)key, list);
        snprintf(value, sizeof value, "%.*s", (int)(word > key ? word - key - 1 : 0),
                 list + key + (word > key));
        int i = 0;
        while (i < n && strcmp(names[i], name))
            i++;
        if (i == n)
            FAIL(EK_USAGE, "%s has no option '%s'%s", what, name, opt_suggest(name, names, n));
        if (table[i].type == OPT_TEXT || table[i].type == OPT_FILE)
            FAIL(EK_USAGE, "%s: option '%s' cannot be given in a list", what, name);
        if (given[i])
            FAIL(EK_USAGE, "%s: option '%s' is given twice", what, name);
        if (word > key + sizeof value)
            FAIL(EK_USAGE, "%s: %s: more than %zu characters", what, name, sizeof value - 1);
        given[i] = true;
        snprintf(where, sizeof where, "%s: %s", what, name);
        TRY(store(&table[i], values, where, value));
        list += word + (list[word] == ',');
    }
    return EK_OK;
}

enum { WIDTH = 80, LEFT = 25 };

/* Columns taken by the first `bytes` of a text. */
static int columns(const char *text, size_t bytes)
{
    int n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += (text[i] & 0xc0) != 0x80; /* UTF-8 */
    return n;
}

void opt_wrap(FILE *out, int indent, const char *text)
{
    int at = indent;
    for (size_t word; *text; text += word + (text[word] == ' ')) {
        word = strcspn(text, " ");
        const int need = columns(text, word);
        if (at > indent && at + 1 + need > WIDTH)
            at = fprintf(out, "\n%*s", indent, "") - 1;
        else if (at > indent)
            at += fprintf(out, " ");
        fwrite(text, 1, word, out);
        at += need;
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const struct opt *o)
{
    char left[MAX_NAME], right[1024];
    snprintf(left, sizeof left,
             o->optional ? "--%s [%s]"
             : o->arg    ? "--%s %s"
                         : "--%s",
             o->name, o->arg);
    snprintf(right, sizeof right, "%s%s%s%s", o->help, o->env ? " [" : "", o->env ? o->env : "",
             o->env ? "]" : "");
    if (strlen(left) < LEFT - 2)
        fprintf(out, "  %-*s", LEFT - 2, left);
    else
        fprintf(out, "  %s\n%*s", left, LEFT, "");
    opt_wrap(out, LEFT, right);
}

int opt_help(FILE *out, const struct opt_group *groups, int ngroups, bool all)
{
    int left_out = 0;
    for (int g = 0; g < ngroups; g++) {
        fprintf(out, "\n%s\n", groups[g].title);
        for (const struct opt *o = groups[g].table; o->name; o++)
            if (all || !o->rare)
                print_option(out, o);
            else
                left_out++;
    }
    return left_out;
}
