/* cu/moldable/moldable_read.c – parses laws, tasks and nodes, and checks problems. */
#include "cu/moldable/moldable.h"
#include "src/opt.h"

#include <ctype.h>
#include <limits.h>

enum { MOST_TASKS = 10000000, MOST_NODES = 100000, MOST_CORES = 4096 };

/* ---- laws -------------------------------------------------------------------------------------*/
static const char *skip(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

static bool word(const char **s, const char *what)
{
    const char *at = skip(*s);
    size_t n = strlen(what);
    if (strncmp(at, what, n))
        return false;
    *s = at + n;
    return true;
}

static bool number(const char **s, double *x)
{
    char *end;
    const char *at = skip(*s);
    if (!isdigit((unsigned char)*at) && *at != '.')
        return false;
    *x = strtod(at, &end);
    *s = end;
    return isfinite(*x);
}

/* Adds a term (x, x/p, x/p^y, x*p, x*log(p), p or log(p)) to the law. */
static bool term(struct moldable_law *law, const char **s, double sign)
{
    double x = 1, y = 1;
    bool counted = number(s, &x);
    x *= sign;
    if (counted && word(s, "/")) {
        if (!word(s, "p") || (word(s, "^") && !number(s, &y)) || (law->a != 0 && law->b != y))
            return false;
        law->a += x;
        law->b = y;
        return true;
    }
    if (counted && !word(s, "*")) {
        law->c += x;
        return true;
    }
    if (word(s, "log(p)") || word(s, "log p"))
        return law->d += x, true;
    return word(s, "p") && (law->e += x, true);
}

static bool formula(struct moldable_law *law, const char **s)
{
    double sign = word(s, "-") ? -1 : 1;
    do {
        if (!term(law, s, sign))
            return false;
        sign = word(s, "+") ? 1 : word(s, "-") ? -1 : 0;
    } while (sign != 0);
    return true;
}

static bool table(struct moldable_law *law, const char **s)
{
    double x;
    do {
        double *more = realloc(law->table, ((size_t)law->ntable + 1) * sizeof *more);
        if (!more || !number(s, &x))
            return law->table = more ? more : law->table, false;
        law->table = more;
        law->table[law->ntable++] = x;
    } while (word(s, ","));
    return word(s, "]");
}

enum ek_status moldable_law_parse(struct moldable_law *law, const char *text)
{
    struct moldable_law l = {0};
    const char *at = text;
    bool right = word(&at, "[") ? table(&l, &at) : formula(&l, &at);
    if (!right || *skip(at)) {
        free(l.table);
        FAIL(EK_USAGE,
             "run time '%s': not understood at '%s'; it must be a sum such as 71.07/p^0.42 + 4.47 "
             "(x, x/p^y, x*log(p), x*p) or a table [10, 6, 4.5]",
             text, at);
    }
    *law = l;
    return EK_OK;
}

/* ---- problems ---------------------------------------------------------------------------------*/
static enum ek_status grow(void **array, int count, int more, size_t size)
{
    void *grown = realloc(*array, ((size_t)count + (size_t)more) * size);
    if (!grown)
        FAIL(EK_UNAVAILABLE, "out of memory for %d tasks or nodes", count + more);
    *array = grown;
    return EK_OK;
}

enum ek_status moldable_add_tasks(struct moldable_problem *p, const struct moldable_kind *kind,
                                  int count)
{
    if (count < 1 || count > MOST_TASKS - p->ntasks)
        FAIL(EK_USAGE, "task '%s': a count of %d, there can be 1 to %d tasks in all", kind->name,
             count, MOST_TASKS);
    if (kind->most < 0 || kind->least < 0 || (kind->most && kind->most < kind->least))
        FAIL(EK_USAGE, "task '%s': %d to %d cores make no sense", kind->name, kind->least,
             kind->most);
    TRY(grow((void **)&p->kinds, p->nkinds, 1, sizeof *p->kinds));
    TRY(grow((void **)&p->kind, p->ntasks, count, sizeof *p->kind));
    struct moldable_kind *k = &p->kinds[p->nkinds];
    *k = *kind;
    k->name = arena_text(&p->arena, kind->name);
    k->law.table =
        arena_copy(&p->arena, kind->law.table, (size_t)kind->law.ntable, sizeof *k->law.table);
    k->after = arena_copy(&p->arena, kind->after, (size_t)kind->nafter, sizeof *k->after);
    TRY(arena_check(&p->arena, "tasks"));
    for (int i = 0; i < count; i++)
        p->kind[p->ntasks++] = p->nkinds;
    p->nkinds++;
    return EK_OK;
}

static enum ek_status cluster_named(struct moldable_problem *p, const char *name, int *cluster)
{
    for (int c = 0; c < p->nclusters; c++)
        if (!strcmp(p->cluster[c], name))
            return *cluster = c, EK_OK;
    TRY(grow((void **)&p->cluster, p->nclusters, 1, sizeof *p->cluster));
    p->cluster[p->nclusters] = arena_text(&p->arena, name);
    *cluster = p->nclusters++;
    return EK_OK;
}

enum ek_status moldable_add_node(struct moldable_problem *p, const char *name, int cores,
                                 double factor, const char *cluster)
{
    if (!*name)
        FAIL(EK_USAGE, "node %d: its name is missing", p->nnodes);
    if (cores < 1 || cores > MOST_CORES)
        FAIL(EK_USAGE, "node '%s': %d cores, it must have 1 to %d", name, cores, MOST_CORES);
    if (!(factor > 1e-6 && factor < 1e6))
        FAIL(EK_USAGE, "node '%s': a speed factor of %g, it must be above 1e-6 and below 1e6", name,
             factor);
    if (p->nnodes == MOST_NODES)
        FAIL(EK_USAGE, "node '%s': there can be %d nodes at most", name, MOST_NODES);
    struct moldable_node node = {.cores = cores, .factor = factor};
    TRY(cluster_named(p, cluster, &node.cluster));
    TRY(grow((void **)&p->node, p->nnodes, 1, sizeof *p->node));
    node.name = arena_text(&p->arena, name);
    TRY(arena_check(&p->arena, "nodes"));
    p->node[p->nnodes++] = node;
    return EK_OK;
}

/* ---- lists ------------------------------------------------------------------------------------*/
/* The next item of a list separated by commas outside brackets, trimmed, to be freed; NULL: out of
 * memory. */
static char *next_item(const char **list)
{
    const char *from = skip(*list), *to = from;
    for (int depth = 0; *to && (depth || *to != ','); to++)
        depth += (*to == '[') - (*to == ']');
    *list = *to ? to + 1 : to;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return strndup(from, (size_t)(to - from));
}

/* Reads the count of "10 x rest" and moves *s to the rest; 1 if there is none, 0 if it is bad. */
static int count_of(const char **s)
{
    char *end;
    const char *at = skip(*s);
    long n = strtol(at, &end, 10);
    const char *rest = end;
    if (end == at || !word(&rest, "x") || !isspace((unsigned char)*rest))
        return 1;
    *s = skip(rest);
    return n > 0 && n <= MOST_TASKS ? (int)n : 0;
}

static enum ek_status add_task_item(struct moldable_problem *p, char *item)
{
    struct moldable_kind kind = {.name = "task"};
    const char *at = item;
    char *equals = strchr(item, '=');
    if (equals) {
        *equals = 0;
        kind.name = item + strspn(item, " \t");
        kind.name[strcspn(kind.name, " \t")] = 0;
        at = equals + 1;
    }
    int count = count_of(&at);
    kind.cluster = word(&at, "cluster ");
    TRY(moldable_law_parse(&kind.law, skip(at)));
    enum ek_status st = moldable_add_tasks(p, &kind, count);
    free(kind.law.table);
    return st;
}

static enum ek_status add_node_item(struct moldable_problem *p, char *item)
{
    const char *at = item;
    int count = count_of(&at);
    char *rest = (char *)at, *field[4] = {NULL, NULL, "1", "all"}, name[96];
    long cores;
    double factor;
    for (int f = 0; f < 4 && rest; f++)
        field[f] = strsep(&rest, ":");
    if (!field[1] || rest || !opt_integer(field[1], -2147483647L, 2147483647L, &cores) ||
        !opt_number(field[2], &factor) || count < 1)
        FAIL(EK_USAGE,
             "node '%s': it must be name:cores:factor[:cluster], as ws1:12:1.4, or have a count "
             "before that, as 5 x ws:12:1.4",
             field[0]);
    for (int i = 1; i <= count; i++) {
        snprintf(name, sizeof name, count > 1 ? "%s%d" : "%s", field[0], i);
        TRY(moldable_add_node(p, name, (int)cores, factor, field[3]));
    }
    return EK_OK;
}

static enum ek_status each(struct moldable_problem *p, const char *list,
                           enum ek_status (*add)(struct moldable_problem *, char *))
{
    while (*skip(list)) {
        OWNED_MEMORY char *item = next_item(&list);
        if (!item)
            FAIL(EK_UNAVAILABLE, "out of memory for a list of tasks or nodes");
        TRY(add(p, item));
    }
    return EK_OK;
}

enum ek_status moldable_tasks_parse(struct moldable_problem *p, const char *text)
{
    return each(p, text, add_task_item);
}

enum ek_status moldable_nodes_parse(struct moldable_problem *p, const char *text)
{
    return each(p, text, add_node_item);
}

/* ---- checks -----------------------------------------------------------------------------------*/
static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct moldable_node *const *)a)->name,
                  (*(const struct moldable_node *const *)b)->name);
}

