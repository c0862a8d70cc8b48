/* cu/sched_list.h – the policies, in the order in which --compare and --list-schedules show them.
 * One line each: SCHED(symbol) names `const struct sched_ops sched_<symbol>` in sched/<name>.c. */
SCHED(static)
SCHED(dynamic)
SCHED(memorizing_dynamic)
