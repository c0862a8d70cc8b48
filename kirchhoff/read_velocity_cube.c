/* kirchhoff/read_velocity_cube.c – reads velocity cubes from files of float32 numbers. */
#include "kirchhoff/velocity_cube.h"
#include "src/file.h"
#include "src/opt.h"

/* Where the numbers are and how to read them. */
struct layout {
    struct grid grid;
    char path[1024];
    double smooth, scale;
    bool x_fastest;
};

/* ---- the numbers ------------------------------------------------------------------------------*/

/* Reads one number per node of the grid; the caller frees them. */
static enum ek_status read_numbers(const char *path, const struct grid *g, float **speed)
{
    const size_t wanted = grid_nodes(g) * sizeof **speed;
    char *bytes;
    size_t size;
    file_input(path);
    TRY(file_read(path, &bytes, &size));
    if (size != wanted) {
        free(bytes);
        FAIL(EK_USAGE, "%s: has %zu bytes, but %dx%dx%d float32 numbers are %zu bytes", path, size,
             g->n[0], g->n[1], g->n[2], wanted);
    }
    *speed = (float *)bytes;
    return EK_OK;
}

/* Reorders from x fastest to z fastest. */
static enum ek_status turn(const struct grid *g, float *speed)
{
    OWNED_MEMORY NEW(float, copy, grid_nodes(g), "out of memory for a velocity cube");
    memcpy(copy, speed, grid_nodes(g) * sizeof *copy);
    const float *at = copy;
    for (int k = 0; k < g->n[2]; k++)
        for (int j = 0; j < g->n[1]; j++)
            for (int i = 0; i < g->n[0]; i++)
                speed[grid_index(g, i, j, k)] = *at++;
    return EK_OK;
}

static enum ek_status load(const struct layout *l, struct velocity *v)
{
    OWNED_MEMORY float *speed = NULL;
    TRY(read_numbers(l->path, &l->grid, &speed));
    if (l->x_fastest)
        TRY(turn(&l->grid, speed));
    for (size_t i = 0; l->scale != 1 && i < grid_nodes(&l->grid); i++)
        speed[i] *= (float)l->scale;
    v->kind = VELOCITY_CUBE;
    v->grid = l->grid;
    return velocity_cube_fill(v, speed, l->smooth);
}

/* ---- headers ----------------------------------------------------------------------------------*/

static enum ek_status read_header(const char *path, struct layout *l)
{
    static const struct demand length = {.min = 0, .max = 1e9}, factor = {0, 1e9, .open = true};
    json_auto_t *root = NULL;
    TRY(demand_open(path, &root));
    TRY(grid_read(path, root, &l->grid));
    const char *data = json_string_value(json_object_get(root, "data"));
    const char *order = json_string_value(json_object_get(root, "order"));
    TRY(demand_that(path, data != NULL, "data", "a file's name"));
    TRY(demand_that(path, !order || !strcmp(order, "zyx") || !strcmp(order, "xyz"), "order",
                    "zyx (z fastest) or xyz (x fastest)"));
    TRY(demand_optional(path, "", root, "smooth", &length, &l->smooth));
    TRY(demand_optional(path, "", root, "scale", &factor, &l->scale));
    TRY(file_beside(path, data, l->path, sizeof l->path));
    l->x_fastest = order && !strcmp(order, "xyz");
    return EK_OK;
}

#define AT(member) offsetof(struct layout, member)
static const struct opt layout_words[] = {
    {"nx", OPT_INT, AT(grid.n[0]), "N", "nodes along x", .min = 1, .max = 1 << 20},
    {"ny", OPT_INT, AT(grid.n[1]), "N", "nodes along y", .min = 1, .max = 1 << 20},
    {"nz", OPT_INT, AT(grid.n[2]), "N", "nodes along z", .min = 1, .max = 1 << 20},
    {"dx", OPT_REAL, AT(grid.step[0]), "M", "step along x", .min = 1e-6, .max = 1e6},
    {"dy", OPT_REAL, AT(grid.step[1]), "M", "step along y", .min = 1e-6, .max = 1e6},
    {"dz", OPT_REAL, AT(grid.step[2]), "M", "step along z", .min = 1e-6, .max = 1e6},
    {"x0", OPT_REAL, AT(grid.origin[0]), "M", "first node", .min = -1e9, .max = 1e9},
    {"y0", OPT_REAL, AT(grid.origin[1]), "M", "first node", .min = -1e9, .max = 1e9},
    {"z0", OPT_REAL, AT(grid.origin[2]), "M", "first node", .min = -1e9, .max = 1e9},
    {"scale", OPT_REAL, AT(scale), "X", "m/s of the number 1 (1)", .min = 1e-9, .max = 1e9},
    {"smooth", OPT_REAL, AT(smooth), "M", "standard deviation (0)", .min = 0, .max = 1e6},
    OPT_END,
};

static enum ek_status check_layout(const char *text, const struct layout *l)
{
    for (int a = 0; a < 3; a++)
        if (!l->grid.n[a] || !(l->grid.step[a] > 0))
            FAIL(EK_USAGE,
                 "velocity '%s': n%c or d%c is missing; without them, name a header FILE.json",
                 text, "xyz"[a], "xyz"[a]);
    return EK_OK;
}

enum ek_status velocity_cube_open(const char *words, struct velocity *v)
{
    struct layout l = {.scale = 1};
    const size_t name = strcspn(words, ",");
    snprintf(l.path, sizeof l.path, "%.*s", (int)name, words);
    if (name > 5 && !strcmp(l.path + name - 5, ".json")) {
        const char *path = strchr(v->text, ':') + 1;
        if (words[name])
            FAIL(EK_USAGE, "velocity '%s': what follows '%s' belongs into that header", v->text,
                 l.path);
        TRY(read_header(path, &l));
    } else {
        TRY(opt_parse_list(layout_words, &l, "cube", words[name] ? words + name + 1 : ""));
        TRY(check_layout(v->text, &l));
    }
    return load(&l, v);
}
