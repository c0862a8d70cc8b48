/* kirchhoff/main_kirchhoff_mig.c – bin/kirchhoff-mig. */
#include "kirchhoff/mig.h"

int main(int argc, char **argv)
{
    return bench_main(&mig_program, argc, argv);
}
