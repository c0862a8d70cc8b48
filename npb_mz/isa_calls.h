/* npb_mz/isa_calls.h – functions that are compiled for each instruction level and called from other
 * files: see src/isa_calls.h. */
ISA_CALL(const struct mz_ops *, mz_at, (int i), (i))
ISA_CALL(size_t, rhs_scratch, (const struct mz *mz), (mz))
ISA_CALL(void, rhs_zone_all,
         (const struct mz *mz, struct mz_work *work, int zone, const double *u,
          const double *forcing),
         (mz, work, zone, u, forcing))
