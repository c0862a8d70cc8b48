/* src/embed.c – finds and joins embedded kernel texts. */
#include "src/embed.h"
#include "src/base.h"

const struct embed_text *embed_find(const char *path)
{
    for (const struct embed_text *t = embed_texts; t->path; t++)
        if (!strcmp(t->path, path))
            return t;
    return NULL;
}

/* A text being joined, and which texts it already contains. */
struct join {
    FILE *out;
    bool *held; /* indexed like embed_texts */
    bool missing;
};

/* Extracts the path of an #include line; false if the line is not one. */
static bool included(const char *line, char path[static 256])
{
    return sscanf(line, "#include \"%255[^\"\n]\"", path) == 1;
}

static void append(struct join *j, const char *path);

static void append_text(struct join *j, const char *name, const char *text)
{
    int number = 1;
    fprintf(j->out, "#line 1 \"%s\"\n", name);
    for (const char *line = text, *next; *line; line = next, number++) {
        char other[256];
        next = strchrnul(line, '\n');
        next += *next == '\n';
        if (included(line, other)) {
            append(j, other);
            fprintf(j->out, "#line %d \"%s\"\n", number + 1, name);
        } else {
            fwrite(line, 1, (size_t)(next - line), j->out);
        }
    }
}

static void append(struct join *j, const char *path)
{
    const struct embed_text *t = embed_find(path);
    j->missing = j->missing || !t;
    if (j->missing || j->held[t - embed_texts])
        return;
    j->held[t - embed_texts] = true;
    append_text(j, t->path, t->text);
}

static size_t texts(void)
{
    size_t n = 0;
    while (embed_texts[n].path)
        n++;
    return n;
}

static struct join begin(char **joined, size_t *size)
{
    struct join j = {open_memstream(joined, size), calloc(texts() + 1, sizeof *j.held), false};
    j.missing = !j.out || !j.held;
    if (!j.missing)
        append(&j, "src/kernel.h");
    return j;
}

static char *end(struct join *j, char **joined)
{
    free(j->held);
    if ((j->out && fclose(j->out)) || j->missing) {
        free(*joined);
        return NULL;
    }
    return *joined;
}

char *embed_join(const char *const *paths, int n)
{
    char *joined = NULL;
    size_t size = 0;
    struct join j = begin(&joined, &size);
    for (int i = 0; i < n && !j.missing; i++)
        append(&j, paths[i]);
    return end(&j, &joined);
}

char *embed_source(const char *name, const char *text)
{
    char *joined = NULL;
    size_t size = 0;
    struct join j = begin(&joined, &size);
    if (!j.missing)
        append_text(&j, name, text);
    return end(&j, &joined);
}

static const struct embed_host_kernel *added;

void embed_host_add(const struct embed_host_kernel *kernels)
{
    added = kernels;
}

const struct embed_host_kernel *embed_host_find(const char *name)
{
    const struct embed_host_kernel *const list[] = {embed_host_kernels, added};
    for (int i = 0; i < 2; i++)
        for (const struct embed_host_kernel *k = list[i]; k && k->name; k++)
            if (!strcmp(k->name, name))
                return k;
    return NULL;
}
