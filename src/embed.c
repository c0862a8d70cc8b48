/* src/embed.c – finds and joins embedded kernel texts. */
#include "src/embed.h"

#include <stdbool.h>
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

/* A text being written and which texts it holds already. */
struct join {
    FILE *out;
    bool *held; /* by number in embed_texts */
    bool missing;
};

/* The path between the quotation marks of an #include line; false if the line is none. */
static bool included(const char *line, char path[static 256])
{
    return sscanf(line, "#include \"%255[^\"\n]\"", path) == 1;
}

static void append(struct join *j, const char *path)
{
    const struct embed_text *t = embed_find(path);
    j->missing = j->missing || !t;
    if (j->missing || j->held[t - embed_texts])
        return;
    j->held[t - embed_texts] = true;
    fprintf(j->out, "#line 1 \"%s\"\n", t->path);
    int number = 1;
    for (const char *line = t->text, *next; *line; line = next, number++) {
        char other[256];
        next = strchrnul(line, '\n');
        next += *next == '\n';
        if (included(line, other)) {
            append(j, other);
            fprintf(j->out, "#line %d \"%s\"\n", number + 1, t->path);
        } else {
            fwrite(line, 1, (size_t)(next - line), j->out);
        }
    }
}

static size_t texts(void)
{
    size_t n = 0;
    while (embed_texts[n].path)
        n++;
    return n;
}

char *embed_join(const char *const *paths, int n)
{
    char *joined = NULL;
    size_t size = 0;
    struct join j = {open_memstream(&joined, &size), calloc(texts() + 1, sizeof *j.held), false};
    j.missing = !j.out || !j.held;
    if (!j.missing)
        append(&j, "src/kernel.h");
    for (int i = 0; i < n && !j.missing; i++)
        append(&j, paths[i]);
    free(j.held);
    if ((j.out && fclose(j.out)) || j.missing) {
        free(joined);
        return NULL;
    }
    return joined;
}
