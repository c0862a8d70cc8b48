/* src/isa_list.h – instruction levels, the least one first. ISA_LEVEL(name, what it takes, whether
 * this processor has that). Those that the binary was built for stand in isa_built. */
ISA_LEVEL(lanes1, "any processor, one lane (tests)", true)
ISA_LEVEL(lanes8, "any processor, eight lanes (tests)", true)
ISA_LEVEL(plain, "any processor", true)
ISA_LEVEL(neon, "AArch64", true)
ISA_LEVEL(v2, "SSE4.2", ISA_X86(has_v2()))
ISA_LEVEL(v3, "AVX2 and fused multiply-adds", ISA_X86(has_v3()))
ISA_LEVEL(v4, "AVX-512", ISA_X86(has_v4()))
