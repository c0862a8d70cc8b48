/* cu/report.c – fills the embedded page with its data and the chart library (Chart.js, embedded at
 * build time from the distribution). */
#include "cu/report.h"
#include "src/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_EVENTS = 50000 }; /* more make a page slow to open: steps are thinned out evenly */

static json_t *thin_out(const json_t *events)
{
    size_t count = json_array_size(events), stride = 1 + count / MANY_EVENTS;
    json_t *kept = json_array(), *e;
    size_t i;
    json_array_foreach((json_t *)events, i, e)
    {
        const json_t *step = json_object_get(json_object_get(e, "args"), "step");
        if (!step || (size_t)json_integer_value(step) % stride == 0)
            json_array_append(kept, e);
    }
    return kept;
}

/* JSON inside <script>: "</" would end the element. */
static void put_json(FILE *out, const json_t *root)
{
    char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
    for (const char *c = text; c && *c; c++) {
        fputc(*c, out);
        if (c[0] == '<' && c[1] == '/')
            fputc('\\', out);
    }
    free(text);
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

static void put_part(FILE *out, const char *name, const char *title, const json_t *data)
{
    if (!strcmp(name, "TITLE"))
        put_escaped(out, title);
    else if (!strcmp(name, "CHART"))
        fputs(embed_find("chart.min.js")->text, out);
    else
        put_json(out, data);
}

/* Copies the page, replacing each @NAME@. */
static void put_page(FILE *out, const char *page, const char *title, const json_t *data)
{
    for (const char *at = page; *at;) {
        char name[8] = "";
        int length = 0;
        if (*at == '@' && sscanf(at, "@%7[A-Z]@%n", name, &length) == 1 && length) {
            put_part(out, name, title, data);
            at += length;
        } else {
            fputc(*at++, out);
        }
    }
}

enum ek_status report_write(const char *path, const char *title, const json_t *result,
                            const json_t *events)
{
    const struct embed_text *page = embed_find("cu/report.html");
    if (!page || !embed_find("chart.min.js"))
        FAIL(EK_LACK, "report: this binary was built without Chart.js; run make deps, then make");
    json_t *data = json_pack("{s:O s:o}", "result", result, "events", thin_out(events));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out)
        put_page(out, page->text, title, data);
    enum ek_status st = !out || fclose(out) ? status_fail(EK_LACK, "report: out of memory")
                                            : json_write_text(path, text);
    free(text);
    json_decref(data);
    return st;
}
