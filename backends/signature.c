/* backends/signature.c – a kernel's parameters, from its text. */
#include "backends/signature.h"

#include <string.h>

static enum backend_type type_of(const char *parameter)
{
    static const struct {
        const char *word;
        enum backend_type type;
    } words[] = {{"*", BACKEND_MEM},
                 {"double ", BACKEND_DOUBLE},
                 {"real ", BACKEND_DOUBLE},
                 {"long ", BACKEND_LONG}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(parameter, words[i].word))
            return words[i].type;
    return BACKEND_INT;
}

enum ek_status signature_read(const char *label, const char *text, const char *name,
                              struct signature *s)
{
    char line[128], list[4096];
    snprintf(line, sizeof line, "\nKERNEL(%s,", name);
    const char *at = strstr(text, line);
    if (!at)
        FAIL(EK_USAGE, "%s: the text has no kernel '%s': check its KERNEL() line", label, name);
    *s = (struct signature){.nargs = 0};
    snprintf(s->name, sizeof s->name, "%s", name);
    const char *from = strchr(strchrnul(at, ')'), '(');
    snprintf(list, sizeof list, "%.*s", from ? (int)strcspn(from, ")") : 0, from ? from : "");
    char *rest = list;
    for (char *word; s->nargs < SIGNATURE_ARGS && (word = strsep(&rest, ","));)
        s->type[s->nargs++] = type_of(word);
    return EK_OK;
}

enum ek_status signature_check(const char *label, const struct signature *s, int nargs,
                               const struct backend_arg *args)
{
    if (nargs != s->nargs)
        FAIL(EK_USAGE, "%s: kernel '%s' takes %d arguments, %d were given", label, s->name,
             s->nargs, nargs);
    for (int i = 0; i < nargs; i++)
        if (args[i].type != s->type[i])
            FAIL(EK_USAGE, "%s: argument %d of kernel '%s' is of the wrong type", label, i + 1,
                 s->name);
    return EK_OK;
}
