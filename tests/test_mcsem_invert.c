/* tests/test_mcsem_invert.c – inversions of linear data with known sums: steps, limits, rejected
 * trials, shifts of the start, stopping rules, resumption. */
#include "tests/mcsem_linear.h"

static const struct invert_options usual = {.iterations = 30,
                                            .least_iterations = 2,
                                            .stall_times = 3,
                                            .target = 1e-3,
                                            .stall = 1e-6,
                                            .smooth = {{0.1, 0.1}},
                                            .damping = 0.01,
                                            .cooling = 0.3,
                                            .coolest = 1e-9,
                                            .step = 0.5};

static struct invert *open_inversion(const struct invert_options *o)
{
    struct invert *inv;
    assert_int_equal(invert_open(survey, earth, prior, o, true, &inv), EK_OK);
    return inv;
}

/* Computes the trial's sums, judges it and makes the next trial. */
static void go_on(struct invert *inv)
{
    fill_sums(inv->trial, inv->trial_sums);
    assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
    if (!inv->stop)
        assert_int_equal(invert_step(inv), EK_OK);
}

static void linear_data_are_explained(void **state)
{
    struct invert *inv = open_inversion(&usual);
    while (!inv->stop)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_MISFIT);
    assert_true(inv->rms <= usual.target);
    for (int i = 0; i < UNKNOWNS; i++)
        close_to(inv->earth->m[i], truth[i], 1, 0.05);
    for (int i = 1; i < inv->nrecords; i++) {
        assert_true(inv->record[i].accepted);
        assert_true(inv->record[i].step <= usual.step + 1e-12);
        assert_true(inv->record[i].rms < inv->record[i - 1].rms);
    }
    invert_close(inv);
}

/* Scales the last layers' effect on the data; the data stay those of the true model. */
static void weigh_last_layers(double by)
{
    for (int c = 0; c < COLUMNS; c++)
        for (int i = 0; i < ROWS; i++) {
            matrix[c][i][NZ - 1] *= by;
            data[c][i] = 0;
            for (int k = 0; k < NZ; k++)
                data[c][i] += matrix[c][i][k] * truth[c * NZ + k];
        }
}

/* Layers that hardly affect the data are also found in few steps. */
static void weak_layers_are_not_held(void **state)
{
    struct invert_options o = usual;
    o.smooth = (struct prior_weights){{1e-7, 1e-7}};
    weigh_last_layers(0.01);
    struct invert *inv = open_inversion(&o);
    while (!inv->stop)
        go_on(inv);
    weigh_last_layers(100);
    assert_int_equal(inv->stop, INVERT_MISFIT);
    assert_true(inv->iteration <= 15);
    invert_close(inv);
}

/* The run ends even before the least number of iterations, because nothing is left to explain. */
static void perfect_data_end_it(void **state)
{
    double kept[COLUMNS][ROWS];
    memcpy(kept, data, sizeof data);
    memset(data, 0, sizeof data);
    struct invert_options o = usual;
    o.least_iterations = 3;
    struct invert *inv = open_inversion(&o);
    for (int turn = 0; turn < 20 && !inv->stop; turn++)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_MISFIT);
    assert_true(inv->rms == 0);
    for (int i = 0; i < inv->nrecords; i++)
        assert_true(isfinite(inv->record[i].phi) && isfinite(inv->record[i].gain));
    for (int i = 0; i < UNKNOWNS; i++)
        assert_true(inv->earth->m[i] == 0);
    invert_close(inv);
    memcpy(data, kept, sizeof data);
}

/* Least squares within bounds that exclude the true model: where it ends, steepest descent leads
 * nowhere but beyond the bounds. */
