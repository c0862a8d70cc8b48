/* kirchhoff/isa_calls.h – functions of the sources that are compiled for each instruction level;
 * see src/isa_calls.h. */
ISA_CALL(void, sum_column,
         (const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
          double *sum, float *counts, float *fold),
         (p, t, n, sum, counts, fold))
ISA_CALL(void, sum_spread,
         (const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
          const double *image, double *trace),
         (p, t, n, image, trace))
ISA_CALL(void, nodes_fill,
         (const struct nodes_plan *p, const struct traveltime_cache *t, const struct nodes_end *end,
          int i, int j, float *scratch, float *row),
         (p, t, end, i, j, scratch, row))
ISA_CALL(void, tables_linear,
         (const struct velocity *v, const struct grid *g, const double source[3], float *data),
         (v, g, source, data))
ISA_CALL(enum ek_status, ray_field_open,
         (const struct velocity *v, const double low[3], const double high[3], double cell,
          struct ray_field *f),
         (v, low, high, cell, f))
ISA_CALL(void, ray_field_close, (struct ray_field * f), (f))
ISA_CALL(double, ray_field_at, (const struct ray_field *f, const double x[3]), (f, x))
ISA_CALL(void, ray_advance_front,
         (const struct ray_field *f, double *state, size_t pitch, size_t first, size_t count,
          const struct ray_layer *layer, size_t layers),
         (f, state, pitch, first, count, layer, layers))
ISA_CALL(void, fill_source,
         (const struct fill *f, double speed, const double gradient[3], double time),
         (f, speed, gradient, time))
ISA_CALL(void, fill_tetrahedron,
         (const struct fill *f, const struct fill_corner *const corner[4],
          const struct fill_way *way),
         (f, corner, way))
ISA_CALL(void, fill_step,
         (const struct fill *f, const struct front *front, double before, double now),
         (f, front, before, now))
ISA_CALL(void, fill_slivers,
         (const struct fill *f, const struct front *front, const struct front_slivers *slivers,
          double now),
         (f, front, slivers, now))
ISA_CALL(bool, eikonal_line, (const struct eikonal_line *l), (l))
