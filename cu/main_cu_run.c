/* cu/main_cu_run.c – cu-run: plans parallel programs over the cores of several nodes and runs them.
 */
#include "cu/moldable/run.h"
#include "cu/rank/stop.h"
#include "src/opt.h"
#include "src/version.h"

static const struct command {
    const char *name, *summary;
    enum ek_status (*run)(int argc, char **argv);
} commands[] = {
    {"plan", "compares the schedules of all methods for some tasks and nodes", run_plan},
    {"run", "runs a job's tasks by such a schedule: here, over ssh or in a Slurm allocation",
     run_run},
    {"calibrate", "measures how long a job's tasks take on 1, 2, … cores, and the nodes' speeds",
     run_calibrate},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    puts("cu-run – schedules and runs parallel tasks whose number of cores may be chosen\n\n"
         "Usage: cu-run COMMAND [options]\n\n"
         "Runs parallel programs that can use any number of cores (moldable tasks) on the\n"
         "nodes of a cluster, and chooses the cores and the start of each task so that all\n"
         "are done as early as possible.\n\ncommands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s ", commands[i].name), opt_wrap(stdout, 13, commands[i].summary);
    puts("\nFor more, see cu-run COMMAND --help, or cu-run --help all.");
}

/* The general help and that of each command. */
static enum ek_status print_all(void)
{
    print_help();
    for (int i = 0; i < COMMANDS; i++) {
        char name[16], help[] = "--help", *words[] = {name, help, NULL};
        snprintf(name, sizeof name, "%s", commands[i].name);
        putchar('\n');
        TRY(commands[i].run(2, words));
    }
    return EK_OK;
}

static enum ek_status run(int argc, char **argv)
{
    int at;
    if (argc < 2)
        FAIL(EK_USAGE, "a command is missing: plan, run or calibrate; try --help");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return argc > 2 && !strcmp(argv[2], "all") ? print_all() : (print_help(), EK_OK);
    if (!strcmp(argv[1], "--version"))
        return puts("cu-run (Evenkeel) " EK_VERSION), EK_OK;
    if (!strcmp(argv[1], "agent"))
        return run_agent(argc - 1, argv + 1);
    TRY(opt_choose("command", argv[1], &commands[0].name, sizeof *commands, COMMANDS, &at));
    return commands[at].run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    status_begin("cu-run");
    stop_begin();
    return status_end(run(argc, argv));
}
