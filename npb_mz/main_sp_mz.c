/* npb_mz/main_sp_mz.c – bin/sp-mz. */
#include "npb_mz/program.h"

int main(int argc, char **argv)
{
    const struct bench_program program =
        program_of("sp-mz", "scalar pentadiagonal solves on equal zones");
    return bench_main(&program, argc, argv);
}
