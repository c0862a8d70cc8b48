/* cu/moldable/moldable.c – what methods ask of a problem. */
#include "cu/moldable/moldable.h"

int moldable_widest(const struct moldable_problem *p)
{
    int most = 1;
    for (int j = 0; j < p->nnodes; j++)
        if (p->node[j].cores > most)
            most = p->node[j].cores;
    return most;
}

bool moldable_independent(const struct moldable_problem *p)
{
    for (int k = 0; k < p->nkinds; k++)
        if (p->kinds[k].nafter)
            return false;
    return true;
}

bool moldable_can_host(const struct moldable_kind *k, const struct moldable_node *n)
{
    return k->gpus <= n->gpus && (!(n->memory > 0) || k->memory <= n->memory * (1 + 1e-12));
}

double moldable_seconds(const struct moldable_law *law, int p)
{
    if (law->table)
        return p <= law->ntable ? (1 + law->stretch) * law->table[p - 1] : INFINITY;
    return (1 + law->stretch) * (law->a * pow(p, -law->b) + law->c + law->d * log(p) + law->e * p);
}
