/* mcsem/earth_list.h – a flat earth described in one line of text:
 *   "nx=41,ny=11,dx=500,dy=750,nz=89,dz=47.2,seabed=1500".
 *
 * nx ny: numbers of columns; x0 y0: position of the first; dx dy: spacings, m; nz, dz: number and
 * thickness of the layers of sediment; seabed: depth of the sea; sea, air, start: resistivities of
 * the sea, the air and the sediments at the start; anisotropy: rho_v / rho_h of the sediments. */
#pragma once

#include "mcsem/earth.h"

struct earth_list {
    int nx, ny, nz;
    double x0, y0, dx, dy, dz, seabed, sea, air, start, anisotropy; /* seabed 0: not given */
    char floor[512]; /* where the floor lies (seabed.h), "": not given */
    struct {
        int n;
        double top[EARTH_WATER], rho[EARTH_WATER];
    } layers; /* of the sea; n = 0: a single one of resistivity `sea` */
};

extern const struct earth_list earth_list_defaults;

/* Merges a list of key=value into *list. EK_USAGE: `where`, the key and what is wrong. */
enum ek_status earth_list_read(const char *where, const char *keys, struct earth_list *list);
/* Sets the layers of the sea: "0.3125", or "depth:resistivity;…" from the top down. */
enum ek_status earth_list_read_sea(const char *where, const char *text, struct earth_list *list);

/* The earth that *list describes. EK_USAGE as earth_check(). */
enum ek_status earth_list_open(const char *where, const struct earth_list *list,
                               struct earth **earth);

/* Write the keys, and the layers of the sea, that describe this flat earth. */
void earth_list_write(FILE *out, const struct earth *earth);
void earth_list_write_sea(FILE *out, const struct earth *earth);
