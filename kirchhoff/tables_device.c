/* kirchhoff/tables_device.c – travel-time tables in a device's memory (migrate_device.h). */
#include "kirchhoff/migrate_device.h"

enum ek_status tables_device_open(struct backend *backend, const struct traveltime_cache *travel,
                                  size_t slots, struct tables_device **out)
{
    NEW(struct tables_device, d, 1, "%s: out of memory", backend->label);
    d->backend = backend;
    d->travel = travel;
    d->slots = slots;
    d->slot = ARENA_NEW(&d->arena, slots, struct table_slot);
    d->at = ARENA_NEW(&d->arena, travel->nodes, int);
    enum ek_status st = arena_check(&d->arena, "the tables of %s", backend->label);
    THEN(st, backend_alloc(backend, slots * travel->bytes, &d->mem));
    TRY_OR(st, tables_device_close(d));
    for (size_t s = 0; s < slots; s++)
        d->slot[s].node = -1;
    for (int i = 0; i < travel->nodes; i++)
        d->at[i] = -1;
    *out = d;
    return EK_OK;
}

void tables_device_close(struct tables_device *d)
{
    if (!d)
        return;
    backend_free(d->backend, d->mem);
    arena_free(&d->arena);
    free(d);
}

/* An empty slot, else the least recently used one. */
static size_t oldest(const struct tables_device *d)
{
    size_t best = 0;
    for (size_t s = 1; s < d->slots; s++)
        if (d->slot[s].used < d->slot[best].used)
            best = s;
    return best;
}

static enum ek_status bring_one(struct tables_device *d, int node, int before)
{
    const size_t s = oldest(d);
    const struct backend_rect r = backend_linear(s * d->travel->bytes, 0, d->travel->bytes);
    if (d->slot[s].node >= 0) {
        d->at[d->slot[s].node] = -1;
        TRY(backend_after(d->backend, BACKEND_FEED, before)); /* kernels may still read it */
    }
    d->slot[s] = (struct table_slot){node, ++d->clock};
    d->at[node] = (int)s;
    return backend_write(d->backend, BACKEND_FEED, d->mem, d->travel->table[node].data, &r);
}

enum ek_status tables_device_bring(struct tables_device *d, const int *node, int n, int before)
{
    if ((size_t)n > d->slots)
        FAIL(EK_UNAVAILABLE,
             "%s: a batch needs %d travel-time tables at once, there is room for %zu; make --chunk "
             "smaller or leave the device out",
             d->backend->label, n, d->slots);
    for (int i = 0; i < n; i++)
        if (d->at[node[i]] >= 0)
            d->slot[d->at[node[i]]].used = ++d->clock;
    for (int i = 0; i < n; i++)
        if (d->at[node[i]] < 0)
            TRY(bring_one(d, node[i], before));
    return EK_OK;
}
