/* src/isa_list.h – instruction levels, lowest first: ISA_LEVEL(name, required instructions, whether
 * this processor has them). isa_built lists those in the binary. */
ISA_LEVEL(lanes1, "any processor, one lane (tests)", true)
ISA_LEVEL(lanes8, "any processor, eight lanes (tests)", true)
ISA_LEVEL(plain, "any processor", true)
ISA_LEVEL(neon, "AArch64", true)
ISA_LEVEL(v2, "SSE4.2", ISA_X86(has_v2()))
ISA_LEVEL(v3, "AVX2 and fused multiply-adds", ISA_X86(has_v3()))
ISA_LEVEL(v4, "AVX-512", ISA_X86(has_v4()))
