/* backends/gpu_graph.c – launches that are captured once and then started together. It is no error
 * if a driver does not support this: the launches are then started one by one. */
#include "backends/gpu.h"

#include <stdlib.h>

struct backend_graph {
    void *exec; /* the driver's executable graph */
};

/* Whether the driver has all the functions and has refused no graph so far. */
static bool takes_graphs(const struct gpu_state *d)
{
    const struct gpu_driver *gpu = d->driver;
    return !d->refuses_graphs && gpu->capture_begin && gpu->capture_end && gpu->graph_instantiate &&
           gpu->graph_start && gpu->graph_destroy && gpu->graph_exec_destroy;
}

enum ek_status gpu_graph_begin(void *dev)
{
    enum { THIS_THREAD = 1 }; /* other threads may use the device meanwhile */
    struct gpu_state *d = dev;
    if (!takes_graphs(d))
        FAIL(EK_UNAVAILABLE, "%s: the driver does not support graphs", d->label);
    TRY(gpu_use(d));
    const int code = d->driver->capture_begin(d->stream[BACKEND_COMPUTE], THIS_THREAD);
    d->refuses_graphs = code;
    return gpu_check(d, code, "capturing launches");
}

enum ek_status gpu_graph_end(void *dev, struct backend_graph **graph)
{
    struct gpu_state *d = dev;
    void *captured = NULL;
    struct backend_graph *g = calloc(1, sizeof *g);
    int code = d->vendor->use(d);
    if (!code)
        code = d->driver->capture_end(d->stream[BACKEND_COMPUTE], &captured);
    if (!code) /* after the end of the capture in any case */
        code = g ? d->driver->graph_instantiate(&g->exec, captured, 0) : GPU_OUT_OF_MEMORY;
    if (captured)
        d->driver->graph_destroy(captured);
    if (code) {
        free(g);
        d->refuses_graphs = true;
        return gpu_check(d, code, "creating a graph of launches");
    }
    *graph = g;
    return EK_OK;
}

enum ek_status gpu_graph_start(void *dev, struct backend_graph *g)
{
    const struct gpu_state *d = dev;
    TRY(gpu_use(d));
    return gpu_check(d, d->driver->graph_start(g->exec, d->stream[BACKEND_COMPUTE]),
                     "starting a graph of launches");
}

void gpu_graph_free(void *dev, struct backend_graph *g)
{
    const struct gpu_state *d = dev;
    d->vendor->use(d);
    gpu_drain(d);
    d->driver->graph_exec_destroy(g->exec);
    free(g);
}
