/* cu/moldable/moldable_list.h – the methods, in the order in which tables show them. One line each:
 * MOLDABLE(symbol) names `const struct moldable_method moldable_<symbol>` in
 * method/<symbol>.c. */
MOLDABLE(taskp)
MOLDABLE(datap)
MOLDABLE(hcpa)
MOLDABLE(dcts)
MOLDABLE(waterl)
MOLDABLE(wlsearch)
MOLDABLE(evenkeel)
