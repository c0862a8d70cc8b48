/* cu/sched_list.h – the policies, in the order in which --compare and --list-schedules show them.
 * One line each: SCHED(symbol) names `const struct sched_ops sched_<symbol>` in sched/<name>.c
 * (block: in sched/static.c). */
SCHED(static)
SCHED(block)
SCHED(original)
SCHED(dynamic)
SCHED(memorizing_dynamic)
SCHED(static_pcf)
SCHED(guided_sizes)
SCHED(guided_runtime)
SCHED(clustered_guided)
SCHED(round_robin)
SCHED(sorted_greedy)
SCHED(heft)
SCHED(abe)
SCHED(evenkeel)
