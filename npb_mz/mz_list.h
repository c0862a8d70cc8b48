/* npb_mz/mz_list.h – the solvers. MZ_SOLVER(name) stands for `const struct mz_ops name_ops`. */
MZ_SOLVER(bt)
MZ_SOLVER(sp)
MZ_SOLVER(lu)
