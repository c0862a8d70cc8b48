/* mcsem/earth_list.h – a flat earth in a line:
 * "nx=41,ny=11,dx=500,dy=750,nz=89,dz=47.2,seabed=1500".
 *
 * nx ny: columns; x0 y0: where the first one stands; dx dy: their distances, m; nz, dz: layers of
 * sediment and their thickness; seabed: depth of the sea; sea, air, start: resistivities of the
 * sea, the air and, at the start, the sediments; anisotropy: rho_v / rho_h of the sediments. */
#pragma once

#include "mcsem/earth.h"
#include <stdio.h>

struct earth_list {
    int nx, ny, nz;
    double x0, y0, dx, dy, dz, seabed, sea, air, start, anisotropy; /* seabed 0: not said */
    char floor[512]; /* how the floor lies (seabed.h), "": not said */
    struct {
        int n;
        double top[EARTH_WATER], rho[EARTH_WATER];
    } layers; /* of the sea; n = 0: one, of resistivity `sea` */
};

extern const struct earth_list earth_list_defaults;

/* Adds what a list of keys says. EK_USAGE: `where`, the key and what is wrong. */
enum ek_status earth_list_read(const char *where, const char *keys, struct earth_list *list);
/* Adds layers of the sea: "0.3125", or "depth:resistivity;…" from the top down. */
enum ek_status earth_list_read_sea(const char *where, const char *text, struct earth_list *list);

/* The earth that it describes. EK_USAGE as earth_check(). */
enum ek_status earth_list_open(const char *where, const struct earth_list *list,
                               struct earth **earth);

/* The keys, and the layers of the sea, from which the same flat earth comes. */
void earth_list_write(FILE *out, const struct earth *earth);
void earth_list_write_sea(FILE *out, const struct earth *earth);
