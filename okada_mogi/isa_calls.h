/* okada_mogi/isa_calls.h – functions of the sources compiled for each instruction level that others
 * call; see src/isa_calls.h. */
ISA_CALL(const struct model *, model_at, (int i), (i))
ISA_CALL(const struct search_method_ops *, search_method_at, (enum search_method_number i), (i))
ISA_CALL(const struct join_table *, search_join_table, (const struct search *s), (s))
ISA_CALL(enum ek_status, search_join_judge,
         (struct search_worker * w, trial_number trial, long row), (w, trial, row))
ISA_CALL(enum ek_status, search_join_ask,
         (struct search_worker * w, trial_number trial, const double *target), (w, trial, target))
