/* cu/moldable/job.c – reads and checks a job of cu-run. */
#include "cu/moldable/job.h"
#include "cu/moldable/cpus.h"
#include "src/demand.h"
#include "src/file.h"

#include <ctype.h>
#include <regex.h>

/* ---- members ----------------------------------------------------------------------------------*/
static enum ek_status text_of(const struct run_job *j, const char *where, const json_t *object,
                              const char *key, const char **text)
{
    const json_t *value = json_object_get(object, key);
    char name[128];
    snprintf(name, sizeof name, "%s.%s", where, key);
    TRY(demand_that(j->path, !value || json_is_string(value), name, "text"));
    if (value)
        *text = json_string_value(value);
    return EK_OK;
}

static enum ek_status number_of(const struct run_job *j, const char *where, const json_t *object,
                                const char *key, double lo, double hi, double *number)
{
    const struct demand d = {.min = lo, .max = hi};
    return demand_optional(j->path, where, object, key, &d, number);
}

static enum ek_status whole_of(const struct run_job *j, const char *where, const json_t *object,
                               const char *key, int lo, int hi, int *number)
{
    const struct demand d = {.min = lo, .max = hi, .whole = true};
    double x = *number;
    TRY(demand_optional(j->path, where, object, key, &d, &x));
    *number = (int)x;
    return EK_OK;
}

/* Seconds, or "h:m:s". */
static enum ek_status walltime_of(const struct run_job *j, const char *where, const json_t *object,
                                  double *seconds)
{
    const char *text = json_string_value(json_object_get(object, "walltime"));
    char key[128];
    double sum = 0, part = 0;
    if (!text)
        return number_of(j, where, object, "walltime", 0, 1e9, seconds);
    snprintf(key, sizeof key, "%s.walltime", where);
    for (char *end = NULL; !end || *end; text = end + 1) {
        part = strtod(text, &end);
        sum = 60 * sum + part;
        if (end == text || (*end && *end != ':') || !(part >= 0 && sum <= 1e9))
            return demand_that(j->path, false, key, "seconds, or h:m:s");
    }
    *seconds = sum;
    return EK_OK;
}

/* A list of texts, or nothing. */
static enum ek_status list_of(const struct run_job *j, const char *where, const json_t *object,
                              const char *key, const json_t **list)
{
    const json_t *value = json_object_get(object, key), *one;
    char name[128];
    size_t i;
    snprintf(name, sizeof name, "%s.%s", where, key);
    TRY(demand_that(j->path, !value || json_is_array(value), name, "a list of texts"));
    json_array_foreach(value, i, one)
        TRY(demand_that(j->path, json_is_string(one), name, "a list of texts"));
    *list = value;
    return EK_OK;
}

