/* cu/main_cu_run.c – cu-run: plans and runs parallel programs on all of some nodes. */
#include "cu/moldable/run.h"
#include "cu/rank/stop.h"
#include "src/opt.h"
#include "src/version.h"

#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name, *summary;
    enum ek_status (*run)(int argc, char **argv);
} commands[] = {
    {"plan", "the schedule of every method for some tasks and nodes, side by side", run_plan},
    {"run", "runs a job's tasks by such a schedule, here, over ssh or in a Slurm allocation",
     run_run},
    {"calibrate", "measures how long a job\'s tasks take on 1, 2, … cores, and the nodes\' speeds",
     run_calibrate},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    puts("cu-run – parallel tasks on as many cores as are worth it\n\n"
         "Usage: cu-run COMMAND [options]\n\n"
         "Runs parallel programs whose number of cores is free (moldable tasks) on the\n"
         "nodes of a cluster, each on as many cores and at such a time that all are done\n"
         "early.\n\ncommands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s ", commands[i].name), opt_wrap(stdout, 13, commands[i].summary);
    puts("\ncu-run COMMAND --help tells more, cu-run --help all what all of them do.");
}

/* Each command's own help behind the one for all. */
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
        FAIL(EK_USAGE, "a command is wanted: plan, run or calibrate; try --help");
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
    stop_catch_warning();
    return status_end(run(argc, argv));
}