static void the_best_model_within_bounds_is_found(void **state)
{
    struct invert_options o = usual;
    struct prior *wide = prior;
    o.target = o.cooling = 0;
    o.smooth = (struct prior_weights){{0}};
    weigh_last_layers(0.05);
    for (int t = 0; t < 300; t++) {
        const double low = noise(t, 1, 1), high = low + 1.01 + noise(t, 2, 2);
        const struct prior_options narrow = {
            .differences = 1, .rho_min = exp(low), .rho_max = exp(high), .transform = t % 2};
        const double near = t % 2 ? 2e-4 * (high - low) : 1e-9, edge = t % 2 ? -1e-6 : 1e-9;
        assert_int_equal(prior_open(earth, &narrow, &prior), EK_OK);
        struct invert *inv = open_inversion(&o);
        while (!inv->stop)
            go_on(inv);
        fill_dense(inv->earth->m, o.smooth, 0);
        for (int i = 0; i < UNKNOWNS; i++) {
            const double slope = dense[i][UNKNOWNS] / dense[i][i], m = inv->earth->m[i];
            assert_true(m > low - edge && m < high + edge);
            assert_true(slope < 1e-3 || m > high - near);
            assert_true(slope > -1e-3 || m < low + near);
        }
        invert_close(inv);
        prior_close(prior);
    }
    weigh_last_layers(20);
    prior = wide;
}

static void a_bad_trial_is_rejected_and_the_next_step_shorter(void **state)
{
    struct invert *inv = open_inversion(&usual);
    go_on(inv);
    const double rms = inv->rms;
    for (int kind = 0; kind < 2; kind++) {
        const double ask = inv->target_share, level = inv->level;
        double step[UNKNOWNS];
        for (int i = 0; i < UNKNOWNS; i++)
            step[i] = inv->trial[i] - earth->m[i];
        fill_sums(inv->trial, inv->trial_sums);
        inv->trial_sums[0] += kind ? NAN : inv->phi;
        assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
        const struct invert_record *r = &inv->record[inv->nrecords - 1];
        assert_false(r->accepted);
        assert_int_equal(inv->iteration, 0);
        assert_true(inv->rms == rms && inv->target_share > ask && inv->level == level);
        assert_memory_equal(inv->earth->m, earth->m, UNKNOWNS * sizeof(double));
        /* Phi(t) = Phi - 2 p t + (p + rise) t^2 has its minimum at p / (p + rise + p) */
        const double p = inv->predicted, share = kind ? 0.1 : p / (2 * p + r->phi - inv->phi);
        assert_int_equal(invert_step(inv), EK_OK);
        for (int i = 0; i < UNKNOWNS; i++)
            close_to(inv->trial[i] - earth->m[i], fmax(0.1, share) * step[i], 1, 1e-12);
    }
    go_on(inv);
    assert_int_equal(inv->iteration, 1);
    invert_close(inv);
    inv = open_inversion(&usual);
    for (int i = 0; !inv->stop; i++) {
        fill_sums(inv->trial, inv->trial_sums);
        inv->trial_sums[0] = i ? 1e9 : inv->trial_sums[0];
        assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
        if (!inv->stop)
            assert_int_equal(invert_step(inv), EK_OK);
        assert_true(i < 100);
    }
    assert_int_equal(inv->stop, INVERT_STUCK);
    invert_close(inv);
}

/* ---- the rules of drawn inversions ----------------------------------------------------------- */

static double drawn(double low, double high)
{
    return low + (high - low) * random_uniform(&dice);
}

/* By how much Phi, or the loss if mu is 0, falls from m to m + dm. */
static double dense_fall(const double *m, struct prior_weights mu, const double *dm)
{
    double fall = 0;
    fill_dense(m, mu, 0);
    for (int i = 0; i < UNKNOWNS; i++) {
        double row = 2 * dense[i][UNKNOWNS];
        for (int j = 0; j < UNKNOWNS; j++)
            row -= dense[i][j] * dm[j];
        fall += row * dm[i];
    }
    return fall;
}

/* What an inversion was before a step. */
struct before {
    double m[UNKNOWNS], damping, level, share, rms;
    int stalls;
};

