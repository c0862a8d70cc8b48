/* okada_mogi/main_mogi.c – bin/mogi. */
#include "okada_mogi/program.h"

int main(int argc, char **argv)
{
    const struct bench_program program =
        okada_mogi_program("mogi", "change of volume of a small sphere (Mogi 1958)");
    return bench_main(&program, argc, argv);
}
