/* cu/bench/bench_options.c – reads the command line of every program, and answers what asks for a
 * text. */
#include "cu/bench/bench_options.h"
#include "cu/team/fault.h"
#include "src/arena.h"
#include "src/isa.h"
#include "src/owned.h"
#include "src/version.h"

#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct bench_settings, member)
static const struct opt common_options[] = {
    {"layout", OPT_TEXT, AT(layout), "NxM+G[xK]",
     "N CPU units of M cores and G devices (fed by K threads each), or auto: the best of those "
     "tried",
     .env = "CU_LAYOUT"},
    {"tune", OPT_REAL, AT(tune), "SECONDS", "time for --layout auto to try layouts (10)",
     .min = 0.1, .max = 1e6, .rare = true},
    {"devices", OPT_TEXT, AT(devices), "LIST", "e.g. opencl:0,opencl:1, or auto",
     .env = "CU_DEVICES"},
    {"isa", OPT_TEXT, AT(isa), "LEVEL",
     "highest instructions to use: v3, v4, … (cu-info lists them)", .env = "CU_ISA", .rare = true},
    {"schedule", OPT_TEXT, AT(schedule), "NAME[:OPTS]", "policy, e.g. dynamic:chunk=4 (evenkeel)",
     .env = "CU_SCHEDULE"},
    {"compare", OPT_TEXT, AT(compare), "LIST", "run these policies one after another (all)",
     .optional = true},
    {"repeat", OPT_INT, AT(repeat), "N",
     "runs of each policy; the median counts, with its interval (1)", .min = 1, .max = 64},
    {"profile", OPT_TEXT, AT(profile), "make|use|off",
     "times of tasks from former runs: measure them now (make), take them where they are (use)",
     .optional = true},
    {"check", OPT_FLAG, AT(check), .help = "only say whether the result verifies", .rare = true},
    {"json", OPT_TEXT, AT(json), "FILE", .help = "write the results as JSON; - is standard output"},
    {"trace", OPT_TEXT, AT(trace), "FILE", "write a Chrome/Perfetto trace; FILE.paje: one of Paje",
     .env = "CU_TRACE"},
    {"report", OPT_TEXT, AT(report), "FILE", "write one HTML page that opens offline",
     .env = "CU_REPORT"},
    {"quiet", OPT_FLAG, AT(quiet), .help = "no table, no progress line"},
    {"strict", OPT_FLAG, AT(strict), .help = "more threads than cpus is an error", .rare = true},
    {"display-env", OPT_FLAG, AT(display_env), .help = "print the effective settings",
     .env = "CU_DISPLAY_ENV", .rare = true},
    {"list-schedules", OPT_FLAG, AT(list_schedules), .help = "print the policies and leave"},
    {"list-devices", OPT_FLAG, AT(list_devices), .help = "print the devices and leave"},
    {"help", OPT_TEXT, AT(help), "all", "print this, or all there is, and leave", .optional = true},
    {"version", OPT_FLAG, AT(version), .help = "print the version and leave"},
    OPT_END,
};

/* ---- options that ask for a text --------------------------------------------------------------*/

static void print_help(const struct bench_program *p, const struct opt_group *groups,
                       const char *help)
{
    printf("%s – %s\n\nUsage: %s %s%s[options]\n", p->identity.name, p->identity.summary,
           p->identity.name, p->command.operand ? p->command.operand : "",
           p->command.operand ? " " : "");
    const bool all = !strcmp(help, "all");
    const int left_out = opt_help(stdout, groups, 2, all);
    if (left_out)
        printf("\n%s --help all tells of %d more options\n", p->identity.name, left_out);
    printf("\nexit codes: 0 ok, 1 a result failed verification, 2 bad usage or input,\n"
           "            3 the machine lacks something, 4 interrupted\n");
    if (all)
        opt_wrap(stdout, 0, "for tests: CU_FAULT=LIST of " FAULT_FORMS);
}

/* True when an option asked for a text only. */
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

/* The options, and the one word beside them where the program takes one. */
static enum ek_status parse(const struct bench_program *p, void *st, const struct opt_group *groups,
                            int argc, char **argv)
{
    if (!p->command.operand)
        return opt_parse(groups, 2, argc, argv, NULL, NULL);
    int n = 0;
    OWNED_MEMORY NEW(const char *, word, argc, "out of memory");
    TRY(opt_parse(groups, 2, argc, argv, word, &n));
    if (n > 1)
        FAIL(EK_USAGE, "'%s' is one word too many: %s takes one %s", word[1], p->identity.name,
             p->command.operand);
    if (n == 1)
        *(const char **)((char *)st + p->command.operand_at) = word[0];
    return EK_OK;
}

/* "" is the option without a word. */
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
