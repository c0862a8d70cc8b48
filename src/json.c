/* src/json.c – JSON in whole files. */
#include "src/json.h"
#include "src/file.h"

#include <math.h>

static enum ek_status dump(const char *path, const json_t *root, int digits)
{
    struct file *f;
    TRY(file_create(path, &f));
    if (json_dumpf(root, file_stream(f), JSON_INDENT(1) | JSON_REAL_PRECISION(digits))) {
        file_abandon(f);
        FAIL(EK_UNAVAILABLE, "%s: out of memory or of space while writing JSON", path);
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

double json_number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}
