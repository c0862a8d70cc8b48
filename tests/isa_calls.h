/* tests/isa_calls.h – what the tests themselves have for each level: src/isa_calls.h. */
ISA_CALL(int, lanes_twins, (const double *x, int n), (x, n))
ISA_CALL(double, lanes_peak, (void), ())
