/* src/embed.c – finds and joins embedded kernel texts. */
#include "src/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct embed_text *embed_find(const char *path)
{
    for (const struct embed_text *t = embed_texts; t->path; t++)
        if (!strcmp(t->path, path))
            return t;
    return NULL;
}

char *embed_join(const char *const *paths, int n)
{
    char *joined = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&joined, &size);
    if (!out)
        return NULL;
    int missing = 0;
    for (int i = -1; i < n; i++) {
        const struct embed_text *t = embed_find(i < 0 ? "src/kernel.h" : paths[i]);
        if (t)
            fprintf(out, "#line 1 \"%s\"\n%s\n", t->path, t->text);
        else
            missing++;
    }
    if (fclose(out) || missing) {
        free(joined);
        return NULL;
    }
    return joined;
}
