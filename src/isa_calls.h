/* src/isa_calls.h – included only by <program>/isa.c: dispatch of the functions that are compiled
 * per level. ISA_PROGRAM is the program's name; ISA_CALLS is its list, of lines ISA_CALL(type,
 * name, (parameters), (arguments)).
 *
 * Compiled for a level (ISA is its name), it defines that level's table; compiled without ISA, it
 * defines the functions that callers use, which call through the table in use. */
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

/* NULL: not in this binary. */
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
