/* backends/backend_list.h – the back ends, in the order in which `--devices auto` asks them.
 * One line each: BACKEND(symbol) names `const struct backend_ops backend_<symbol>`. */
BACKEND(cuda)
BACKEND(hip)
BACKEND(opencl)
BACKEND(host)
