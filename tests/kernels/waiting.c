/* tests/kernels/waiting.c – work-groups that wait for those that started before them. */

/* The n-th group to start takes number n from the one before it, once it is there (at first all but
 * number 0 are negative), and passes number n+1 on. */
KERNEL(waiting_chain, 64, 1, 1)(GLOBAL double *chain, GLOBAL int *started)
{
    LOCAL int number;
    LOCAL double taken;
    if (LID(0) == 0) {
        number = ATOMIC_ADD(started, 1);
        do
            taken = PEEK(chain + number);
        while (taken < 0.0);
    }
    BARRIER;
    if (LID(0) == 63)
        POKE(chain + number + 1, taken + 1.0);
}
