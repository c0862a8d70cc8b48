/* okada_mogi/forward.h – displacements of given sources at given points, from table to table. */
#ifndef OKADA_MOGI_FORWARD_H
#define OKADA_MOGI_FORWARD_H

#include "okada_mogi/model.h"
#include "src/status.h"

/* Reads a table with the columns E_m, N_m and the model's parameters (others are ignored, `id` is
 * kept), and writes id,uE_m,uN_m,uU_m with 17 digits to `out` ("-": standard output), as a whole or
 * not at all. EK_USAGE with file and line: what is missing or makes no sense. One thread. */
enum ek_status forward_table(const struct model *model, const char *path, const char *out);

#endif
