/* cu/moldable/agent_text.c – the master's messages to agents, as JSON. */
#include "cu/moldable/agent.h"
#include "src/json.h"

#include <unistd.h>

/* ---- the start --------------------------------------------------------------------------------*/
/* The command's first word, if it is plainly a program and not shell syntax. */
static bool first_word(const char *command, char word[1024])
{
    command += strspn(command, " \t\n");
    const size_t n = strcspn(command, " \t\n;|&<>()");
    snprintf(word, 1024, "%.*s", n < 1024 ? (int)n : 0, command);
    return *word && !strpbrk(word, "='{$\"\\`*?[~#");
}

static json_t *commands_of(const struct run_job *j)
{
    json_t *list = json_array();
    char word[1024], last[1024] = "";
    for (int k = 0; k < j->problem.nkinds; k++) {
        const struct moldable_kind *kind = &j->problem.kinds[k];
        if (!first_word(j->command[k].text, word) || !strcmp(word, last) ||
            (kind->nafter && strchr(word, '/'))) /* a task before it may make the program */
            continue;
        json_array_append_new(list, json_pack("{s:s, s:s}", "word", word, "task", kind->name));
        strcpy(last, word);
    }
    return list;
}

/* Cores and GPUs of the nodes before this one on the same host: they are not its own. */
static void count_taken(const struct run_job *j, int node, int *cores, int *gpus)
{
    const struct run_node *n = &j->node[node];
    *cores = *gpus = 0;
    for (int i = 0; i < node; i++)
        if (j->node[i].reach == n->reach && (!n->host || !strcmp(j->node[i].host, n->host))) {
            *cores += j->problem.node[i].cores;
            *gpus += j->problem.node[i].gpus;
        }
}

json_t *agent_start_json(const struct agent_run *r, int node)
{
    const struct moldable_node *n = &r->job->problem.node[node];
    const struct run_node *at = &r->job->node[node];
    char master[256] = "";
    json_t *cpus = json_integers(at->cpu, at->cpu ? (size_t)n->cores : 0);
    int taken_cores, taken_gpus;
    gethostname(master, sizeof master - 1);
    count_taken(r->job, node, &taken_cores, &taken_gpus);
    return json_pack("{s:i, s:i, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:b, s:o, s:o}",
                     "rank", node + 1, "size", r->family->size, "key", r->family->key, "call",
                     r->family->call, "name", n->name, "cores", n->cores, "gpus", n->gpus,
                     "taken_cores", taken_cores, "taken_gpus", taken_gpus, "folder", r->folder,
                     "token", r->token, "master", master, "bind", !r->job->oversubscribe, "cpus",
                     cpus, "commands", commands_of(r->job));
}

/* ---- a task -----------------------------------------------------------------------------------*/
/* The variables for the number of cores. Within Slurm also those that describe the task's nodes as
 * if they were an allocation: mpirun would otherwise see the agent's job step of one node. */
static json_t *variables_of(const struct run_job *j, const struct agent_task *t, int node)
{
    static const char *const counts[] = {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"},
                             *const lists[] = {"SLURM_NODELIST", "SLURM_JOB_NODELIST"},
                             *const tasks[] = {"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"};
    json_t *env = json_object();
    char number[16];
    snprintf(number, sizeof number, "%d", t->all_cores);
    for (const char **v = j->cores_in; *v; v++)
        json_object_set_new(env, *v, json_string(number));
    if (j->node[node].reach != RUN_SLURM)
        return env;
    json_object_set_new(env, "SLURM_NTASKS", json_string(number));
    json_object_set_new(env, "SLURM_NPROCS", json_string(number));
    snprintf(number, sizeof number, "%d", t->nnodes);
    for (int i = 0; i < 2; i++) {
        json_object_set_new(env, counts[i], json_string(number));
        json_object_set_new(env, lists[i], json_string(t->nodelist));
        json_object_set_new(env, tasks[i], json_string(t->tasks_per_node));
    }
    return env;
}

char *agent_task_text(const struct run_job *j, const struct agent_task *t, int node)
{
    const struct run_command *c = &j->command[t->kind];
    char cores[16], seconds[32];
    const struct run_word words[] = {{"cores", cores},
                                     {"node", t->node},
                                     {"hosts", t->hosts},
                                     {"seconds", seconds},
                                     {NULL, NULL}};
    json_t *outputs = json_array(), *one;
    size_t i;
    snprintf(cores, sizeof cores, "%d", t->all_cores);
    snprintf(seconds, sizeof seconds, "%.6f", t->seconds);
    json_array_foreach(c->output, i, one)
    {
        OWNED_MEMORY char *path = run_job_text(j, t->task, NULL, json_string_value(one));
        json_array_append_new(outputs, json_string(path ? path : ""));
    }
    OWNED_MEMORY char *command = run_job_text(j, t->task, words, c->text);
    json_auto_t *o =
        json_pack("{s:s, s:i, s:i, s:i, s:f, s:s, s:o, s:o}", "command", command ? command : "",
                  "cores", t->cores, "nodes", t->nnodes, "gpus", j->problem.kinds[t->kind].gpus,
                  "walltime", c->walltime, "measure", c->measure ? c->measure : "", "env",
                  variables_of(j, t, node), "outputs", outputs);
    return command && o ? json_dumps(o, JSON_COMPACT) : NULL;
}