static enum ek_status check_names(const struct moldable_problem *p)
{
    OWNED_MEMORY const struct moldable_node **sorted = malloc((size_t)p->nnodes * sizeof *sorted);
    if (!sorted)
        FAIL(EK_UNAVAILABLE, "out of memory for %d nodes", p->nnodes);
    for (int j = 0; j < p->nnodes; j++)
        sorted[j] = &p->node[j];
    qsort(sorted, (size_t)p->nnodes, sizeof *sorted, by_name);
    for (int j = 1; j < p->nnodes; j++)
        if (!strcmp(sorted[j - 1]->name, sorted[j]->name))
            FAIL(EK_USAGE, "node '%s' is named twice", sorted[j]->name);
    return EK_OK;
}

/* The most cores that a task of the kind can use. */
static int most_cores(const struct moldable_kind *k)
{
    const int most = moldable_most(k, INT_MAX);
    return k->law.table && k->law.ntable < most ? k->law.ntable : most;
}

/* The most cores that some node can give to a task of the kind; 0 = too few. */
static int widest_on_node(const struct moldable_problem *p, const struct moldable_kind *k)
{
    int widest = 0;
    for (int j = 0; j < p->nnodes; j++)
        if (moldable_can_host(k, &p->node[j]) && p->node[j].cores > widest)
            widest = p->node[j].cores;
    widest = widest < most_cores(k) ? widest : most_cores(k);
    return widest < k->least ? 0 : widest;
}

