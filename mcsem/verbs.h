/* mcsem/verbs.h – what units do in a step of a inversion (cu/team/team.h); the context is a
 * struct inversion. */
#ifndef MCSEM_VERBS_H
#define MCSEM_VERBS_H

#include "cu/team/team.h"

extern const struct team_ops verbs_mcsem;

#endif
