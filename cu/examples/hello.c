/* cu/examples/hello.c – 64 integrals of x^p over [0, 1], some a hundred times as long as others, on
 * all cores and devices. README.md beside this file explains every line. */
#include <evenkeel.h>
#include <evenkeel/src/kernel.h>
#include <math.h>

enum { TASKS = 64 };

static double cost[TASKS], integral[TASKS];

EK_KERNELS(text,
FN double integrate(int p) {
    const int points = 2000 * (1 + p * p / 40);
    double sum = 0.0;
    for (int i = 0; i < points; i++)
        sum += pow((i + 0.5) / points, (double)p);
    return sum / points;
}

KERNEL(integrals, 1, 1, 1)(GLOBAL double *out, int first, int n) {
    if (GID(0) < n)
        out[first + GID(0)] = integrate(first + GID(0));
})

static enum ek_status on_core(void *context, const struct ek_unit *unit, size_t task)
{
    (void)context, (void)unit;
    integral[task] = integrate((int)task);
    return EK_OK;
}

static enum ek_status on_device(void *context, const struct ek_unit *unit, struct ek_range r)
{
    const size_t n = r.end - r.begin, size = sizeof *integral;
    (void)context;
    EK_TRY(EK_LAUNCH(unit, "integrals", n, ek_buffer(unit, 0), backend_arg_int((int)r.begin),
                     backend_arg_int((int)n)));
    return ek_read(unit, 0, r.begin * size, integral + r.begin, n * size);
}

static bool right(void *context)
{
    bool good = true;
    (void)context;
    for (int p = 0; p < TASKS; p++)
        good &= fabs(integral[p] - 1. / (p + 1)) < 1e-5;
    return good;
}

int main(int argc, char **argv)
{
    const struct embed_host_kernel host[] = {{"integrals", (void (*)(void))integrals}, {0}};
    const size_t buffers[] = {sizeof integral, 0};
    const struct ek_tasks job = {.name = "hello", .n = TASKS, .cost = cost, .cpu = on_core,
                                 .device = on_device, .kernels = text, .host = host,
                                 .buffers = buffers, .right = right};
    for (int p = 0; p < TASKS; p++)
        cost[p] = 1 + p * p / 40;
    return ek_main(&job, argc, argv);
}
