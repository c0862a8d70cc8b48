/* src/isa_calls.h – for <program>/isa.c alone: what a program calls of the sources that are
 * compiled for each level. ISA_PROGRAM is the program's name, ISA_CALLS its list, whose lines are
 * ISA_CALL(type, name, (parameters), (arguments)).
 *
 * Compiled for a level (ISA is its name) it is that level's table; compiled once it is the
 * functions that everybody calls, each of which goes to the table in force. */
#include "src/isa.h"

#define ISA_JOIN(a, b)     a##b
#define ISA_PASTE(a, b)    ISA_JOIN(a, b)
#define ISA_TABLE(program) ISA_PASTE(program, _isa)

struct ISA_TABLE(ISA_PROGRAM) {
#define ISA_CALL(type, name, parameters, arguments) type(*name) parameters;
#include ISA_CALLS
#undef ISA_CALL
};

#ifdef ISA

#define ISA_CALL(type, name, parameters, arguments) .name = name,
const struct ISA_TABLE(ISA_PROGRAM) ISA_PASTE(ISA_TABLE(ISA_PROGRAM), ISA_PASTE(_, ISA)) = {
#include ISA_CALLS
};
#undef ISA_CALL

#else

/* NULL: the binary has not got it. */
#define ISA_LEVEL(name, ...)                                                                       \
    extern const struct ISA_TABLE(ISA_PROGRAM) ISA_PASTE(ISA_TABLE(ISA_PROGRAM), _##name)          \
        __attribute__((weak));
#include "src/isa_list.h"
#undef ISA_LEVEL

static const struct ISA_TABLE(ISA_PROGRAM) *const levels[] = {
#define ISA_LEVEL(name, ...) &ISA_PASTE(ISA_TABLE(ISA_PROGRAM), _##name),
#include "src/isa_list.h"
#undef ISA_LEVEL
};

#define ISA_CALL(type, name, parameters, arguments)                                                \
    type name parameters                                                                           \
    {                                                                                              \
        return levels[isa_now()]->name arguments;                                                  \
    }
#include ISA_CALLS
#undef ISA_CALL

#endif
