/* okada_mogi/trial.c – numbers of trials in mixed radix. */
#include "okada_mogi/trial.h"
#include "src/random.h"

double trial_value(const struct trial_axis *axis, long i)
{
    if (axis->n == 1)
        return axis->min;
    return axis->min + (double)i * (axis->max - axis->min) / (double)(axis->n - 1);
}

bool trial_count(const struct trial_axis *axis, int naxes, trial_number *count)
{
    const trial_number most = (trial_number)1 << 127;
    trial_number product = 1;
    for (int a = 0; a < naxes; a++) {
        if (product > most / (trial_number)axis[a].n)
            return false;
        product *= (trial_number)axis[a].n;
    }
    *count = product;
    return true;
}

void trial_place(const struct trial_axis *axis, int naxes, trial_number number, long *place)
{
    int a = naxes - 1;
    for (; a >= 0 && number >> 64; a--) {
        place[a] = (long)(number % (trial_number)axis[a].n);
        number /= (trial_number)axis[a].n;
    }
    for (uint64_t rest = (uint64_t)number; a >= 0; a--) { /* much faster than with 128 bits */
        place[a] = (long)(rest % (uint64_t)axis[a].n);
        rest /= (uint64_t)axis[a].n;
    }
}

trial_number trial_of(const struct trial_axis *axis, int naxes, const long *place)
{
    trial_number number = 0;
    for (int a = 0; a < naxes; a++)
        number = number * (trial_number)axis[a].n + (trial_number)place[a];
    return number;
}

struct trial_range trial_overlap(struct trial_range a, struct trial_range b)
{
    const trial_number a_end = a.first + a.count, b_end = b.first + b.count;
    const trial_number first = a.first > b.first ? a.first : b.first;
    const trial_number end = a_end < b_end ? a_end : b_end;
    return (struct trial_range){first, end > first ? end - first : 0};
}

size_t trial_together(const struct trial_range *range, size_t n)
{
    size_t end = 1;
    while (end < n && range[end].first == range[end - 1].first + range[end - 1].count)
        end++;
    return end;
}

trial_number trial_random(struct trial_range range, uint64_t *x)
{
    const trial_number high = random_bits(x), low = random_bits(x);
    return range.first + (high << 64 | low) % range.count;
}

char *trial_text(trial_number number, char text[TRIAL_TEXT])
{
    char digits[TRIAL_TEXT];
    int n = 0, at = 0;
    do {
        digits[n++] = (char)('0' + (int)(number % 10));
        number /= 10;
    } while (number);
    while (n)
        text[at++] = digits[--n];
    text[at] = '\0';
    return text;
}

bool trial_parse(const char *text, trial_number *number)
{
    const trial_number most = (trial_number)1 << 127;
    trial_number value = 0;
    if (!*text || strspn(text, "0123456789") != strlen(text))
        return false;
    for (; *text; text++) {
        value = 10 * value + (trial_number)(*text - '0');
        if (value >= most)
            return false;
    }
    *number = value;
    return true;
}
