/* cu/sched/sched_list.h – the policies, in the order of --compare and --list-schedules, and aliases
 * of some. SCHED(symbol) names `const struct sched_ops sched_<symbol>` in policy/<symbol>.c (fac:
 * in wf.c). */
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

/* SCHED_ALIAS(name, policy): another name that options accept. */
#ifdef SCHED_ALIAS
SCHED_ALIAS("block", "static")
SCHED_ALIAS("original", "naive")
#endif