/* The most cores of a cluster that a task of the kind can use; 0 = there may be no whole nodes with
 * a number of cores that it can use. Which nodes are free first is unknown here, so every order
 * must reach such a number: the first sum that is not below `least` is less than least + largest.
 */
static int widest_on_cluster(const struct moldable_problem *p, const struct moldable_kind *k, int c)
{
    const int least = moldable_fewest(k), most = most_cores(k);
    int sum = 0, largest = 0, smallest = INT_MAX;
    for (int j = 0; j < p->nnodes; j++) {
        const int cores = p->node[j].cores;
        if (p->node[j].cluster != c || !moldable_can_host(k, &p->node[j]))
            continue;
        sum += cores;
        largest = cores > largest ? cores : largest;
        smallest = cores < smallest ? cores : smallest;
    }
    const int step =
        largest == smallest ? (least + largest - 1) / largest * largest - least + 1 : largest;
    return sum < least || (most < sum && most - least + 1 < step) ? 0 : sum < most ? sum : most;
}

enum ek_status moldable_check_kind(const struct moldable_problem *p, const struct moldable_kind *k)
{
    bool hosted = false;
    int widest = k->cluster ? 0 : widest_on_node(p, k);
    for (int j = 0; j < p->nnodes; j++)
        hosted = hosted || moldable_can_host(k, &p->node[j]);
    if (!hosted)
        FAIL(EK_USAGE, "task '%s': no node has %d GPUs and %g of memory", k->name, k->gpus,
             k->memory);
    for (int c = 0; k->cluster && c < p->nclusters; c++) {
        const int cores = widest_on_cluster(p, k, c);
        widest = cores > widest ? cores : widest;
    }
    if (!widest)
        FAIL(EK_USAGE, "task '%s': no %s has a number of cores that it can use%s", k->name,
             k->cluster ? "cluster" : "node",
             moldable_needs_resources(k) ? ", and its GPUs and memory" : "");
    for (int w = moldable_fewest(k); w <= widest; w++) {
        const double t = moldable_seconds(&k->law, w);
        if (!(t >= 1e-100) || t > 1e100) /* sums and products of times are numbers, too */
            FAIL(EK_USAGE,
                 "task '%s': its run time on %d cores is %g s, it must be above 0, between 1e-100 "
                 "and 1e100",
                 k->name, w, t);
    }
    return EK_OK;
}

enum ek_status moldable_check(const struct moldable_problem *p)
{
    if (!p->ntasks)
        FAIL(EK_USAGE, "there are no tasks");
    if (!p->nnodes)
        FAIL(EK_USAGE, "there are no nodes");
    TRY(check_names(p));
    for (int k = 0; k < p->nkinds; k++)
        TRY(moldable_check_kind(p, &p->kinds[k]));
    return EK_OK;
}

void moldable_problem_close(struct moldable_problem *p)
{
    arena_free(&p->arena);
    free(p->kind);
    free(p->kinds);
    free(p->node);
    free(p->cluster);
    *p = (struct moldable_problem){0};
}
