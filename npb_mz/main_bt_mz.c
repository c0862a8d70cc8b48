/* npb_mz/main_bt_mz.c – bin/bt-mz. */
#include "npb_mz/program.h"

int main(int argc, char **argv)
{
    const struct bench_program program =
        program_of("bt-mz", "block-tridiagonal solves on zones of uneven size");
    return bench_main(&program, argc, argv);
}
