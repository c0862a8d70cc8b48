/* npb_mz/main_lu_mz.c – bin/lu-mz. */
#include "npb_mz/program.h"

int main(int argc, char **argv)
{
    const struct bench_program program =
        program_of("lu-mz", "successive over-relaxation sweeps on 4x4 equal zones");
    return bench_main(&program, argc, argv);
}