static void note(const struct invert *inv, struct before *b)
{
    memcpy(b->m, inv->earth->m, sizeof b->m);
    b->damping = inv->damping;
    b->level = inv->level;
    b->share = inv->target_share;
    b->rms = inv->rms;
    b->stalls = inv->stalls;
}

static struct prior_weights weights_at(const struct invert_options *o, double level)
{
    const double zero[UNKNOWNS] = {0};
    struct prior_weights mu = o->smooth;
    double mean = 0;
    fill_dense(zero, (struct prior_weights){{0}}, 0);
    for (int i = 0; i < UNKNOWNS; i++)
        mean += dense[i][i] / UNKNOWNS;
    for (int k = 0; k < 2; k++)
        mu.of[k] *= mean * level;
    return mu;
}

/* The step at a level; returns by how much the loss falls. */
static double dense_step(const struct invert_options *o, const double *m, double damping,
                         double level, double *dm)
{
    const struct prior_weights mu = weights_at(o, level);
    fill_dense(m, mu, damping);
    solve_dense(dm);
    for (int i = 0; i < UNKNOWNS; i++)
        dm[i] = fmax(-o->step, fmin(o->step, dm[i]));
    return dense_fall(m, (struct prior_weights){{0}}, dm);
}

/* The highest level that reduces the loss as requested, within what an iteration may change; or the
 * lowest where each third of a level still gains 15 %. */
static void check_level(const struct invert_options *o, const struct before *b, double level)
{
    enum { UP = 4 };
    const double least = fmax(o->coolest, b->level * o->cooling), tiny = 1e-6;
    const double want =
        b->rms * b->rms * COLUMNS * ROWS * (1 - fmax(0.99 * pow(o->target / b->rms, 2), b->share));
    double dm[UNKNOWNS];
    const double here = dense_step(o, b->m, b->damping, level, dm);
    if (fabs(dense_step(o, b->m, b->damping, b->level, dm) - want) < tiny * want)
        return; /* either */
    if (dense_step(o, b->m, b->damping, b->level, dm) > want) {
        const double up = log(level / b->level) / log(3);
        assert_true(fabs(up - round(up)) < tiny && up > -tiny && up < UP + tiny);
        assert_true(here > want * (1 - tiny) && (up < tiny || level < 3e4 * (1 + tiny)));
        assert_true(up > UP - tiny || level >= 1e4 ||
                    dense_step(o, b->m, b->damping, 3 * level, dm) < want * (1 + tiny));
        return;
    }
    assert_true(level <= b->level && level >= fmin(b->level, least) * (1 - tiny));
    if (level < b->level && level > least * (1 + tiny)) {
        const double above = dense_step(o, b->m, b->damping, fmin(b->level, 3 * level), dm);
        assert_true(above < want * (1 + tiny) && here > 1.15 * above * (1 - tiny));
    }
    assert_true(here > want * (1 - tiny) || level <= least * (1 + tiny) ||
                dense_step(o, b->m, b->damping, fmax(least, level / 3), dm) <
                    1.15 * here * (1 + tiny));
}

static void check_step(const struct invert *inv, const struct before *b, bool shortened)
{
    double dm[UNKNOWNS], want[UNKNOWNS];
    for (int i = 0; i < UNKNOWNS; i++)
        dm[i] = inv->trial[i] - b->m[i];
    const double fall = dense_fall(b->m, weights_at(&inv->options, inv->level), dm);
    close_to(inv->predicted, fall, fabs(fall) + 1e-6 * inv->phi, 1e-6);
    if (shortened) {
        assert_true(inv->level == b->level && inv->damping == b->damping);
        return;
    }
    if (inv->damping == b->damping)
        check_level(&inv->options, b, inv->level);
    dense_step(&inv->options, b->m, inv->damping, inv->level, want);
    for (int i = 0; i < UNKNOWNS; i++)
        close_to(dm[i], want[i], inv->options.step, 1e-6);
}

