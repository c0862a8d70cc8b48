/* mcsem/main_mcsem.c – bin/mcsem. */
#include "mcsem/program.h"

int main(int argc, char **argv)
{
    return bench_main(&program_mcsem, argc, argv);
}
