/* kirchhoff/shot.h – wavefront construction: one source's front, step by step, into its table.
 *
 * A step: integrate (all rays move on), measure (areas, L, caustics), fill (nodes between the front
 * before and now), split (edges that became too long), compact (triangles that left the box for
 * good). The first of these can be a device's work, in any step: shot_step(). */
#pragma once

#include "cu/unit/cu.h"
#include "kirchhoff/eikonal.h"
#include "kirchhoff/fill.h"
#include "kirchhoff/front.h"
#include "kirchhoff/ray.h"
#include "src/owned.h"

#include <pthread.h>

struct ray_device;

struct shot_options {
    double edge;   /* longest edge, m; 0: eight steps of the grid, about 250 m at most */
    double angle;  /* largest angle between neighbours' rays, degrees */
    double margin; /* how far below (beside) the grid rays may dive and come back, m; < 0: half the
                      grid's longest side */
    double last;   /* time at which to end, s; 0: when all rays have left */
    int most;      /* rays of a front */
    bool first; /* not the strongest arrival of fronts but the first one, by the eikonal equation */
};
#define SHOT_OPTIONS ((struct shot_options){.angle = 5, .margin = -1, .most = 200000})

/* What all shots of a run share; read only once it is open. */
struct shot_job {
    struct grid grid;
    const struct velocity *velocity; /* borrowed */
    struct shot_options options;
    struct ray_field field;          /* empty for first arrivals */
    struct eikonal *eikonal;         /* opened when it is first needed */
    pthread_mutex_t lock;            /* on that */
    double inner[2][3], outer[2][3]; /* low and high corners: of grid and sources; of rays' ways */
};

/* sources [n][3], within the box that tables and rays need. EK_USAGE: v is not positive somewhere
 * there. close is fine after a failed open. */
enum ek_status shot_job_open(struct shot_job *job, const struct grid *grid,
                             const struct velocity *v, const struct shot_options *options, size_t n,
                             const double (*source)[3]);
void shot_job_close(struct shot_job *job);

/* The whole table by the eikonal equation: first arrivals. EK_UNAVAILABLE: memory. Any thread. */
enum ek_status shot_job_first(struct shot_job *job, const struct cu *cu, struct ttable *t);

/* The eikonal's time for nodes that no front reached, that fail their residual (certify.h) or that
 * a front reached before Fermat's principle allows it. Nothing where a sample of nodes is good and
 * none is empty. Counts and judges the table. */
enum ek_status shot_job_mend(struct shot_job *job, const struct cu *cu, struct ttable *t);

struct shot_numbers {
    size_t steps, device_steps;
    size_t rays;        /* traced in all */
    size_t longest;     /* front, rays */
    double point_steps; /* Runge-Kutta steps of single rays */
    size_t torn;        /* triangles that were dropped because v tore them */
    int raised;         /* times that edge and angle were raised to stay below the cap */
    bool given_up;      /* ended with rays in the box: torn, too many, or trapped */
    double edge;        /* m, in the end */
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
    struct ray_layer *layer; /* [numbers.steps] how each step was divided: new rays repeat it */
    int *length;             /* [numbers.steps] rays at each step's end */
    bool *gone;
    size_t layer_room, gone_room;
    enum ek_status lost; /* why the device of the last step failed; EK_OK: it did not */
    struct shot_numbers numbers;
};

/* EK_UNAVAILABLE: memory. The caller owns *s; close accepts NULL. */
enum ek_status shot_open(const struct shot_job *job, const double source[3], struct shot **s);
void shot_close(struct shot *s);
OWNED_POINTER(struct shot, shot_close)

/* One step, on a CPU unit's threads (`cu`, NULL: the calling one) and, where device is not NULL,
 * with the rays' way on that. A device that fails is said in s->lost and no harm: the threads do
 * its work. *done: the front has left, or was given up. EK_UNAVAILABLE: memory. */
enum ek_status shot_step(struct shot *s, const struct cu *cu, struct ray_device *device,
                         bool *done);

/* The finished table, its unfilled nodes counted; the caller's from now on. */
struct ttable *shot_take(struct shot *s);
