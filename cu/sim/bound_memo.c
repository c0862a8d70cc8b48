/* cu/sim/bound_memo.c – the latest bounds, found by a checksum of all that they depend on. */
#include "cu/sim/bound_memo.h"
#include "src/checksum.h"

#include <pthread.h>

/* A place for each value of the key's first two digits; a newer answer replaces an older one. */
enum { PLACES = 256 };
static struct answer {
    struct bound_question question;
    double bound, *price;
} memo[PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct bound_question bound_question(size_t n, int nkinds, const int *units,
                                     const double *const *seconds)
{
    struct bound_question q;
    struct checksum c;
    checksum_begin(&c, "bound of a step");
    checksum_add(&c, &n, sizeof n);
    checksum_add(&c, units, (size_t)nkinds * sizeof *units);
    for (int j = 0; j < nkinds; j++)
        checksum_add(&c, seconds[j], n * sizeof **seconds);
    checksum_hex(&c, q.key);
    return q;
}

static struct answer *place_of(const struct bound_question *q)
{
    const char first[] = {q->key[0], q->key[1], 0};
    return &memo[strtoul(first, NULL, 16)];
}

bool bound_recall(const struct bound_question *q, int nkinds, double *bound, double *price)
{
    pthread_mutex_lock(&lock);
    const struct answer *a = place_of(q);
    const bool found = a->price && !strcmp(a->question.key, q->key);
    if (found) {
        *bound = a->bound;
        if (price)
            memcpy(price, a->price, (size_t)nkinds * sizeof *price);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void bound_remember(const struct bound_question *q, int nkinds, double bound, const double *price)
{
    double *copy = calloc((size_t)nkinds, sizeof *copy);
    if (!copy)
        return;
    memcpy(copy, price, (size_t)nkinds * sizeof *copy);
    pthread_mutex_lock(&lock);
    struct answer *a = place_of(q);
    free(a->price);
    *a = (struct answer){*q, bound, copy};
    pthread_mutex_unlock(&lock);
}