static void check_judgement(const struct invert *inv, const struct before *b, double damping,
                            bool bad)
{
    const struct invert_record *r = &inv->record[inv->nrecords - 1];
    const struct prior_weights mu = weights_at(&inv->options, inv->level);
    const bool shortened = r->iteration == r[-1].iteration;
    const int stalls = fabs(b->rms - r->rms) / r->rms < inv->options.stall ? b->stalls + 1 : 0;
    close_to(r->mu_v, mu.of[0], mu.of[0], 1e-9);
    close_to(r->mu_h, mu.of[1], mu.of[1], 1e-9);
    if (!bad && inv->predicted < 1e-8 * b->rms * b->rms)
        return; /* rounding decides */
    close_to(r->phi, r->phi_data + mu.of[0] * r->rough_v + mu.of[1] * r->rough_h, r->phi, 1e-9);
    assert_int_equal(r->accepted, !bad);
    if (bad) {
        assert_true(inv->damping == (b->share > 0.8 ? 5 : 1) * damping);
        close_to(inv->target_share, sqrt(b->share), 1, 1e-12);
        return;
    }
    close_to(r->gain, 1, 1, 1e-3); /* the data are linear */
    close_to(inv->damping, shortened ? damping : fmax(damping / 3, 1e-3), damping, 1e-12);
    close_to(inv->target_share, shortened ? b->share : fmax(pow(b->share, 1.5), 0.3), 1, 1e-12);
    assert_int_equal(inv->stalls, stalls);
}

/* Begins with the best of uniform shifts by 1.2, of which none is tried twice, if the start is bad:
 * rms 10, or 0.4 from the best shift. Ends with the first step. */
static void check_shifts(struct invert *inv, const double *start, struct before *b)
{
    double best = INFINITY, at = 0, m[UNKNOWNS], mean = 0, slope = 0, curvature = 0;
    fill_dense(start, (struct prior_weights){{0}}, 0);
    for (int i = 0; i < UNKNOWNS; i++) {
        mean += start[i] / UNKNOWNS;
        slope += dense[i][UNKNOWNS];
        for (int j = 0; j < UNKNOWNS; j++)
            curvature += dense[i][j];
    }
    for (int n = 0; inv->record[inv->nrecords].iteration == 0; n++) {
        const double shift = inv->record[inv->nrecords].step;
        const double way = n == 1 && fabs(mean) > 0.6 ? shift + mean : fabs(shift - at) - 1.2;
        assert_true(n < 20 && (!n || fabs(way) < 1e-9));
        for (int i = 0; i < UNKNOWNS; i++)
            close_to(inv->trial[i], m[i] = start[i] + shift, 1, 1e-9);
        for (int i = 0; i < inv->nrecords; i++)
            assert_true(fabs(inv->record[i].step - shift) > 0.59);
        fill_sums(m, inv->trial_sums);
        assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
        assert_int_equal(inv->record[n].accepted, inv->record[n].rms < best);
        at = inv->record[n].accepted ? shift : at;
        best = fmin(best, inv->record[n].rms);
        assert_true(inv->rms == best);
        note(inv, b);
        assert_int_equal(invert_step(inv), EK_OK);
    }
    int near = 0;
    for (int i = 0; i < inv->nrecords; i++)
        near += fabs(fabs(inv->record[i].step - at) - 1.2) < 0.61;
    const bool good = inv->record[0].rms < 10 && fabs(slope / curvature) < 0.4;
    assert_true(good ? inv->nrecords == 1 : near >= 2);
    for (int i = 0; i < UNKNOWNS; i++)
        close_to(inv->earth->m[i], start[i] + at, 1, 1e-9);
}

/* Data of another model, by `lift` higher everywhere. */
static void change_data(double by, double lift, double error)
{
    for (int c = 0; c < COLUMNS; c++)
        for (int i = 0; i < ROWS; i++) {
            data[c][i] = by * data[c][i] + error * normal_number();
            for (int k = 0; k < NZ; k++) {
                matrix[c][i][k] *= by;
                data[c][i] += lift * matrix[c][i][k];
            }
        }
}

