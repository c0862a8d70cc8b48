/* tests/mz_alone.h – runs a problem without units, policies or ranks: all zones in turn. */
#pragma once

#include "npb_mz/mz.h"

/* Opens a problem with all zones claimed. */
static inline enum ek_status mz_open(const struct mz_ops *ops, const struct mz_class *class,
                                     struct mz **out)
{
    struct mz *mz = NULL;
    TRY(mz_open_mesh(ops, class, mz_mesh_find(class->letter), &mz));
    const enum ek_status st = mz_claim(mz, NULL, 0);
    return HAND_OUT(st, mz, out, mz_close);
}

/* Exchanges the four sides of a zone. */
static inline void mz_exchange(struct mz *mz, int zone)
{
    for (int side = 0; side < MZ_SIDES; side++)
        mz_face_copy(mz, zone, (enum mz_side)side);
}

/* Exchanges and steps all zones, as a single unit would. */
static inline void mz_step(struct mz *mz, struct mz_work *work)
{
    for (int i = 0; i < mz->nzones; i++)
        mz_exchange(mz, i);
    for (int i = 0; i < mz->nzones; i++)
        mz->ops->step(mz, work, i);
}
