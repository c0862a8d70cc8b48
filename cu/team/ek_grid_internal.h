/* cu/team/ek_grid_internal.h – the grid's side of struct team_ops and struct bench_program, for
 * cu/bench/tasks.c. */
#pragma once

#include "cu/sched/sched.h"
#include "cu/team/ek_grid.h"

enum { GRID_PHASES = 2 };

size_t ek_grid_zones(const struct ek_grid *);
size_t ek_grid_bytes(const struct ek_grid *);

/* Describes the zones as tasks; the grid owns the arrays until ek_grid_close(). */
enum ek_status ek_grid_open(struct ek_grid *, const struct cu_set *set, struct sched_job *job);
void ek_grid_close(struct ek_grid *);
/* Frees the zones' memory on a unit's device. On the unit's thread. */
void ek_grid_close_device(struct ek_grid *, const struct cu *);

enum ek_status ek_grid_move(struct ek_grid *, size_t zone, int from, int to, size_t *bytes);
void ek_grid_set_placement(struct ek_grid *, const int *home);
enum ek_status ek_grid_exchange(struct ek_grid *, const struct cu *, int phase, int part, int parts,
                                size_t *bytes);
/* Saves the state on the host, to which ek_grid_restore() goes back. */
void ek_grid_save(struct ek_grid *);
void ek_grid_restore(struct ek_grid *);
/* Sets the number of finished steps. */
void ek_grid_set_step(struct ek_grid *, int step);
