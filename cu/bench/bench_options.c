/* cu/bench/bench_options.c – reads the command line of every program, and answers --help and other
 * options that only print. */
#include "cu/bench/bench_options.h"
#include "cu/team/fault.h"
#include "src/isa.h"
#include "src/version.h"

#define AT(member) offsetof(struct bench_settings, member)
static const struct opt common_options[] = {
    {"layout", OPT_TEXT, AT(layout), "NxM+G[xK]",
     "N CPU units of M cores and G devices (each fed by K threads), or auto: try several and take "
     "the fastest",
     .env = "CU_LAYOUT"},
    {"tune", OPT_REAL, AT(tune), "SECONDS", "time for the trials of --layout auto (10)", .min = 0.1,
     .max = 1e6, .rare = true},
    {"devices", OPT_TEXT, AT(devices), "LIST", "devices, e.g. opencl:0,cuda:1, or auto",
     .env = "CU_DEVICES"},
    {"isa", OPT_TEXT, AT(isa), "LEVEL",
     "highest instruction level to use: v3, v4, … (cu-info lists them)", .env = "CU_ISA",
     .rare = true},
    {"schedule", OPT_TEXT, AT(schedule), "NAME[:OPTS]",
     "scheduling policy, e.g. dynamic:chunk=4 (evenkeel)", .env = "CU_SCHEDULE"},
    {"compare", OPT_TEXT, AT(compare), "LIST",
     "run these policies in turn on the same problem and compare them (all)", .optional = true},
    {"repeat", OPT_INT, AT(repeat), "N",
     "runs of each policy; the table shows the median and its confidence interval (1)", .min = 1,
     .max = 64},
    {"profile", OPT_TEXT, AT(profile), "make|use|off",
     "task times for the policies: measure and store them (make), use stored ones (use, the "
     "default), do without (off)",
     .optional = true},
    {"check", OPT_FLAG, AT(check), .help = "print only whether the result is verified",
     .rare = true},
    {"json", OPT_TEXT, AT(json), "FILE", .help = "write the results as JSON; - is standard output"},
    {"trace", OPT_TEXT, AT(trace), "FILE",
     "write a Chrome/Perfetto trace, or a Paje trace if FILE ends in .paje", .env = "CU_TRACE"},
    {"report", OPT_TEXT, AT(report), "FILE", "write a self-contained HTML page",
     .env = "CU_REPORT"},
    {"quiet", OPT_FLAG, AT(quiet), .help = "no table, no progress line"},
    {"strict", OPT_FLAG, AT(strict), .help = "refuse to run more threads than there are cpus",
     .rare = true},
    {"display-env", OPT_FLAG, AT(display_env),
     .help = "print layout, devices and OpenMP settings in force", .env = "CU_DISPLAY_ENV",
     .rare = true},
    {"list-schedules", OPT_FLAG, AT(list_schedules), .help = "list the policies and exit"},
    {"list-devices", OPT_FLAG, AT(list_devices), .help = "list the devices and exit"},
    {"help", OPT_TEXT, AT(help), "all", "print this help, or that on all options, and exit",
     .optional = true},
    {"version", OPT_FLAG, AT(version), .help = "print the version and exit"},
    OPT_END,
};

/* ---- options that only print ------------------------------------------------------------------*/

static void print_help(const struct bench_program *p, const struct opt_group *groups,
                       const char *help)
{
    printf("%s – %s\n\nUsage: %s %s%s[options]\n", p->identity.name, p->identity.summary,
           p->identity.name, p->command.operand ? p->command.operand : "",
           p->command.operand ? " " : "");
    const bool all = !strcmp(help, "all");
    const int left_out = opt_help(stdout, groups, 2, all);
    if (left_out)
        printf("\n%s --help all shows %d more options\n", p->identity.name, left_out);
    printf("\nexit codes: 0 ok, 1 a result failed verification, 2 bad usage or input,\n"
           "            3 the machine lacks something, 4 interrupted\n");
    if (all)
        opt_wrap(stdout, 0, "for tests, CU_FAULT injects a list of faults: " FAULT_FORMS);
}

/* Prints what an option asked for; false if none did. */
static bool answered(const struct bench_program *p, const struct bench_settings *set,
                     const struct opt_group *groups)
{
    if (set->help)
        print_help(p, groups, set->help);
    else if (set->version)
        printf("%s (Evenkeel) %s\n", p->identity.name, EK_VERSION);
    else if (set->list_schedules)
        sched_print(stdout);
    else if (set->list_devices)
        backend_print(stdout);
    else
        return false;
    return true;
}

/* Parses the options, and the program's operand if it takes one. */
static enum ek_status parse(const struct bench_program *p, void *st, const struct opt_group *groups,
                            int argc, char **argv)
{
    if (!p->command.operand)
        return opt_parse(groups, 2, argc, argv, NULL, NULL);
    int n = 0;
    OWNED_MEMORY NEW(const char *, word, argc, "out of memory");
    TRY(opt_parse(groups, 2, argc, argv, word, &n));
    if (n > 1)
        FAIL(EK_USAGE, "unexpected argument '%s': %s takes one %s", word[1], p->identity.name,
             p->command.operand);
    if (n == 1)
        *(const char **)((char *)st + p->command.operand_at) = word[0];
    return EK_OK;
}

/* --profile without a value is "", and means make. */
static enum ek_status check_profile_option(const struct bench_settings *set)
{
    static const char *const modes[] = {"make", "use", "off"};
    int at;
    return *set->profile ? opt_choose("--profile", set->profile, modes, sizeof *modes, 3, &at)
                         : EK_OK;
}

enum ek_status bench_options_read(const struct bench_program *p, void *st, int argc, char **argv,
                                  struct bench_settings *set, bool *done)
{
    *set =
        (struct bench_settings){.repeat = 1, .profile = "use", .schedule = "evenkeel", .tune = 10};
    const struct opt_group groups[] = {{"problem:", p->command.table, st},
                                       {"run:", common_options, set}};
    if (p->command.defaults)
        p->command.defaults(st, p);
    TRY(parse(p, st, groups, argc, argv));
    if (p->command.settings_at)
        *(const struct bench_settings **)((char *)st + p->command.settings_at) = set;
    TRY(isa_choose(set->isa));
    *done = answered(p, set, groups);
    if (!*done && p->command.answer)
        TRY(p->command.answer(st, done));
    return *done ? EK_OK : check_profile_option(set);
}
