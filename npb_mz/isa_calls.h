/* npb_mz/isa_calls.h – what others call of the sources that are compiled for each level:
 * src/isa_calls.h. */
ISA_CALL(const struct mz_ops *, mz_at, (int i), (i))
ISA_CALL(size_t, rhs_scratch, (const struct mz *mz), (mz))
ISA_CALL(void, rhs_zone_all,
         (const struct mz *mz, struct mz_work *work, int zone, const double *u,
          const double *forcing),
         (mz, work, zone, u, forcing))
ISA_CALL(void, mz_face_copy, (struct mz * mz, int zone, enum mz_side side), (mz, zone, side))
ISA_CALL(void, mz_exchange, (struct mz * mz, int zone), (mz, zone))
ISA_CALL(size_t, mz_face_size, (const struct mz *mz, int zone, enum mz_side side), (mz, zone, side))
ISA_CALL(void, mz_face_pack, (const struct mz *mz, int zone, enum mz_side side, double *buffer),
         (mz, zone, side, buffer))
ISA_CALL(void, mz_face_unpack, (struct mz * mz, int zone, enum mz_side side, const double *buffer),
         (mz, zone, side, buffer))
