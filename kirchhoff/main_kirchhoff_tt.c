/* kirchhoff/main_kirchhoff_tt.c – bin/kirchhoff-tt. */
#include "kirchhoff/tt.h"

int main(int argc, char **argv)
{
    return bench_main(&tt_program, argc, argv);
}
