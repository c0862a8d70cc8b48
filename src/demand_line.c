/* src/demand_line.c – where in a JSON file a key stands. Looked up only when there is something to
 * complain about, so that readers need not carry positions along. */
#include "src/demand.h"
#include "src/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return p + (*p == '"');
}

/* Past a value of any kind, nested or not. */
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

/* The next member or element behind a value; NULL at the end of the object or list. */
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

/* Where `key` stands below the value at p, or as much of it as there is. */
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
    status_mute(+1);
    if (file_replaceable(path) && !file_read(path, &text, &n)) {
        snprintf(place, sizeof place, "%s:%zu", path, line_in(text, key));
        free(text);
    }
    status_mute(-1);
    return place;
}
