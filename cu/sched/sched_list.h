/* cu/sched/sched_list.h – the policies, in the order in which --compare and --list-schedules show
 * them, and other names of some. One line each: SCHED(symbol) names `const struct sched_ops
 * sched_<symbol>` in policy/<name>.c (fac: in wf.c). */
SCHED(static)
SCHED(naive)
SCHED(dynamic)
SCHED(memorizing_dynamic)
SCHED(static_pcf)
SCHED(guided_sizes)
SCHED(guided_runtime)
SCHED(clustered_guided)
SCHED(round_robin)
SCHED(sorted_greedy)
SCHED(npb)
SCHED(heft)
SCHED(abe)
SCHED(chunk)
SCHED(gss)
SCHED(tss)
SCHED(fac)
SCHED(wf)
SCHED(hrdls)
SCHED(greedy)
SCHED(evenkeel)

/* SCHED_ALIAS(name, policy): another name by which options know it. */
#ifdef SCHED_ALIAS
SCHED_ALIAS("block", "static")
SCHED_ALIAS("original", "naive")
#endif
