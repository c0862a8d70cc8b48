/* cu/bench/report.c – the page of a run or comparison. */
#include "cu/bench/report.h"
#include "src/page.h"
#include "src/base.h"

/* Pages with more events are larger than a megabyte and slow: only every n-th step is kept. */
enum { MANY_EVENTS = 4500 };

static json_t *thin_out(const json_t *events)
{
    size_t count = json_array_size(events), stride = 1 + count / MANY_EVENTS;
    json_t *kept = json_array(), *e;
    size_t i;
    json_array_foreach((json_t *)events, i, e)
    {
        const json_t *step = json_object_get(json_object_get(e, "args"), "step");
        const bool chosen = step && (size_t)json_integer_value(step) % stride == 0;
        if (!step || (chosen && json_array_size(kept) < 2 * MANY_EVENTS))
            json_array_append(kept, e);
    }
    return kept;
}

enum ek_status report_write(const char *path, const char *title, const json_t *result,
                            const json_t *events, const char *part, const json_t *view)
{
    json_auto_t *data = json_pack("{s:o}", "events", thin_out(events));
    if (view && data)
        json_object_set(data, "view", (json_t *)view);
    json_t *shown = json_copy((json_t *)result);
    json_object_del(shown, "case"); /* these two are for cu-plan */
    json_object_del(shown, "task_seconds");
    json_object_set_new(data, "result", shown);
    return page_write(path, "cu/bench/report.html", title, part, data);
}
