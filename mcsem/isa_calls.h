/* mcsem/isa_calls.h – the functions that are compiled once per instruction level:
 * src/isa_calls.h. */
ISA_CALL(void, matmul_add,
         (int m, int n, int k, struct matmul_view a, const double *b, long b_row, double *c,
          long c_row),
         (m, n, k, a, b, b_row, c, c_row))
ISA_CALL(void, matmul_square,
         (int n, int k, const double *a, long a_row, double *c, long c_row, int first, int last),
         (n, k, a, a_row, c, c_row, first, last))
ISA_CALL(enum ek_status, forward_open, (int layers, int nfreq, struct forward **forward),
         (layers, nfreq, forward))
ISA_CALL(void, forward_close, (struct forward * forward), (forward))
ISA_CALL(enum ek_status, forward_pair,
         (struct forward * forward, const struct earth_layers *layers,
          const struct survey_pair *pair, int nfreq, const double *freq, int which,
          enum forward_derivatives derivatives, double complex *field, double complex *derivative),
         (forward, layers, pair, nfreq, freq, which, derivatives, field, derivative))
ISA_CALL(enum ek_status, forward_choose,
         (struct forward * forward, const struct earth_layers *layers,
          const struct survey_pair *pair, int nfreq, const double *freq,
          const struct forward_control *control, int *which, double complex *field,
          struct forward_error *error),
         (forward, layers, pair, nfreq, freq, control, which, field, error))
ISA_CALL(void, forward_deepest,
         (int layers, int base, const double *table, int nwaves, const double *wave, double w,
          int *deepest),
         (layers, base, table, nwaves, wave, w, deepest))
ISA_CALL(enum ek_status, shared_open, (int layers, int width, struct shared **shared),
         (layers, width, shared))
ISA_CALL(void, shared_close, (struct shared * shared), (shared))
ISA_CALL(enum ek_status, shared_make,
         (struct shared * shared, const struct earth_layers *layers, const struct survey_pair *pair,
          size_t npairs, int nfreq, const double *freq, int density, double *worth,
          struct thread_pool *pool, bool *fits),
         (shared, layers, pair, npairs, nfreq, freq, density, worth, pool, fits))
ISA_CALL(enum ek_status, shared_plan,
         (struct shared * shared, const struct earth_layers *layers, const struct survey_pair *pair,
          size_t npairs, int nfreq, const double *freq, int density, double *worth, bool *fits),
         (shared, layers, pair, npairs, nfreq, freq, density, worth, fits))
ISA_CALL(enum ek_status, shared_place,
         (struct shared * shared, const struct earth_layers *layers, const struct survey_pair *pair,
          int nfreq, const double *freq, const struct shared_needs *needs, int density,
          double *worth, bool *fits),
         (shared, layers, pair, nfreq, freq, needs, density, worth, fits))
ISA_CALL(void, shared_rows,
         (const struct shared *shared, int thread, size_t first, int n, double *rows),
         (shared, thread, first, n, rows))
ISA_CALL(void, shared_parts,
         (const struct shared *shared, size_t pair, double *parts, double *size),
         (shared, pair, parts, size))
ISA_CALL(int, shared_columns, (int nz), (nz))
