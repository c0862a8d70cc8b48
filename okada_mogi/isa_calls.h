/* okada_mogi/isa_calls.h – functions of the sources compiled for each instruction level that others
 * call; see src/isa_calls.h. */
ISA_CALL(const struct model *, model_at, (int i), (i))
ISA_CALL(const struct search_method_ops *, search_method_at, (enum search_method_number i), (i))
ISA_CALL(const struct join_table *, search_join_table, (const struct search *s), (s))
ISA_CALL(trial_number, search_join_row, (const struct search *s, long row), (s, row))
ISA_CALL(enum ek_status, join_table_find,
         (const struct join_table *t, const double *r, double reach, float *window,
          enum ek_status (*found)(void *arg, const struct join_row *row), void *arg),
         (t, r, reach, window, found, arg))
