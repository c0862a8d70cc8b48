/* src/json.c – files are replaced as a whole or not at all. */
#include "src/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool json_replaces(const char *path)
{
    struct stat found;
    return strcmp(path, "-") && (stat(path, &found) || S_ISREG(found.st_mode));
}

/* Without fsync where nothing is replaced: pipes and devices know none. */
static int write_all(FILE *out, const char *text, bool whole)
{
    int bad = fputs(text, out) < 0 || fflush(out) || (whole && fsync(fileno(out)));
    return fclose(out) || bad;
}

enum ek_status json_write_text(const char *path, const char *text)
{
    if (!strcmp(path, "-")) {
        if (fputs(text, stdout) < 0 || fflush(stdout))
            FAIL(EK_LACK, "standard output cannot be written: %s", strerror(errno));
        return EK_OK;
    }
    const bool whole = json_replaces(path);
    char beside[4096];
    char suffix[32] = "";
    if (whole)
        snprintf(suffix, sizeof suffix, ".part-%d", (int)getpid());
    if (snprintf(beside, sizeof beside, "%s%s", path, suffix) >= (int)sizeof beside)
        FAIL(EK_USAGE, "%s: file name is too long", path);
    FILE *out = fopen(beside, "w");
    if (!out || write_all(out, text, whole) || (whole && rename(beside, path))) {
        int why = errno;
        if (whole)
            unlink(beside);
        FAIL(EK_LACK, "%s: cannot be written: %s; choose another place", path, strerror(why));
    }
    return EK_OK;
}

enum ek_status json_write(const char *path, const json_t *root)
{
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    if (!text)
        FAIL(EK_LACK, "%s: out of memory while writing JSON", path);
    size_t n = strlen(text);
    char *line = realloc(text, n + 2);
    if (!line) {
        free(text);
        FAIL(EK_LACK, "%s: out of memory while writing JSON", path);
    }
    memcpy(line + n, "\n", 2);
    enum ek_status st = json_write_text(path, line);
    free(line);
    return st;
}

json_t *json_number_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}