static void drawn_inversions_keep_the_rules(void **state)
{
    double kept[2][COLUMNS * ROWS * NZ];
    int shifted = 0, judged = 0;
    memcpy(kept[0], data, sizeof data);
    memcpy(kept[1], matrix, sizeof matrix);
    for (int t = 0; t < 60; t++) {
        const struct invert_options o = {.iterations = 12,
                                         .least_iterations = 2 + t % 5,
                                         .stall_times = 3,
                                         .target = pow(10, drawn(-3, 2)),
                                         .stall = pow(10, drawn(-3, -0.5)),
                                         .smooth = {{pow(10, drawn(-3, 1)), pow(10, drawn(-3, 1))}},
                                         .damping = pow(10, drawn(-3, 0)),
                                         .cooling = drawn(0.05, 0.9),
                                         .coolest = pow(10, drawn(-6, -0.1)),
                                         .step = drawn(0.1, 1)};
        const double offset = t % 3 ? drawn(-2.5, 2.5) : drawn(-0.7, 0.7);
        change_data(pow(10, drawn(-1, 1)), t % 3 == 1 ? drawn(-2.5, 2.5) : 0, drawn(0, 1));
        for (int i = 0; i < UNKNOWNS; i++)
            earth->m[i] = offset + drawn(-0.3, 0.3);
        struct invert *inv = open_inversion(&o);
        struct before b;
        check_shifts(inv, earth->m, &b);
        shifted += inv->nrecords > 1;
        for (bool shortened = false; !inv->stop; judged++) {
            const bool bad = drawn(0, 1) < 0.2;
            const double damping = inv->damping;
            check_step(inv, &b, shortened);
            fill_sums(inv->trial, inv->trial_sums);
            inv->trial_sums[0] += bad ? 2 * inv->phi : 0;
            assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
            check_judgement(inv, &b, damping, bad);
            shortened = !inv->record[inv->nrecords - 1].accepted;
            note(inv, &b);
            if (!inv->stop)
                assert_int_equal(invert_step(inv), EK_OK);
        }
        invert_close(inv);
        memcpy(data, kept[0], sizeof data);
        memcpy(matrix, kept[1], sizeof matrix);
    }
    memset(earth->m, 0, UNKNOWNS * sizeof *earth->m);
    assert_true(shifted > 20 && shifted < 50 && judged > 100);
}

/* While the spread of a robust loss shrinks, so does the loss of any model: a trial is judged by
 * the sum for the accepted model's spread. */
static void a_trial_is_judged_by_the_same_loss(void **state)
{
    struct invert_options o = usual;
    o.robust = MISFIT_STUDENT;
    for (int worse = 0; worse < 2; worse++) {
        struct invert *inv = open_inversion(&o);
        for (int turn = 0; turn < 2; turn++) {
            if (turn) {
                assert_int_equal(invert_step(inv), EK_OK);
                /* it shrinks by steps from 16, not below that of the residuals */
                assert_true(worse ? inv->trial_spread > 16 : inv->trial_spread == 16 / sqrt(2));
            }
            fill_sums(inv->trial, inv->trial_sums);
            for (double *to = inv->trial_sums; to < inv->trial_sums + COLUMNS * cell_sums(NZ);
                 to += cell_sums(NZ)) {
                cell_bins(to, NZ)[worse ? 14 : 0] = (struct misfit_bin){ROWS, ROWS};
                to[cell_sums(NZ) - 1] = (1 + worse * turn) * to[0];
                to[0] *= 1 + !worse * turn;
            }
            assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
        }
        assert_int_equal(inv->record[1].iteration, 1);
        assert_int_equal(inv->record[1].accepted, !worse);
        assert_true(worse || inv->sums_spread == inv->trial_spread);
        invert_close(inv);
    }
}

