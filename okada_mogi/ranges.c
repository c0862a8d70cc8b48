/* okada_mogi/ranges.c – sorted ranges, merged when they touch. */
#include "okada_mogi/ranges.h"
#include "src/sort.h"

static trial_number end_of(struct trial_range r)
{
    return r.first + r.count;
}

static enum ek_status make_room(struct ranges *r)
{
    return arena_grow(&r->range, &r->room, r->n, sizeof *r->range, "ranges of trials");
}

/* Index of the first range that begins at or after a trial. */
static size_t behind(const struct ranges *r, trial_number first)
{
    size_t begin = 0, end = r->n;
    SORT_BISECT(begin, end, r->range[middle].first < first)
    return begin;
}

enum ek_status ranges_add(struct ranges *r, struct trial_range one)
{
    const size_t at = behind(r, one.first);
    struct trial_range *next = r->range + at;
    char text[TRIAL_TEXT];
    if ((at > 0 && end_of(next[-1]) > one.first) || (at < r->n && next->first < end_of(one)))
        FAIL(EK_USAGE, "trials from %s on occur twice", trial_text(one.first, text));
    const bool left = at > 0 && end_of(next[-1]) == one.first;
    const bool right = at < r->n && next->first == end_of(one);
    if (left) {
        next[-1].count += one.count + (right ? next->count : 0);
    } else if (right) {
        *next = (struct trial_range){one.first, one.count + next->count};
    } else {
        TRY(make_room(r));
        next = r->range + at;
        memmove(next + 1, next, (r->n - at) * sizeof *next);
        *next = one;
        r->n++;
    }
    if (left && right) {
        memmove(next, next + 1, (r->n - at - 1) * sizeof *next);
        r->n--;
    }
    return EK_OK;
}

enum ek_status ranges_gaps(const struct ranges *r, struct trial_range all, struct ranges *gaps)
{
    trial_number from = all.first;
    for (size_t i = 0; i <= r->n; i++) {
        const trial_number to = i < r->n ? r->range[i].first : end_of(all);
        const struct trial_range gap =
            trial_overlap((struct trial_range){from, to > from ? to - from : 0}, all);
        if (gap.count)
            TRY(ranges_add(gaps, gap));
        if (i < r->n)
            from = end_of(r->range[i]);
    }
    return EK_OK;
}

enum ek_status ranges_add_new(struct ranges *r, struct trial_range range, struct accepted *found,
                              enum ek_status (*put)(void *arg, struct trial_range gap,
                                                    struct accepted *some),
                              void *arg)
{
    OWNED(ranges_free) struct ranges gaps = {0};
    TRY(ranges_gaps(r, range, &gaps));
    for (size_t k = 0; k < gaps.n; k++) {
        const struct trial_range gap = gaps.range[k];
        OWNED(accepted_free) struct accepted some = {0};
        for (size_t i = 0; i < found->n && gap.count < range.count; i++)
            if (found->record[i].trial - gap.first < gap.count)
                TRY(accepted_add(&some, &found->record[i]));
        TRY(ranges_add(r, gap));
        TRY(put(arg, gap, gap.count < range.count ? &some : found));
    }
    return EK_OK;
}

trial_number ranges_count(const struct ranges *r)
{
    trial_number sum = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += r->range[i].count;
    return sum;
}

void ranges_free(struct ranges *r)
{
    free(r->range);
    *r = (struct ranges){0};
}
