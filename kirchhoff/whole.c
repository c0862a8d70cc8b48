/* kirchhoff/whole.c – files that are there as a whole or not at all. */
#include "kirchhoff/whole.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct whole {
    char *path, *beside;
    FILE *out;
};

static enum ek_status refuse(const struct whole *w, int why)
{
    FAIL(EK_LACK, "%s: cannot be written: %s; choose another place", w->path, strerror(why));
}

static enum ek_status open_beside(struct whole *w, const char *path)
{
    w->path = strdup(path);
    if (!w->path || asprintf(&w->beside, "%s.part-%d", path, (int)getpid()) < 0) {
        w->beside = NULL;
        FAIL(EK_LACK, "%s: out of memory", path);
    }
    w->out = fopen(w->beside, "wb");
    return w->out ? EK_OK : refuse(w, errno);
}

enum ek_status whole_create(const char *path, struct whole **out)
{
    struct whole *w = calloc(1, sizeof *w);
    if (!w)
        FAIL(EK_LACK, "%s: out of memory", path);
    const enum ek_status st = open_beside(w, path);
    if (st)
        whole_abandon(w);
    else
        *out = w;
    return st;
}

enum ek_status whole_write(struct whole *w, const void *bytes, size_t n)
{
    return fwrite(bytes, 1, n, w->out) == n ? EK_OK : refuse(w, errno);
}

enum ek_status whole_finish(struct whole *w)
{
    int bad = fflush(w->out) || fsync(fileno(w->out));
    bad = fclose(w->out) || bad;
    w->out = NULL;
    const enum ek_status st = bad || rename(w->beside, w->path) ? refuse(w, errno) : EK_OK;
    if (!st) {
        free(w->beside);
        w->beside = NULL;
    }
    whole_abandon(w);
    return st;
}

void whole_abandon(struct whole *w)
{
    if (!w)
        return;
    if (w->out)
        fclose(w->out);
    if (w->beside)
        unlink(w->beside);
    free(w->beside);
    free(w->path);
    free(w);
}
