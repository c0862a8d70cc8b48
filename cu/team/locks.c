/* cu/team/locks.c – locks of memory nodes. */
#include "cu/team/locks.h"

#include <stdlib.h>

enum ek_status locks_open(struct locks *l, int n)
{
    l->mutex = calloc((size_t)n, sizeof *l->mutex);
    if (!l->mutex)
        FAIL(EK_UNAVAILABLE, "team: out of memory for %d spaces", n);
    for (l->n = 0; l->n < n; l->n++)
        pthread_mutex_init(&l->mutex[l->n], NULL);
    return EK_OK;
}

void locks_close(struct locks *l)
{
    for (int i = 0; i < l->n; i++)
        pthread_mutex_destroy(&l->mutex[i]);
    free(l->mutex);
    *l = (struct locks){0};
}

void locks_take(struct locks *l, int a, int b)
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    if (low > 0)
        pthread_mutex_lock(&l->mutex[low]);
    if (high > 0 && high != low)
        pthread_mutex_lock(&l->mutex[high]);
}

void locks_give(struct locks *l, int a, int b)
{
    if (a > 0)
        pthread_mutex_unlock(&l->mutex[a]);
    if (b > 0 && b != a)
        pthread_mutex_unlock(&l->mutex[b]);
}
