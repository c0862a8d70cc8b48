/* cu/main_cu_info.c – cu-info: what this node has, and who would run where. */
#include "cu/bench/explain.h"
#include "cu/unit/info.h"
#include "cu/sched/profile.h"
#include "src/isa.h"
#include "src/json.h"
#include "src/opt.h"
#include "src/version.h"

#include <string.h>

struct settings {
    struct info_request request;
    const char *json, *isa, *explain;
    const char *help; /* NULL: not asked for */
    bool profiles, version;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {"layout", OPT_TEXT, AT(request.cu.layout), "NxM+G[xK]",
     "N CPU units of M cores and G devices (fed by K threads each), or auto", .env = "CU_LAYOUT"},
    {"devices", OPT_TEXT, AT(request.cu.devices), "LIST", "devices, as opencl:0,cuda:1, or auto",
     .env = "CU_DEVICES"},
    {"isa", OPT_TEXT, AT(isa), "LEVEL", "highest instructions that programs may use",
     .env = "CU_ISA"},
    {"strict", OPT_FLAG, AT(request.cu.strict), .help = "more threads than cpus is an error"},
    {"places", OPT_TEXT, AT(request.places), "LIST",
     "places to check and draw, instead of derived ones", .env = "OMP_PLACES"},
    {"topology", OPT_TEXT, AT(request.synthetic), "MACHINE",
     .help = "draw for another machine, as \"pack:2 core:64 pu:2\""},
    {.name = "json",
     .type = OPT_TEXT,
     .offset = AT(json),
     .arg = "FILE",
     .optional = true,
     .help = "write JSON to the file, or instead of text"},
    {"explain", OPT_FILE, AT(explain), "FILE",
     .help = "say why a run took so long, of what a program wrote with --json or --trace"},
    {"profiles", OPT_FLAG, AT(profiles),
     .help = "list the profiles that programs have stored, and leave"},
    {"help", OPT_TEXT, AT(help), "all", "this text", .optional = true},
    {"version", OPT_FLAG, AT(version), .help = "version"},
    OPT_END,
};

static void print_help(const struct opt_group *groups, int n)
{
    puts("cu-info – a node's cpus and devices, and who would run where\n\n"
         "Usage: cu-info [options]\n\n"
         "Shows the node's cpus and devices, and which of them each unit of a layout gets.");
    opt_help(stdout, groups, n, true);
}

static enum ek_status show(const struct settings *s, const struct info *info)
{
    bool to_stdout = s->json && (!*s->json || !strcmp(s->json, "-"));
    if (!to_stdout)
        TRY(info_print(info, stdout));
    if (!s->json)
        return EK_OK;
    json_auto_t *root = info_json(info);
    if (!root)
        FAIL(EK_UNAVAILABLE, "out of memory for JSON");
    return json_write(to_stdout ? "-" : s->json, root);
}

static enum ek_status run(int argc, char **argv)
{
    struct settings s = {0};
    struct info *info;
    const struct opt_group groups[] = {{"options:", options, &s}};
    TRY(opt_parse(groups, 1, argc, argv, NULL, NULL));
    if (s.help)
        print_help(groups, 1);
    if (s.version)
        puts("cu-info (Evenkeel) " EK_VERSION);
    if (s.help || s.version)
        return EK_OK;
    if (s.profiles)
        return profile_list(stdout);
    if (s.explain)
        return explain_run(stdout, s.explain);
    TRY(isa_choose(s.isa));
    TRY(info_open(&s.request, &info));
    enum ek_status st = show(&s, info);
    info_close(info);
    return st;
}

int main(int argc, char **argv)
{
    status_begin("cu-info");
    return status_end(run(argc, argv));
}
