/* mcsem/verbs.h – what units do in a step of an inversion (cu/team/team.h); the context is a struct
 * inversion. */
#pragma once

#include "cu/team/team.h"

extern const struct team_ops verbs_mcsem;
