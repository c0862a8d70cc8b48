/* mcsem/write.c – texts that become files as a whole. */
#include "mcsem/write.h"
#include "src/file.h"

#include <stdlib.h>

enum ek_status write_begin(const char *path, struct write_text *t)
{
    t->path = path;
    t->f = open_memstream(&t->at, &t->size);
    if (!t->f)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
    return EK_OK;
}

enum ek_status write_end(struct write_text *t)
{
    const enum ek_status st = fclose(t->f)
                                  ? status_fail(EK_UNAVAILABLE, "%s: out of memory", t->path)
                                  : file_replace_text(t->path, t->at);
    free(t->at);
    return st;
}
