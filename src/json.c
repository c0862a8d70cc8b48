/* src/json.c – writes JSON files; builds numbers and lists. */
#include "src/json.h"
#include "src/file.h"
#include "src/base.h"

static enum ek_status dump(const char *path, const json_t *root, int digits)
{
    struct file *f;
    TRY(file_create(path, &f));
    if (json_dumpf(root, file_stream(f), JSON_INDENT(1) | JSON_REAL_PRECISION(digits)) &&
        !ferror(file_stream(f))) {
        file_abandon(f);
        FAIL(EK_UNAVAILABLE, "%s: out of memory while writing JSON", path);
    }
    fputc('\n', file_stream(f));
    return file_finish(f);
}

enum ek_status json_write(const char *path, const json_t *root)
{
    return dump(path, root, 15);
}

enum ek_status json_write_exact(const char *path, const json_t *root)
{
    return dump(path, root, 17);
}

json_t *json_number_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *json_numbers(const double *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_number_or_null(x[i]));
    return list;
}

json_t *json_integers(const int *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(x[i]));
    return list;
}

double json_number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}
