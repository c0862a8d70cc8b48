/* src/demand.c – reads JSON and reports which number makes no sense. */
#include "src/demand.h"
#include "src/file.h"
#include "src/opt.h"

/* ---- objects ----------------------------------------------------------------------------------*/
enum ek_status demand_flag(const char *path, const char *where, const json_t *object,
                           const char *name, bool *flag)
{
    char key[128];
    const json_t *value = json_object_get(object, name);
    snprintf(key, sizeof key, "%s%s%s", where, *where ? "." : "", name);
    TRY(demand_that(path, !value || json_is_boolean(value), key, "true or false"));
    *flag = value ? json_is_true(value) : *flag;
    return EK_OK;
}

enum ek_status demand_keys(const char *path, const char *where, const json_t *object,
                           const char *const *names, int n)
{
    char key[160];
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        FAIL(EK_USAGE, "%s: %s is not an object", demand_at(path, where),
             *where ? where : "the file");
    json_object_foreach((json_t *)object, name, value)
    {
        int i = 0;
        while (i < n && strcmp(name, names[i]))
            i++;
        if (i < n)
            continue;
        snprintf(key, sizeof key, "%s%s%s", where, *where ? "." : "", name);
        FAIL(EK_USAGE, "%s: unknown key '%s'%s", demand_at(path, key), key,
             opt_suggest(name, names, n));
    }
    return EK_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------*/
enum ek_status demand_number(const char *path, const char *key, const json_t *value,
                             const struct demand *d, double *x)
{
    if (!value)
        FAIL(EK_USAGE, "%s: %s is missing", demand_at(path, key), key);
    if (!json_is_number(value))
        FAIL(EK_USAGE, "%s: %s is not a (finite) number", demand_at(path, key), key);
    double v = json_number_value(value);
    if (!(v >= d->min && v <= d->max) || (d->open && v == d->min))
        FAIL(EK_USAGE, "%s: %s = %g is out of range, it must be %s %g and at most %g",
             demand_at(path, key), key, v, d->open ? "more than" : "at least", d->min, d->max);
    if (d->whole && v != floor(v))
        FAIL(EK_USAGE, "%s: %s = %g is not a whole number", demand_at(path, key), key, v);
    *x = v;
    return EK_OK;
}

enum ek_status demand_member(const char *path, const char *where, const json_t *object,
                             const char *name, const struct demand *d, double *x)
{
    char key[160];
    snprintf(key, sizeof key, "%s%s%s", where, *where ? "." : "", name);
    return demand_number(path, key, json_object_get(object, name), d, x);
}

enum ek_status demand_optional(const char *path, const char *where, const json_t *object,
                               const char *name, const struct demand *d, double *x)
{
    return json_object_get(object, name) ? demand_member(path, where, object, name, d, x) : EK_OK;
}

enum ek_status demand_that(const char *path, bool right, const char *key, const char *what)
{
    if (!right)
        FAIL(EK_USAGE, "%s: %s must be %s", demand_at(path, key), *key ? key : "the file", what);
    return EK_OK;
}

/* ---- texts ------------------------------------------------------------------------------------*/
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return p + (*p == '"');
}

/* Replaces NaN, infinities and numbers beyond the range of a double or a long by {}. */
static void blank_non_numbers(char *text)
{
    for (char *p = text; *p;) {
        if (*p == '"') {
            p += skip_string(p) - p;
            continue;
        }
        size_t n = strspn(p, "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        char *end;
        double x = n ? strtod(p, &end) : 0;
        bool whole = n && strspn(p, "+-0123456789") == n;
        if (n >= 2 && end == p + n && (!isfinite(x) || (whole && fabs(x) > 9e18))) {
            memset(p, ' ', n);
            memcpy(p, "{}", 2);
        }
        p += n ? n : 1;
    }
}

static enum ek_status parse(const char *path, const char *text, json_t **root)
{
    json_error_t error;
    OWNED_MEMORY char *copy = strdup(text);
    if (!copy)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
    blank_non_numbers(copy);
    *root = json_loads(copy, JSON_REJECT_DUPLICATES, &error);
    if (!*root)
        FAIL(EK_USAGE, "%s:%d: %s", path, error.line, error.text);
    return EK_OK;
}

enum ek_status demand_open(const char *path, json_t **root)
{
    OWNED_MEMORY char *text = NULL;
    TRY(file_read_text(path, &text));
    return parse(strcmp(path, "-") ? path : "standard input", text, root);
}

/* ---- lines ------------------------------------------------------------------------------------*/
/* Found only when there is an error to report, so that readers need not carry positions along. */
static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* Skips a value of any kind, nested or not. */
static const char *skip_value(const char *p)
{
    int depth = 0;
    while (*p) {
        if (*p == '"') {
            p = skip_string(p);
        } else {
            if (depth == 0 && strchr(",]}", *p))
                break;
            depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
            p++;
        }
        if (depth == 0 && p[-1] && strchr("]}\"", p[-1]))
            break;
    }
    return p;
}

/* The member or element after a value; NULL at the end of the object or list. */
static const char *next_item(const char *p)
{
    p = skip_blanks(skip_value(p));
    return *p == ',' ? skip_blanks(p + 1) : NULL;
}

static const char *find(const char *p, const char *key);

static const char *find_member(const char *object, const char *key)
{
    const size_t n = strcspn(key, ".[");
    const char *p = *object == '{' ? skip_blanks(object + 1) : NULL;
    while (p && *p == '"') {
        const char *end = skip_string(p), *value = skip_blanks(end);
        value = skip_blanks(value + (*value == ':'));
        if ((size_t)(end - p) == n + 2 && !strncmp(p + 1, key, n))
            return key[n] ? find(value, key + n + (key[n] == '.')) : p;
        p = next_item(value);
    }
    return object;
}

static const char *find_element(const char *list, const char *key)
{
    char *end;
    long number = strtol(key + 1, &end, 10);
    const char *p = *list == '[' ? skip_blanks(list + 1) : NULL;
    while (p && *p && number-- > 0)
        p = next_item(p);
    if (!p)
        return list;
    end += *end == ']';
    return find(p, end + (*end == '.'));
}

/* Position of `key` below the value at p, or of its longest existing prefix. */
static const char *find(const char *p, const char *key)
{
    return !*key ? p : *key == '[' ? find_element(p, key) : find_member(p, key);
}

static size_t line_in(const char *text, const char *key)
{
    size_t line = 1;
    const char *at = find(skip_blanks(text), key);
    for (const char *p = text; p < at; p++)
        line += *p == '\n';
    return line;
}

const char *demand_at(const char *path, const char *key)
{
    static _Thread_local char place[1024];
    char *text;
    size_t n;
    snprintf(place, sizeof place, "%s", path);
    if (file_replaceable(path) && !MUTED(file_read(path, &text, &n))) {
        snprintf(place, sizeof place, "%s:%zu", path, line_in(text, key));
        free(text);
    }
    return place;
}
