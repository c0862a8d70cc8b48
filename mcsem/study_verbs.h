/* mcsem/study_verbs.h – what units do in a step of a study (cu/team/team.h); the context is a
 * struct study. */
#ifndef MCSEM_STUDY_VERBS_H
#define MCSEM_STUDY_VERBS_H

#include "cu/team/team.h"

extern const struct team_ops study_verbs;

#endif
