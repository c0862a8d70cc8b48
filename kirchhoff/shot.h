/* kirchhoff/shot.h – wavefront construction: moves one source's front through the model, step by
 * step, and fills the source's table.
 *
 * Each step integrates (advances all rays), measures (areas, L, caustics), fills (table nodes
 * between the old and the new front), splits (edges that became too long) and compacts (drops
 * triangles that left the box for good). In any step a device can do the integration. */
#pragma once

#include "cu/unit/cu.h"
#include "kirchhoff/eikonal.h"
#include "kirchhoff/fill.h"
#include "kirchhoff/front.h"
#include "kirchhoff/ray.h"

#include <pthread.h>

struct ray_device;

struct shot_options {
    double edge;   /* longest edge, m; 0: eight grid steps, about 250 m at most */
    double angle;  /* largest angle between the rays of an edge, degrees */
    double margin; /* how far outside the grid rays may go and come back, m; < 0: half the grid's
                      longest side */
    double last;   /* time at which to stop, s; 0: when all rays have left */
    int most;      /* rays per front */
    bool first;    /* first arrivals, by the eikonal equation, instead of the strongest by fronts */
};
#define SHOT_OPTIONS ((struct shot_options){.angle = 5, .margin = -1, .most = 200000})

/* What all shots of a run share; read-only once open, but for `eikonal`. */
struct shot_job {
    struct grid grid;
    const struct velocity *velocity; /* borrowed */
    struct shot_options options;
    struct ray_field field;  /* empty for first arrivals */
    struct eikonal *eikonal; /* opened when first needed */
    pthread_mutex_t lock;    /* guards eikonal */
    /* Low and high corners, m: box of grid and sources; box that rays may not leave. */
    double inner[2][3], outer[2][3];
};

/* sources [n][3], m: the boxes enclose them. EK_USAGE: v is not positive everywhere in the outer
 * box; EK_STOPPED: stop_heard() on some rank. close is fine after a failed open. Collective. */
enum ek_status shot_job_open(struct shot_job *job, const struct grid *grid,
                             const struct velocity *v, const struct shot_options *options, size_t n,
                             const double (*source)[3]);
void shot_job_close(struct shot_job *job);

/* Fills the whole table with first arrivals, by the eikonal equation. EK_UNAVAILABLE: memory;
 * EK_STOPPED as eikonal_solve(). Any thread. */
enum ek_status shot_job_first(struct shot_job *job, const struct cu *cu, struct ttable *t);

/* Puts first arrivals into nodes that no front reached, that fail the residual check (certify.h) or
 * that have a time earlier than the first arrival, against Fermat's principle. Does nothing if a
 * sample of nodes is good and no node is empty. Counts and judges the table. Likewise. */
enum ek_status shot_job_repair(struct shot_job *job, const struct cu *cu, struct ttable *t);

struct shot_numbers {
    size_t steps, device_steps;
    size_t rays;        /* traced in total */
    size_t longest;     /* most rays in a front */
    double point_steps; /* Runge-Kutta steps times rays */
    size_t torn;        /* triangles dropped because the velocity tore them apart */
    int raised;         /* how often edge and angle were raised to stay within `most` rays */
    bool given_up;      /* stopped with rays in the box: torn, too many, or trapped */
    double edge;        /* longest edge allowed at the end, m */
    double last;        /* time of the last front, s */
    double integrate_s, fill_s, shape_s; /* wall time */
};

struct shot {
    const struct shot_job *job;
    struct ttable *table; /* the result, owned until shot_take() */
    struct front front;
    struct front_limits limits;
    struct front_slivers slivers;
    double source[3], speed, time;
    struct ray_layer *layer; /* [numbers.steps] how each step was divided, for rays added later */
    int *length;             /* [numbers.steps] rays in the front */
    bool *gone;
    size_t layer_room, gone_room;
    enum ek_status lost; /* why the device failed in the last step, or EK_OK */
    struct shot_numbers numbers;
};

/* EK_UNAVAILABLE: memory. The caller owns *s; close accepts NULL. */
enum ek_status shot_open(const struct shot_job *job, const double source[3], struct shot **s);
void shot_close(struct shot *s);
OWNED_POINTER(struct shot, shot_close)

/* Does one step on a CPU unit's threads (`cu`; NULL: the calling thread), integrating on `device`
 * unless that is NULL. If the device fails, s->lost says why and the threads do its work. *done:
 * the front has left or was given up, or the last time is reached. EK_UNAVAILABLE: memory. */
enum ek_status shot_step(struct shot *s, const struct cu *cu, struct ray_device *device,
                         bool *done);

/* Returns the finished table, its unfilled nodes counted; the caller owns it. */
struct ttable *shot_take(struct shot *s);
