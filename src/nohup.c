/* src/nohup.c – records how SIGHUP was handled at the start: libraries of Open MPI (libpsm2)
 * install handlers in their constructors, so this runs before them. */
#include "src/nohup.h"

#include <signal.h>

static bool given;

static void look(void)
{
    struct sigaction now;
    given = !sigaction(SIGHUP, NULL, &now) && now.sa_handler == SIG_IGN;
}

#ifdef EK_SHARED /* .preinit_array exists in executables only */
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