/* A name must be safe to pass to shells, ssh and srun. */
static enum ek_status check_name(const struct run_job *j, const char *name)
{
    const char *at = name;
    while (*at && !iscntrl((unsigned char)*at) && !strchr(" \"'\\$`;|&<>()*?[]{}#~!,", *at))
        at++;
    if (!*name || *name == '-' || *at)
        FAIL(EK_USAGE,
             "%s: nodes: '%s' is not the name of a host; one word without signs "
             "that shells read, no leading '-'",
             j->path, name);
    return EK_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------*/
static enum ek_status add_node(struct run_job *j, const char *name, const char *host, int cores,
                               double factor, const char *cluster, enum run_reach reach)
{
    int n = j->problem.nnodes;
    TRY(check_name(j, name));
    if (host)
        TRY(check_name(j, host));
    TRY(arena_grow(&j->node, &j->room, (size_t)n, sizeof *j->node, "nodes"));
    j->node[n] = (struct run_node){.reach = reach};
    if (reach != RUN_HERE)
        j->node[n].host = arena_text(&j->arena, host);
    TRY(arena_check(&j->arena, "nodes"));
    return moldable_add_node(&j->problem, name, cores, factor, cluster);
}

/* Divides this machine's cpus among the nodes that are this machine. */
static enum ek_status share_cpus(struct run_job *j)
{
    int *cpu, have, used = 0;
    TRY(cpus_own(&j->arena, &cpu, &have));
    for (int i = 0; i < j->problem.nnodes; i++) {
        int cores = j->problem.node[i].cores;
        if (j->node[i].reach != RUN_HERE || j->oversubscribe)
            continue;
        used += cores;
        if (used > have)
            FAIL(
                EK_UNAVAILABLE,
                "%s: node '%s' with %d cores: the nodes on this machine have %d cores together but "
                "it has %d; give them fewer, or set \"oversubscribe\": true",
                j->path, j->problem.node[i].name, cores, used, have);
        j->node[i].cpu = cpu + used - cores;
    }
    return EK_OK;
}

static enum ek_status read_node(struct run_job *j, size_t i, json_t *object)
{
    char where[32];
    const char *name = NULL, *host = NULL, *cluster = "all";
    int cores = 0, gpus = 0;
    double factor = 1, memory = 0;
    snprintf(where, sizeof where, "nodes[%zu]", i);
    if (!json_is_object(object))
        FAIL(EK_USAGE, "%s: %s must be an object", j->path, where);
    TRY(DEMAND_KEYS(j->path, where, object, "name", "host", "cores", "factor", "cluster", "gpus",
                    "memory"));
    TRY(text_of(j, where, object, "name", &name));
    TRY(text_of(j, where, object, "host", &host));
    TRY(text_of(j, where, object, "cluster", &cluster));
    TRY(whole_of(j, where, object, "cores", 1, 4096, &cores));
    TRY(whole_of(j, where, object, "gpus", 0, 64, &gpus));
    TRY(number_of(j, where, object, "factor", 1e-6, 1e6, &factor));
    TRY(number_of(j, where, object, "memory", 0, 1e18, &memory));
    if (!name || !cores)
        FAIL(EK_USAGE, "%s: %s.%s is missing", j->path, where, name ? "cores" : "name");
    bool here = !host || !strcmp(host, "localhost");
    TRY(add_node(j, name, host, cores, factor, cluster, here ? RUN_HERE : RUN_SSH));
    struct moldable_node *n = &j->problem.node[j->problem.nnodes - 1];
    n->gpus = gpus;
    n->memory = memory;
    return EK_OK;
}

/* Lines such as "cs1 slots=8" or "cs1:8"; # begins a comment. */
static enum ek_status read_hostfile(struct run_job *j, const char *path)
{
    OWNED_MEMORY char *line = NULL;
    size_t room = 0;
    char host[256];
    int number = 0;
    file_input(path);
    OWNED_STREAM FILE *f = fopen(path, "re");
    if (!f)
        FAIL(EK_USAGE, "%s: hostfile %s cannot be opened: %m", j->path, path);
    while (getline(&line, &room, f) >= 0) {
        int cores = 0;
        number++;
        line[strcspn(line, "#\n")] = 0;
        if (sscanf(line, " %255[^ \t:]%*[ \t:]slots=%d", host, &cores) < 2 &&
            sscanf(line, " %255[^ \t:]:%d", host, &cores) < 2 && sscanf(line, " %255s", host) < 1)
            continue;
        if (cores < 1)
            FAIL(EK_USAGE, "%s:%d: '%s' needs a number of cores, as slots=8", path, number, host);
        TRY(add_node(j, host, host, cores, 1, "all", RUN_SSH));
    }
    return EK_OK;
}

/* The allocation's hosts from scontrol, their cores from a variable such as "16(x3),8". */
static enum ek_status read_slurm(struct run_job *j)
{
    const char *cpus = getenv("SLURM_JOB_CPUS_PER_NODE");
    char host[256];
    enum ek_status st = EK_OK;
    if (!getenv("SLURM_JOB_NODELIST") || !cpus)
        FAIL(EK_UNAVAILABLE,
             "%s: nodes are \"slurm\", but this is not a Slurm allocation (salloc, sbatch)",
             j->path);
    FILE *f = popen("scontrol show hostnames \"$SLURM_JOB_NODELIST\"", "r");
    if (!f)
        FAIL(EK_UNAVAILABLE, "%s: scontrol cannot be run: %m", j->path);
    int cores = 0, times = 0;
    while (!st && fscanf(f, "%255s", host) == 1) {
        if (!times--) {
            int used = 0;
            cores = (int)strtol(cpus, (char **)&cpus, 10);
            times = sscanf(cpus, "(x%d)%n", &times, &used) == 1 ? times - 1 : 0;
            cpus += used + (cpus[used] == ',');
        }
        st = add_node(j, host, host, cores, 1, "all", RUN_SLURM);
    }
    pclose(f);
    return st;
}

static enum ek_status read_here(struct run_job *j)
{
    int *cpu, n;
    TRY(cpus_own(&j->arena, &cpu, &n));
    return add_node(j, "localhost", NULL, n, 1, "all", RUN_HERE);
}

static enum ek_status read_nodes(struct run_job *j)
{
    json_t *nodes = json_object_get(j->root, "nodes"), *object;
    const char *word = json_string_value(nodes), *hostfile = NULL;
    size_t i;
    if (word && !strcmp(word, "localhost"))
        return read_here(j);
    if (word && !strcmp(word, "slurm"))
        return read_slurm(j);
    if (json_is_object(nodes)) {
        TRY(DEMAND_KEYS(j->path, "nodes", nodes, "hostfile"));
        TRY(text_of(j, "nodes", nodes, "hostfile", &hostfile));
        if (hostfile)
            return read_hostfile(j, hostfile);
    }
    if (!json_is_array(nodes) || !json_array_size(nodes))
        FAIL(EK_USAGE,
             "%s: nodes must be \"localhost\", \"slurm\", {\"hostfile\": …} or a list of nodes",
             j->path);
    json_array_foreach(nodes, i, object) TRY(read_node(j, i, object));
    return EK_OK;
}

/* ---- tasks ------------------------------------------------------------------------------------*/
static enum ek_status read_table(const struct run_job *j, const char *where, const json_t *list,
                                 struct moldable_law *law)
{
    size_t n = json_array_size(list);
    law->table = calloc(n + 1, sizeof *law->table); /* freed by read_tasks() */
    for (size_t i = 0; law->table && i < n; i++) {
        double x = json_number_value(json_array_get(list, i));
        if (!(x > 0) || !isfinite(x))
            FAIL(EK_USAGE, "%s: %s.time[%zu] must be a number above 0", j->path, where, i);
        law->table[law->ntable++] = x;
    }
    return law->ntable ? EK_OK
                       : status_fail(EK_USAGE, "%s: %s.time has no numbers", j->path, where);
}

static enum ek_status read_law(const struct run_job *j, const char *where, const json_t *task,
                               struct moldable_law *law, bool *timed)
{
    const json_t *time = json_object_get(task, "time");
    *timed = time != NULL;
    if (json_is_array(time))
        return read_table(j, where, time, law);
    if (json_is_string(time))
        return moldable_law_parse(law, json_string_value(time));
    if (time)
        FAIL(EK_USAGE, "%s: %s.time must be a formula or a list of numbers", j->path, where);
    *law = (struct moldable_law){.c = 1};
    return EK_OK;
}

static enum ek_status check_measure(const struct run_job *j, const char *where, const char *regex)
{
    regex_t compiled;
    if (!regex)
        return EK_OK;
    bool good = !regcomp(&compiled, regex, REG_EXTENDED | REG_NEWLINE);
    bool groups = good && compiled.re_nsub == 1;
    if (good)
        regfree(&compiled);
    return groups
               ? EK_OK
               : status_fail(EK_USAGE, "%s: %s.measure must be a regular expression with one group",
                             j->path, where);
}

/* Multiplies *count by the number of combinations of the sweep. */
static enum ek_status check_sweep(const struct run_job *j, const char *where, json_t *sweep,
                                  int *count)
{
    static const char *const taken[] = {"id", "cores", "node", "hosts", "seconds"};
    char key[128];
    const char *name;
    json_t *values, *value;
    double all = *count;
    size_t i;
    snprintf(key, sizeof key, "%s.sweep", where);
    TRY(demand_that(j->path, !sweep || json_is_object(sweep), key, "an object of lists"));
    json_object_foreach(sweep, name, values)
    {
        for (size_t w = 0; w < sizeof taken / sizeof *taken; w++)
            if (!strcmp(name, taken[w]))
                FAIL(EK_USAGE, "%s: %s: {%s} has a meaning of its own; choose another name",
                     j->path, key, name);
        TRY(demand_that(j->path, json_array_size(values) > 0, key,
                        "an object of lists with at least one value"));
        json_array_foreach(values, i, value)
            TRY(demand_that(j->path, json_is_string(value) || json_is_number(value), key,
                            "an object of lists of texts or numbers"));
        all *= (double)json_array_size(values);
    }
    if (all > 1e7)
        FAIL(EK_USAGE, "%s: %s makes %.0f tasks, at most 1e7 are possible", j->path, key, all);
    *count = (int)all;
    return EK_OK;
}

/* The kinds that "after" names. They must come before this one in the list, so there is no cycle.
 */
static enum ek_status read_after(struct run_job *j, const char *where, const json_t *task,
                                 struct moldable_kind *kind)
{
    const json_t *list = NULL, *one;
    size_t i;
    TRY(list_of(j, where, task, "after", &list));
    if (!list)
        return EK_OK;
    memset(kind->after, 0, (size_t)j->problem.nkinds * sizeof *kind->after);
    json_array_foreach(list, i, one)
    {
        bool found = false;
        for (int k = 0; k < j->problem.nkinds; k++)
            if (!strcmp(j->problem.kinds[k].name, json_string_value(one)))
                kind->after[k] = found = 1;
        if (!found)
            FAIL(EK_USAGE, "%s: %s.after: no task before it has the name '%s'", j->path, where,
                 json_string_value(one));
    }
    for (int k = 0; k < j->problem.nkinds; k++) /* from flags to a list */
        if (kind->after[k])
            kind->after[kind->nafter++] = k;
    return EK_OK;
}

static enum ek_status add_task(struct run_job *j, const char *where, json_t *task,
                               struct moldable_kind *kind, struct run_command *command)
{
    int count = 1;
    const char *name = "task";
    TRY(DEMAND_KEYS(j->path, where, task, "name", "count", "command", "time", "cluster",
                    "least_cores", "most_cores", "measure", "interference", "gpus", "memory",
                    "walltime", "after", "sweep", "outputs"));
    TRY(text_of(j, where, task, "name", &name));
    TRY(text_of(j, where, task, "command", &command->text));
    TRY(text_of(j, where, task, "measure", &command->measure));
    TRY(whole_of(j, where, task, "count", 1, 1000000, &count));
    TRY(whole_of(j, where, task, "least_cores", 0, 4096, &kind->least));
    TRY(whole_of(j, where, task, "most_cores", 0, 4096, &kind->most));
    TRY(whole_of(j, where, task, "gpus", 0, 64, &kind->gpus));
    TRY(number_of(j, where, task, "memory", 0, 1e18, &kind->memory));
    TRY(number_of(j, where, task, "interference", 0, 1000, &kind->interference));
    TRY(walltime_of(j, where, task, &command->walltime));
    TRY(demand_flag(j->path, where, task, "cluster", &kind->cluster));
    TRY(list_of(j, where, task, "outputs", &command->output));
    TRY(check_sweep(j, where, json_object_get(task, "sweep"), &count));
    TRY(check_measure(j, where, command->measure));
    if (!command->text || !command->text[strspn(command->text, " \t\n")])
        FAIL(EK_USAGE, "%s: %s.command is missing", j->path, where);
    TRY(read_law(j, where, task, &kind->law, &command->timed));
    TRY(read_after(j, where, task, kind));
    command->sweep = json_object_get(task, "sweep");
    command->first = j->problem.ntasks;
    kind->name = (char *)name;
    return moldable_add_tasks(&j->problem, kind, count);
}

static enum ek_status read_trace(struct run_job *j, const json_t *tasks)
{
    const char *swf = NULL, *command = "sleep {seconds}";
    double scale = 1;
    TRY(DEMAND_KEYS(j->path, "tasks", tasks, "swf", "scale", "command"));
    TRY(text_of(j, "tasks", tasks, "swf", &swf));
    TRY(text_of(j, "tasks", tasks, "command", &command));
    TRY(number_of(j, "tasks", tasks, "scale", 1e-9, 1e9, &scale));
    TRY(demand_that(j->path, swf != NULL, "tasks.swf", "the path of a trace"));
    TRY(moldable_read_swf(&j->problem, swf, moldable_widest(&j->problem), scale));
    j->command = ARENA_NEW(&j->arena, j->problem.nkinds, struct run_command);
    TRY(arena_check(&j->arena, "tasks"));
    for (int k = 0; k < j->problem.nkinds; k++)
        j->command[k] = (struct run_command){.text = command, .first = k, .timed = true};
    return EK_OK;
}

static enum ek_status read_tasks(struct run_job *j)
{
    json_t *tasks = json_object_get(j->root, "tasks"), *task;
    size_t i, n = json_array_size(tasks);
    char where[32];
    if (json_is_object(tasks))
        return read_trace(j, tasks);
    if (!n)
        FAIL(EK_USAGE, "%s: tasks must be a list with at least one task", j->path);
    j->command = ARENA_NEW(&j->arena, n, struct run_command);
    int *after = ARENA_NEW(&j->arena, n, int); /* of one task at a time */
    TRY(arena_check(&j->arena, "tasks"));
    json_array_foreach(tasks, i, task)
    {
        struct moldable_kind kind = {.after = after};
        snprintf(where, sizeof where, "tasks[%zu]", i);
        enum ek_status st = add_task(j, where, task, &kind, &j->command[i]);
        free(kind.law.table);
        TRY(st);
    }
    return EK_OK;
}

static enum ek_status read_variables(struct run_job *j)
{
    static const char *const usual[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"};
    json_t *list = json_object_get(j->root, "cores_in"), *name;
    size_t i, n = list ? json_array_size(list) : 2;
    if (list && !json_is_array(list))
        FAIL(EK_USAGE, "%s: cores_in must be a list of variables", j->path);
    j->cores_in = ARENA_NEW(&j->arena, n + 1, const char *);
    TRY(arena_check(&j->arena, "variables"));
    if (!list)
        memcpy(j->cores_in, usual, sizeof usual);
    json_array_foreach(list, i, name)
    {
        j->cores_in[i] = json_string_value(name);
        if (!j->cores_in[i] || !*j->cores_in[i] || strchr(j->cores_in[i], '='))
            FAIL(EK_USAGE, "%s: cores_in[%zu] must name a variable", j->path, i);
    }
    return EK_OK;
}

/* ---- all --------------------------------------------------------------------------------------*/
static enum ek_status read_job(struct run_job *j)
{
    if (!json_is_object(j->root))
        FAIL(EK_USAGE, "%s: must be a JSON object", j->path);
    TRY(DEMAND_KEYS(j->path, "job", j->root, "nodes", "oversubscribe", "tasks", "cores_in",
                    "retries", "walltime"));
    TRY(walltime_of(j, "job", j->root, &j->walltime));
    TRY(demand_flag(j->path, "job", j->root, "oversubscribe", &j->oversubscribe));
    TRY(whole_of(j, "job", j->root, "retries", 0, 1000, &j->retries));
    TRY(read_variables(j));
    TRY(read_nodes(j));
    TRY(read_tasks(j));
    TRY(moldable_check(&j->problem));
    return share_cpus(j);
}

enum ek_status run_job_open(struct run_job *j, const char *path)
{
    *j = (struct run_job){.path = path, .retries = 1};
    file_input(path);
    TRY(demand_open(path, &j->root));
    enum ek_status st = read_job(j);
    if (st)
        run_job_close(j);
    return st;
}

void run_job_close(struct run_job *j)
{
    free(j->node);
    arena_free(&j->arena);
    moldable_problem_close(&j->problem);
    json_decref(j->root);
    *j = (struct run_job){0};
}

enum ek_status run_job_timed(const struct run_job *j)
{
    for (int k = 0; k < j->problem.nkinds; k++)
        if (!j->command[k].timed)
            FAIL(EK_USAGE,
                 "%s: tasks[%d].time is missing; give it, or measure it: cu-run calibrate %s --out "
                 "FILE",
                 j->path, k, j->path);
    return EK_OK;
}

/* ---- texts ------------------------------------------------------------------------------------*/
/* The value of a sweep's name for the task: the first name changes slowest. */
static const json_t *swept(const struct run_job *j, int task, const char *name, size_t length)
{
    const struct run_command *c = &j->command[j->problem.kind[task]];
    size_t index = (size_t)(task - c->first), stride = 1;
    const json_t *found = NULL;
    const char *key;
    json_t *values;
    json_object_foreach((json_t *)c->sweep, key, values)
    {
        if (found)
            stride *= json_array_size(values);
        else if (strlen(key) == length && !strncmp(key, name, length))
            found = values;
    }
    return found ? json_array_get(found, index / stride % json_array_size(found)) : NULL;
}

/* As few digits as give the same number again. */
static void put_real(FILE *out, double x)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    fputs(text, out);
}

/* Writes the value of {name}; false: it has none. */
static bool put_value(FILE *out, const struct run_job *j, int task, const struct run_word *more,
                      const char *name, size_t length)
{
    const json_t *value = swept(j, task, name, length);
    while (more && more->name &&
           (strlen(more->name) != length || strncmp(more->name, name, length)))
        more++;
    if (more && more->name)
        fputs(more->text, out);
    else if (length == 2 && !strncmp(name, "id", 2))
        fprintf(out, "%d", task);
    else if (json_is_string(value))
        fputs(json_string_value(value), out);
    else if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (value)
        put_real(out, json_real_value(value));
    else
        return false;
    return true;
}

char *run_job_text(const struct run_job *j, int task, const struct run_word *more, const char *text)
{
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    while (out && *text) {
        const char *end = *text == '{' ? strchr(text, '}') : NULL;
        if (end && put_value(out, j, task, more, text + 1, (size_t)(end - text - 1)))
            text = end + 1;
        else
            fputc(*text++, out);
    }
    if (out)
        fclose(out);
    return made;
}
