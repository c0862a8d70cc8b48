/* cu/examples/heat.c – heat spreads through a plate of 8 x 6 zones: a five-point stencil, whose
 * zones exchange their edges before each step and live on cores and devices. The answer is judged
 * by the one known mode of the plate, which fades by the same factor in each step. */
#include <evenkeel.h>
#include <evenkeel/src/kernel.h>
#include <math.h>

enum { NX = 384, NY = 240, STEPS = 50 };

static struct ek_grid *plate;

EK_KERNELS(text,
KERNEL(spread, 64, 1, 1)(GLOBAL double *cell, int now, int next, int row, int nx, int ny) {
    const int x = GID(0) % nx;
    const int y = GID(0) / nx;
    if (y < ny) {
        GLOBAL const double *at = cell + now + row * y + x;
        const double sum = at[-1] + at[1] + at[-row] + at[row];
        cell[next + row * y + x] = at[0] + 0.2 * (sum - 4.0 * at[0]);
    }
})

static enum ek_status on_core(void *context, const struct ek_unit *unit, size_t zone)
{
    const struct ek_zone z = ek_zone(plate, unit->cu, zone);
    (void)context;
    for (int y = 0; y < z.ny; y++)
        for (int x = 0; x < z.nx; x++) {
            const double *at = z.host + z.now + z.row * y + x;
            const double sum = at[-1] + at[1] + at[-z.row] + at[z.row];
            z.host[z.next + z.row * y + x] = at[0] + 0.2 * (sum - 4.0 * at[0]);
        }
    return EK_OK;
}

static enum ek_status on_device(void *context, const struct ek_unit *unit, struct ek_range r)
{
    (void)context;
    for (size_t zone = r.begin; zone < r.end; zone++) {
        const struct ek_zone z = ek_zone(plate, unit->cu, zone);
        EK_TRY(EK_LAUNCH(unit, "spread", (size_t)z.nx * z.ny, z.buffer, backend_arg_int(z.now),
                         backend_arg_int(z.next), backend_arg_int(z.row), backend_arg_int(z.nx),
                         backend_arg_int(z.ny)));
    }
    return EK_OK;
}

/* Zero at the rim, which is a cell outside. */
static double mode(void *context, int x, int y)
{
    const double pi = acos(-1.);
    (void)context;
    return sin(pi * (x + 1) / (NX + 1)) * sin(pi * (y + 1) / (NY + 1));
}

static enum ek_status reset(void *context)
{
    ek_grid_set(plate, mode, context);
    return EK_OK;
}

static bool right(void *context)
{
    const double pi = acos(-1.);
    const double fade = 1 - 0.4 * (2 - cos(pi / (NX + 1)) - cos(pi / (NY + 1)));
    bool good = true;
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            good &= fabs(ek_grid_at(plate, x, y) - pow(fade, STEPS) * mode(context, x, y)) < 1e-12;
    return good;
}

int main(int argc, char **argv)
{
    const struct ek_grid_shape shape = {{NX, NY}, {8, 6}, false};
    const struct embed_host_kernel host[] = {{"spread", (void (*)(void))spread}, {0}};
    if (ek_grid_new(&shape, &plate))
        return 2;
    const struct ek_tasks job = {.name = "heat", .steps = STEPS, .cpu = on_core,
                                 .device = on_device, .kernels = text, .host = host,
                                 .grid = plate, .reset = reset, .right = right};
    const int code = ek_main(&job, argc, argv);
    ek_grid_free(plate);
    return code;
}
