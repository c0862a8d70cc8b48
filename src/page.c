/* src/page.c – fills a page template with its data and the chart library. */
#include "src/page.h"
#include "src/embed.h"
#include "src/file.h"
#include "src/base.h"

/* Inside <script>, "<" could open a comment or end the element. JSON has it only in strings, where
 * "\u003c" means the same. */
static void put_json(FILE *out, const json_t *root)
{
    OWNED_MEMORY char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
    for (const char *c = text; c && *c; c++)
        if (*c == '<')
            fputs("\\u003c", out);
        else
            fputc(*c, out);
}

/* Text inside an element. */
static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
}

/* The replacements of @NAME@. */
struct parts {
    const char *title;
    const struct embed_text *program; /* or NULL */
    const json_t *data;
};

static void put_page(FILE *out, const char *page, const struct parts *parts);

static void put_part(FILE *out, const char *name, const struct parts *p)
{
    if (!strcmp(name, "HEAD"))
        put_page(out, embed_find("src/head.html")->text, p);
    else if (!strcmp(name, "TITLE"))
        put_escaped(out, p->title);
    else if (!strcmp(name, "CHART"))
        fputs(embed_find("chart.min.js")->text, out);
    else if (!strcmp(name, "PROGRAM"))
        fputs(p->program ? p->program->text : "", out);
    else
        put_json(out, p->data);
}

/* Copies the page, replacing each @NAME@. */
static void put_page(FILE *out, const char *page, const struct parts *parts)
{
    for (const char *at = page; *at;) {
        char name[8] = "";
        int length = 0;
        if (*at == '@' && sscanf(at, "@%7[A-Z]@%n", name, &length) == 1 && length) {
            put_part(out, name, parts);
            at += length;
        } else {
            fputc(*at++, out);
        }
    }
}

enum ek_status page_write(const char *path, const char *template, const char *title,
                          const char *part, const json_t *data)
{
    const struct embed_text *page = embed_find(template);
    const struct parts parts = {title, part ? embed_find(part) : NULL, data};
    if (!page || !embed_find("chart.min.js"))
        FAIL(EK_UNAVAILABLE, "%s: this binary was built without Chart.js; run make deps, then make",
             path);
    if (!data)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
    struct file *f;
    TRY(file_create(path, &f));
    put_page(file_stream(f), page->text, &parts);
    return file_finish(f);
}
