/* src/isa_built.c – the levels that this binary has: the Makefile says which. */
#ifndef ISA_BUILT
#define ISA_BUILT " plain "
#endif

extern const char isa_built[];
const char isa_built[] = ISA_BUILT;
