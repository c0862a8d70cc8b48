/* okada_mogi/expression.c – precedence climbing, compiled to a list of steps for a stack machine.
 * Libraries for this bind names to addresses, which threads would have to share. */
#include "okada_mogi/expression.h"
#include "okada_mogi/angle.h"
#include "src/demand.h"
#include "src/opt.h"

#include <ctype.h>

enum what {
    NUMBER,
    PARAMETER,
    FUNCTION,
    NOT,
    OR,
    AND,
    LESS,
    AT_MOST,
    MORE,
    AT_LEAST,
    SAME,
    OTHER,
    PLUS,
    MINUS,
    TIMES,
    OVER,
    POWER,
    LEAST,
    MOST
};

enum { COMPARISON = 3, SIGN = 6, DEEPEST = 32 };

/* Longer ones first. */
static const struct infix {
    const char *text;
    int level;
    enum what what;
} infixes[] = {{"||", 1, OR},           {"or", 1, OR},       {"&&", 2, AND},  {"and", 2, AND},
               {"<=", 3, AT_MOST},      {">=", 3, AT_LEAST}, {"==", 3, SAME}, {"!=", 3, OTHER},
               {"<", COMPARISON, LESS}, {">", 3, MORE},      {"+", 4, PLUS},  {"-", 4, MINUS},
               {"*", 5, TIMES},         {"/", 5, OVER},      {"^", 7, POWER}};

static double sine(double degrees)
{
    double s, c;
    angle_sincos(degrees, &s, &c);
    return s;
}

static double cosine(double degrees)
{
    double s, c;
    angle_sincos(degrees, &s, &c);
    return c;
}

static double tangent(double degrees)
{
    return sine(degrees) / cosine(degrees);
}

static const struct {
    const char *name;
    double (*f)(double);
} functions[] = {{"sqrt", sqrt},   {"abs", fabs}, {"exp", exp},    {"log", log},
                 {"log10", log10}, {"sin", sine}, {"cos", cosine}, {"tan", tangent}};

struct parser {
    const struct model *model;
    int nsources, depth, seen; /* seen: bit s: source s is named; bit 0: names without a number */
    const char *at, *wrong;
    char hint[120];
    struct expression *e;
};

static bool refuse(struct parser *p, const char *why)
{
    p->wrong = p->wrong ? p->wrong : why;
    return false;
}

static bool emit(struct parser *p, struct expression_step step)
{
    if (p->e->n == EXPRESSION_STEPS - 1)
        return refuse(p, "this is too long");
    p->e->step[p->e->n++] = step;
    return true;
}

/* Skips blanks and `text`, if that comes next; words must match as a whole. */
static bool skip(struct parser *p, const char *text)
{
    const size_t n = strlen(text);
    p->at += strspn(p->at, " \t");
    if (strncmp(p->at, text, n) ||
        (isalpha((unsigned char)*text) && isalnum((unsigned char)p->at[n])))
        return false;
    p->at += n;
    return true;
}

static bool parse(struct parser *p, int least);

static bool arguments(struct parser *p, int n)
{
    for (int i = 0; i < n; i++)
        if (!skip(p, i ? "," : "(") || !parse(p, 1))
            return refuse(p, i ? "',' and another number belong here" : "'(' belongs here");
    return skip(p, ")") || refuse(p, "')' belongs here");
}

static bool parameter(struct parser *p, const char *name, int size)
{
    const struct model *m = p->model;
    const int at = model_parameter_find(m, name, size);
    const char *names[MODEL_PARAMETERS];
    char word[64], *end = NULL;
    long source = 0;
    if (at < 0) {
        for (int i = 0; i < m->nparameters; i++)
            names[i] = m->parameter[i].name;
        snprintf(word, sizeof word, "%.*s", size, name);
        snprintf(p->hint, sizeof p->hint, "%s", opt_suggest(word, names, m->nparameters));
        p->at = name;
        return refuse(p, "there is no such parameter");
    }
    if (*p->at == '.') {
        source = strtol(p->at + 1, &end, 10);
        if (end == p->at + 1 || source < 1 || source > p->nsources)
            return refuse(p, "there is no such source");
        p->at = end;
    }
    p->seen |= 1 << source;
    p->e->as.looks_at |= 1u << at;
    return emit(
        p, (struct expression_step){.what = PARAMETER, .parameter = at, .source = (int)source - 1});
}

static bool word(struct parser *p)
{
    const char *name = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    const size_t size = (size_t)(p->at - name);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == size && !strncmp(functions[i].name, name, size))
            return arguments(p, 1) &&
                   emit(p, (struct expression_step){.what = FUNCTION, .function = functions[i].f});
    if (size == 3 && (!strncmp(name, "min", 3) || !strncmp(name, "max", 3)))
        return arguments(p, 2) &&
               emit(p, (struct expression_step){.what = name[1] == 'i' ? LEAST : MOST});
    if (size == 2 && !strncmp(name, "pi", 2))
        return emit(p, (struct expression_step){.what = NUMBER, .number = acos(-1)});
    if (size == 3 && !strncmp(name, "not", 3))
        return parse(p, COMPARISON) && emit(p, (struct expression_step){.what = NOT});
    return parameter(p, name, (int)size);
}

