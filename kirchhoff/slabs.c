/* kirchhoff/slabs.c – splits an image that does not fit in memory into slabs along x, which are
 * migrated one after another. */
#include "kirchhoff/migrate.h"
#include "cu/bench/memory.h"
#include "cu/rank/cluster.h"

enum { SHARE = 2 }; /* 1 / SHARE of the free memory is for the image */

enum ek_status migrate_slabs_plan(struct migrate *m)
{
    char whole[32], room[32];
    const size_t bytes = image_bytes(&m->grid, &m->classes);
    const size_t budget =
        m->o.image_memory > 0 ? (size_t)(m->o.image_memory * 0x1p30) : memory_available() / SHARE;
    m->whole = m->grid;
    m->slabs = 1;
    m->across = m->grid.n[0];
    if (!budget || bytes <= budget || (m->o.image_memory == 0 && cluster_launch().size > 1))
        return EK_OK;
    const size_t column = bytes / (size_t)m->grid.n[0];
    if (column > budget)
        FAIL(EK_UNAVAILABLE, "one x of the image takes %s, --image-memory has room for %s",
             memory_text(column, whole, sizeof whole), memory_text(budget, room, sizeof room));
    const int most = (int)(budget / column);
    m->slabs = (m->grid.n[0] + most - 1) / most;
    m->across = (m->grid.n[0] + m->slabs - 1) / m->slabs;
    m->slabs = (m->grid.n[0] + m->across - 1) / m->across;
    return EK_OK;
}

static void close_slab(struct migrate *m)
{
    nodes_plan_close(&m->nodes);
    resum_close(m->resum);
    image_close(m->image);
    m->resum = NULL;
    m->image = NULL;
}

enum ek_status migrate_slab(struct migrate *m, int slab)
{
    const int first = slab * m->across, left = m->whole.n[0] - first;
    close_slab(m);
    m->slab = slab;
    m->grid = m->whole;
    m->grid.n[0] = left < m->across ? left : m->across;
    m->grid.origin[0] = grid_coordinate(&m->whole, 0, first);
    TRY(image_open(&m->grid, &m->classes, m->sum.fine, &m->image));
    TRY(resum_open(m, &m->resum));
    return nodes_plan_open(&m->grid, &m->travel->grid, m->image->nodes, m->sum.fine, m->par,
                           &m->nodes);
}

/* Distance of x from the slab along an axis, m; 0: within. */
static double outside(const struct grid *g, int axis, double x)
{
    return fmax(fmax(g->origin[axis] - x, x - grid_end(g, axis)), 0);
}

bool migrate_reaches(const struct migrate *m, size_t chunk)
{
    const struct chunks *s = m->survey;
    if (m->slabs == 1)
        return true;
    for (size_t i = s->first[chunk]; i < s->first[chunk + 1]; i++) {
        const struct segy_trace *t = &m->segy->trace[s->order[i]];
        if (hypot(outside(&m->grid, 0, 0.5 * (t->sx + t->gx)),
                  outside(&m->grid, 1, 0.5 * (t->sy + t->gy))) <= m->o.aperture)
            return true;
    }
    return false;
}
