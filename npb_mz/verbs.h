/* npb_mz/verbs.h – what units do in a step of NPB-MZ (cu/team/team.h); the context is a struct run.
 */
#ifndef NPB_MZ_VERBS_H
#define NPB_MZ_VERBS_H

#include "cu/team/team.h"

extern const struct team_ops verbs_ops;

#endif
