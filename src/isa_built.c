/* src/isa_built.c – the levels in this binary, as set by the Makefile. */
#ifndef ISA_BUILT
#define ISA_BUILT " plain "
#endif

extern const char isa_built[];
const char isa_built[] = ISA_BUILT;
