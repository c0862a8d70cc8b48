/* kirchhoff/grid.c – grids as text and JSON. */
#include "kirchhoff/grid.h"

enum { MOST_ALONG_AXIS = 1 << 20 };
static const double most_nodes = 2147483647.0; /* so that an int can index them */

const struct demand grid_counts = {1, MOST_ALONG_AXIS, .whole = true};
const struct demand grid_steps = {0, 1e9, .open = true};
const struct demand grid_places = {.min = -1e9, .max = 1e9};

/* Reads up to three numbers separated by `mark`, each with an optional unit "m" if they are
 * lengths; returns how many, 0: malformed. */
static int read_numbers(const char **text, char mark, bool lengths, double x[3])
{
    const char *at = *text;
    for (int i = 0; i < 3; i++) {
        char *end;
        x[i] = strtod(at, &end);
        if (end == at || !isfinite(x[i]))
            return 0;
        at = end + (lengths && *end == 'm');
        *text = at;
        if (*at != mark)
            return i + 1;
        at++;
    }
    return 3;
}

static bool read_grid(const char *text, double n[3], double step[3], double origin[3])
{
    if (read_numbers(&text, 'x', false, n) != 3 || *text++ != ':')
        return false;
    const int steps = read_numbers(&text, 'x', true, step);
    if (steps != 1 && steps != 3)
        return false;
    if (steps == 1)
        step[1] = step[2] = step[0];
    if (*text == '@') {
        text++;
        if (read_numbers(&text, ',', true, origin) != 3)
            return false;
    }
    return !*text;
}

enum ek_status grid_parse(const char *what, const char *text, struct grid *g)
{
    double n[3], step[3], origin[3] = {0, 0, 0};
    if (!read_grid(text, n, step, origin))
        FAIL(EK_USAGE, "%s: '%s' is no grid; write NXxNYxNZ:STEP[@X,Y,Z], e.g. 101x101x101:20m",
             what, text);
    for (int a = 0; a < 3; a++) {
        if (n[a] != floor(n[a]) || n[a] < 1 || n[a] > MOST_ALONG_AXIS)
            FAIL(EK_USAGE, "%s: '%s' has %g nodes along %c; 1 to %d will do", what, text, n[a],
                 "xyz"[a], MOST_ALONG_AXIS);
        if (!(step[a] > 0 && step[a] <= grid_steps.max))
            FAIL(EK_USAGE, "%s: '%s' has a step of %g m along %c; above 0 to %g will do", what,
                 text, step[a], "xyz"[a], grid_steps.max);
        if (fabs(origin[a]) > grid_places.max)
            FAIL(EK_USAGE, "%s: '%s' begins at %g m along %c; -%g to %g will do", what, text,
                 origin[a], "xyz"[a], grid_places.max, grid_places.max);
    }
    if (n[0] * n[1] * n[2] > most_nodes)
        FAIL(EK_USAGE, "%s: '%s' has %.3g nodes; %.3g are the most", what, text, n[0] * n[1] * n[2],
             most_nodes);
    for (int a = 0; a < 3; a++) {
        g->n[a] = (int)n[a];
        g->step[a] = step[a];
        g->origin[a] = origin[a];
    }
    return EK_OK;
}

static bool counts(const struct grid *g, int axis)
{
    return g->n[axis] > 1 || grid_nodes(g) == 1;
}

double grid_step(const struct grid *g)
{
    double most = 0;
    for (int a = 0; a < 3; a++)
        most = counts(g, a) ? fmax(most, g->step[a]) : most;
    return most;
}

double grid_finest(const struct grid *g)
{
    double least = INFINITY;
    for (int a = 0; a < 3; a++)
        least = counts(g, a) ? fmin(least, g->step[a]) : least;
    return least;
}

void grid_text(const struct grid *g, char *text, size_t room)
{
    snprintf(text, room, "%dx%dx%d:%.10gx%.10gx%.10g@%.10g,%.10g,%.10g", g->n[0], g->n[1], g->n[2],
             g->step[0], g->step[1], g->step[2], g->origin[0], g->origin[1], g->origin[2]);
}

/* ---- JSON -------------------------------------------------------------------------------------*/

json_t *grid_json(const struct grid *g)
{
    return json_pack("{s:[i,i,i] s:[f,f,f] s:[f,f,f]}", "n", g->n[0], g->n[1], g->n[2], "origin",
                     g->origin[0], g->origin[1], g->origin[2], "step", g->step[0], g->step[1],
                     g->step[2]);
}

enum ek_status grid_list(const char *path, const json_t *o, const char *name, size_t n,
                         const struct demand *d, double *x)
{
    const json_t *list = json_object_get(o, name);
    char key[64], what[48];
    snprintf(what, sizeof what, "a list of %zu numbers", n);
    TRY(demand_that(path, json_is_array(list) && json_array_size(list) == n, name, what));
    for (size_t i = 0; i < n; i++) {
        snprintf(key, sizeof key, "%s[%zu]", name, i);
        TRY(demand_number(path, key, json_array_get(list, i), d, &x[i]));
    }
    return EK_OK;
}

enum ek_status grid_read(const char *path, const json_t *o, struct grid *g)
{
    double n[3];
    TRY(grid_list(path, o, "n", 3, &grid_counts, n));
    TRY(grid_list(path, o, "step", 3, &grid_steps, g->step));
    if (n[0] * n[1] * n[2] > most_nodes)
        FAIL(EK_USAGE, "%s: n makes %.3g nodes; %.3g are the most", path, n[0] * n[1] * n[2],
             most_nodes);
    memset(g->origin, 0, sizeof g->origin);
    if (json_object_get(o, "origin"))
        TRY(grid_list(path, o, "origin", 3, &grid_places, g->origin));
    for (int a = 0; a < 3; a++)
        g->n[a] = (int)n[a];
    return EK_OK;
}