/* An inversion that has got what a checkpoint of `from` holds. */
static struct invert *open_resumed(const struct invert_options *options, const struct invert *from)
{
    struct invert *inv = open_inversion(options);
    for (int i = 0; i < from->nrecords; i++)
        inv->record[i] = from->record[i];
    inv->nrecords = from->nrecords;
    inv->iteration = from->iteration;
    inv->stalls = from->stalls;
    inv->damping = from->damping;
    inv->level = from->level;
    inv->target_share = from->target_share;
    inv->trial_spread = from->sums_spread;
    invert_resume(inv, from->earth->m, from->trial);
    assert_false(invert_judged(inv));
    return inv;
}

/* Interrupted after its last trial, it stops as before. */
static void stops_again(const struct invert_options *options, const struct invert *from)
{
    struct invert *inv = open_resumed(options, from);
    go_on(inv);
    assert_int_equal(inv->stop, from->stop);
    assert_memory_equal(inv->earth->m, from->earth->m, UNKNOWNS * sizeof(double));
    invert_close(inv);
}

static void it_stops_by_rule(void **state)
{
    struct invert_options o = usual;
    o.iterations = 3;
    o.target = 0;
    struct invert *inv = open_inversion(&o);
    while (!inv->stop)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_ITERATIONS);
    assert_int_equal(inv->iteration, 3);
    stops_again(&o, inv);
    invert_close(inv);
    o = usual;
    o.target = 1e9; /* met at once, but not before the least number of iterations */
    inv = open_inversion(&o);
    while (!inv->stop)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_MISFIT);
    assert_int_equal(inv->iteration, 2);
    stops_again(&o, inv);
    invert_close(inv);
    o = usual;
    o.target = 0;
    o.stall = 1e9; /* any change is too small */
    inv = open_inversion(&o);
    while (!inv->stop)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_STALLED);
    stops_again(&o, inv);
    invert_close(inv);
}

/* Saves and resumes after `saved` trials, of which trial number `bad` failed. */
static void save_and_go_on(int saved, int bad)
{
    struct invert *one = open_inversion(&usual);
    for (int i = 1; i <= saved; i++) {
        if (i > 1)
            assert_int_equal(invert_step(one), EK_OK);
        fill_sums(one->trial, one->trial_sums);
        one->trial_sums[0] += i == bad ? one->phi : 0;
        assert_int_equal(invert_judge(one, 1, 1), EK_OK);
    }
    struct invert *two = open_resumed(&usual, one);
    go_on(two); /* recomputes the sums of the accepted model */
    assert_int_equal(invert_step(one), EK_OK);
    assert_memory_equal(one->trial, two->trial, UNKNOWNS * sizeof(double));
    while (!one->stop)
        go_on(one);
    while (!two->stop)
        go_on(two);
    assert_memory_equal(one->earth->m, two->earth->m, UNKNOWNS * sizeof(double));
    invert_close(one);
    invert_close(two);
}

static void what_was_saved_goes_on_alike(void **state)
{
    for (int saved = 1; saved < 5; saved++)
        for (int bad = 2; bad <= saved + 1; bad++)
            save_and_go_on(saved, bad);
}

static void no_data_are_refused(void **state)
{
    struct survey *none;
    struct invert *inv;
    assert_int_equal(survey_open(1, 1, &none), EK_OK);
    status_mute(1);
    assert_int_equal(invert_open(none, earth, prior, &usual, true, &inv), EK_USAGE);
    status_mute(-1);
    survey_close(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_data_are_explained),
        cmocka_unit_test(weak_layers_are_not_held),
        cmocka_unit_test(perfect_data_end_it),
        cmocka_unit_test(the_best_model_within_bounds_is_found),
        cmocka_unit_test(a_bad_trial_is_rejected_and_the_next_step_shorter),
        cmocka_unit_test(drawn_inversions_keep_the_rules),
        cmocka_unit_test(a_trial_is_judged_by_the_same_loss),
        cmocka_unit_test(it_stops_by_rule),
        cmocka_unit_test(what_was_saved_goes_on_alike),
        cmocka_unit_test(no_data_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