static bool operand(struct parser *p)
{
    char *end;
    if (skip(p, "("))
        return parse(p, 1) && (skip(p, ")") || refuse(p, "')' belongs here"));
    if (skip(p, "-"))
        return emit(p, (struct expression_step){.what = NUMBER}) && parse(p, SIGN) &&
               emit(p, (struct expression_step){.what = MINUS});
    if (skip(p, "!"))
        return parse(p, SIGN) && emit(p, (struct expression_step){.what = NOT});
    if (isalpha((unsigned char)*p->at))
        return word(p);
    const double x = strtod(p->at, &end);
    if (end == p->at || !isfinite(x))
        return refuse(p, "a number or a parameter belongs here");
    p->at = end;
    return emit(p, (struct expression_step){.what = NUMBER, .number = x});
}

static const struct infix *infix(struct parser *p, int least)
{
    const char *before = p->at;
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
        if (skip(p, infixes[i].text)) {
            if (infixes[i].level >= least)
                return &infixes[i];
            break;
        }
    p->at = before;
    return NULL;
}

/* Parses operators of precedence `least` and above. */
static bool parse(struct parser *p, int least)
{
    int compared = -1; /* the last step, if it is a comparison */
    bool right = p->depth++ < DEEPEST ? operand(p) : refuse(p, "this is too deep");
    for (const struct infix *i; right && (i = infix(p, least));) {
        const bool compares = i->level == COMPARISON, again = compares && compared >= 0;
        right = parse(p, i->level + (i->what != POWER));
        if (again && p->e->step[compared].keeps)
            return refuse(p, "more than a < b < c is not known");
        if (again) /* keep b for the second comparison of a < b < c */
            p->e->step[compared].keeps = true;
        compared = compares ? again ? EXPRESSION_STEPS - 1 : p->e->n : -1;
        right = right && emit(p, (struct expression_step){.what = i->what}) &&
                (!again || emit(p, (struct expression_step){.what = AND}));
    }
    p->depth--;
    return right;
}

/* Sets e->source from the names seen: one or two sources, or each. */
static bool find_sources(struct parser *p)
{
    int n = 0;
    p->e->source[0] = p->e->source[1] = -1;
    for (int s = p->nsources; s >= 1; s--)
        if (p->seen >> s & 1 && n++ < 2)
            p->e->source[n - 1] = s - 1;
    return (n < 3 && (!n || !(p->seen & 1))) ||
           refuse(p, "number all parameters, of one source or two, or none");
}

enum ek_status expression_read(const char *path, const char *key, const char *text,
                               const struct model *m, int nsources, struct expression *e)
{
    struct expression made = {.n = 0};
    struct parser p = {.model = m, .nsources = nsources, .at = text, .e = &made};
    made.step[EXPRESSION_STEPS - 1].keeps = true; /* where a chain ends */
    bool right = parse(&p, 1);
    p.at += strspn(p.at, " \t");
    if (right && *p.at)
        right = refuse(&p, "this is not understood");
    const int last = made.n ? made.step[made.n - 1].what : NUMBER;
    right = right && ((last >= NOT && last <= OTHER) || refuse(&p, "it compares nothing"));
    right = right && (made.as.looks_at || refuse(&p, "it has no parameter"));
    if (!right || !find_sources(&p))
        FAIL(EK_USAGE, "%s: %s '%s': %s%s%s%s%s", demand_at(path, key), key, text, p.wrong,
             *p.at ? ": '" : "", p.at, *p.at ? "'" : "", p.hint);
    made.as.name = text;
    made.as.pair = made.source[1] >= 0;
    *e = made;
    return EK_OK;
}

static double combine(int what, double a, double b)
{
    switch (what) {
    case OR:
        return a != 0 || b != 0;
    case AND:
        return a != 0 && b != 0;
    case LESS:
        return a < b;
    case AT_MOST:
        return a <= b;
    case MORE:
        return a > b;
    case AT_LEAST:
        return a >= b;
    case SAME:
        return a == b;
    case OTHER:
        return a < b || a > b;
    case PLUS:
        return a + b;
    case MINUS:
        return a - b;
    case TIMES:
        return a * b;
    case OVER:
        return a / b;
    case POWER:
        return pow(a, b);
    case LEAST:
        return fmin(a, b);
    default:
        return fmax(a, b);
    }
}

bool expression_holds(const struct expression *e, const double *x, const double *other)
{
    double stack[EXPRESSION_STEPS + 1];
    int n = 0;
    for (int i = 0; i < e->n; i++) {
        const struct expression_step *s = &e->step[i];
        if (s->what == NUMBER || s->what == PARAMETER) {
            const double *of = s->source == e->source[0] ? x : other;
            stack[n++] = s->what == NUMBER ? s->number : of[s->parameter];
        } else if (s->what == FUNCTION) {
            stack[n - 1] = s->function(stack[n - 1]);
        } else if (s->what == NOT) {
            stack[n - 1] = stack[n - 1] == 0;
        } else {
            const double b = stack[n - 1];
            stack[n - 2] = combine(s->what, stack[n - 2], b);
            stack[n - 1] = b;
            n -= !s->keeps;
        }
    }
    return n == 1 && stack[0] != 0;
}
