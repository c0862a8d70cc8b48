/* okada_mogi/main_okada.c – bin/okada. */
#include "okada_mogi/program.h"

int main(int argc, char **argv)
{
    const struct bench_program program =
        okada_mogi_program("okada", "rectangular fault of uniform slip (Okada 1985)");
    return bench_main(&program, argc, argv);
}
