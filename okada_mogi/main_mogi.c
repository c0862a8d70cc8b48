/* okada_mogi/main_mogi.c – bin/mogi. */
#include "okada_mogi/inversion.h"

int main(int argc, char **argv)
{
    const struct bench_program program = inversion_program("mogi");
    return bench_main(&program, argc, argv);
}
