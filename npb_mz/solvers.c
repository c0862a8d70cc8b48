/* npb_mz/solvers.c – the list of solvers; compiled once for each instruction level. */
#include "npb_mz/mz.h"

#define MZ_SOLVER(name) extern const struct mz_ops name##_ops;
#include "npb_mz/mz_list.h"
#undef MZ_SOLVER

static const struct mz_ops *const solvers[] = {
#define MZ_SOLVER(name) &name##_ops,
#include "npb_mz/mz_list.h"
#undef MZ_SOLVER
};

const struct mz_ops *mz_at(int i)
{
    return i >= 0 && (size_t)i < sizeof solvers / sizeof *solvers ? solvers[i] : NULL;
}
