/* cu/team/grid_internal.h – a grid for what runs it (cu/bench/tasks.c): the members of struct
 * team_ops and struct bench_program. */
#ifndef CU_GRID_INTERNAL_H
#define CU_GRID_INTERNAL_H

#include "cu/sched/sched.h"
#include "cu/team/grid.h"

enum { GRID_PHASES = 2 };

size_t grid_zones(const struct ek_grid *);
size_t grid_bytes(const struct ek_grid *);

/* Describes the zones as tasks; arrays stay the grid's until grid_close(). */
enum ek_status grid_open(struct ek_grid *, const struct cu_set *set, struct sched_job *job);
void grid_close(struct ek_grid *);
/* What lies on a unit's device goes. On its thread. */
void grid_close_device(struct ek_grid *, const struct cu *);

enum ek_status grid_move(struct ek_grid *, size_t zone, int from, int to, size_t *bytes);
void grid_set_placement(struct ek_grid *, const int *home);
enum ek_status grid_exchange(struct ek_grid *, const struct cu *, int phase, int part, int parts,
                             size_t *bytes);
/* The state as it is now, on the host, is the one that grid_restore() goes back to. */
void grid_save(struct ek_grid *);
void grid_restore(struct ek_grid *);
/* So many steps are done. */
void grid_set_step(struct ek_grid *, int step);

#endif
