/* src/nohup.c – what SIGHUP did when the process began: libraries that Open MPI brings (libpsm2)
 * take the signal in their constructors, so it is asked before theirs run. */
#include "src/nohup.h"

#include <signal.h>
#include <stddef.h>

static bool given;

static void look(void)
{
    struct sigaction now;
    given = !sigaction(SIGHUP, NULL, &now) && now.sa_handler == SIG_IGN;
}

#ifdef EK_SHARED /* only a program has functions that run before all constructors */
__attribute__((constructor)) static void look_early(void)
{
    look();
}
#else
__attribute__((section(".preinit_array"), used)) static void (*const look_early)(void) = look;
#endif

bool nohup_given(void)
{
    return given;
}
