/* tests/test_okada_mogi_certify.c – certificates, checked by other mathematics: what a proof
 * excludes is excluded, an incomplete proof is refused, and a trial that fits lies in an open
 * box. */
#include "tests/okada_mogi.h"

#include <jansson.h>
#include <omp.h>

/* ---- the checker ------------------------------------------------------------------------------*/

typedef long double ld;
struct span {
    ld min, max;
};
struct proof {
    int nsplit, at[4]; /* which of E, N, d, nu a digit halves */
    struct span all[4], amplitude;
    json_t *root;
};

static struct span times(struct span a, struct span b)
{
    const ld p[] = {a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max};
    struct span r = {p[0], p[0]};
    for (int i = 1; i < 4; i++)
        r = (struct span){fminl(r.min, p[i]), fmaxl(r.max, p[i])};
    const ld rounding = 1e-16L * fmaxl(fabsl(r.min), fabsl(r.max));
    return (struct span){r.min - rounding, r.max + rounding};
}

static struct span sum_of_squares(const struct span *x)
{
    struct span r = {0, 0};
    for (int i = 0; i < 3; i++) {
        const ld a = fabsl(x[i].min), b = fabsl(x[i].max);
        r.max += fmaxl(a, b) * fmaxl(a, b);
        r.min += x[i].min <= 0 && x[i].max >= 0 ? 0 : fminl(a, b) * fminl(a, b);
    }
    return r;
}

/* The displacements that sources in a box with these amplitudes can cause at a station, by plain
 * interval arithmetic in long double. False: some window is out of reach. */
static bool reaches(const struct proof *p, const struct span *box, struct span amplitude)
{
    const ld pi = acosl(-1);
    size_t i;
    json_t *s;
    json_array_foreach(json_object_get(p->root, "stations"), i, s)
    {
        const ld e = json_real_value(json_object_get(s, "east")),
                 n = json_real_value(json_object_get(s, "north")),
                 h = json_real_value(json_object_get(s, "height"));
        const struct span x[] = {{e - box[0].max, e - box[0].min},
                                 {n - box[1].max, n - box[1].min},
                                 {box[2].min + h, box[2].max + h}};
        const struct span r2 = sum_of_squares(x),
                          rock = {(1 - box[3].max) / pi, (1 - box[3].min) / pi};
        const struct span per = {1 / (r2.max * sqrtl(r2.max)), 1 / (r2.min * sqrtl(r2.min))};
        for (int c = 0; c < 3; c++) {
            const json_t *low = json_array_get(json_object_get(s, "low"), (size_t)c);
            const json_t *high = json_array_get(json_object_get(s, "high"), (size_t)c);
            const struct span u = times(times(x[c], per), times(rock, amplitude));
            if (!json_is_null(low) &&
                (u.max < json_real_value(low) || u.min > json_real_value(high)))
                return false;
        }
    }
    return true;
}

/* Nothing in the box fits, as seen at once or in its halves. Amplitudes are halved as well. */
static bool is_out(const struct proof *p, const struct span *box, struct span amplitude, int depth)
{
    if (!reaches(p, box, amplitude))
        return true;
    if (depth == 0)
        return false;
    struct span half[4], a = amplitude;
    memcpy(half, box, sizeof half);
    ld longest = (a.max - a.min) / fmaxl(fabsl(a.min), fabsl(a.max));
    int axis = 4;
    for (int i = 0; i < 3; i++)
        if ((box[i].max - box[i].min) / box[2].min > longest) {
            longest = (box[i].max - box[i].min) / box[2].min;
            axis = i;
        }
    struct span *x = axis == 4 ? &a : &half[axis];
    const struct span whole = *x;
    x->max = whole.min + (whole.max - whole.min) / 2;
    if (!is_out(p, half, a, depth - 1))
        return false;
    *x = (struct span){x->max, whole.max};
    return is_out(p, half, a, depth - 1);
}

static struct span span_of(const json_t *object)
{
    return (struct span){json_real_value(json_object_get(object, "min")),
                         json_real_value(json_object_get(object, "max"))};
}

static void read_proof(json_t *root, struct proof *p)
{
    static const char *const names[] = {"Es_m", "Ns_m", "d_m", "nu"};
    *p = (struct proof){.root = root};
    for (int i = 0; i < 4; i++) {
        const ld fixed = json_real_value(json_object_get(json_object_get(root, "fixed"), names[i]));
        p->all[i] = (struct span){fixed, fixed};
    }
    size_t k;
    json_t *parameter;
    json_array_foreach(json_object_get(root, "parameters"), k, parameter)
    {
        for (int i = 0; i < 4; i++)
            if (!strcmp(names[i], json_string_value(json_object_get(parameter, "name")))) {
                p->at[p->nsplit++] = i;
                p->all[i] = span_of(parameter);
            }
    }
    const json_t *a = json_object_get(root, "amplitude");
    p->amplitude =
        (struct span){json_real_value(json_array_get(a, 0)), json_real_value(json_array_get(a, 1))};
}

/* The number of boxes that the proof leaves open, -1 for an invalid proof. *holds: some open box
 * holds the point `at` (which may be NULL). */
static long check_proof(json_t *root, const double *at, bool *holds)
{
    struct proof p;
    struct span(*box)[4] = malloc(sizeof *box), (*next)[4] = NULL;
    size_t n = 1, level, open = 0;
    json_t *text;
    bool right = true;
    read_proof(root, &p);
    memcpy(box[0], p.all, sizeof p.all);
    json_array_foreach(json_object_get(root, "levels"), level, text)
    {
        const char *verdict = json_string_value(text);
        size_t more = 0;
        right &= strlen(verdict) == n;
        next = malloc((2 * n + 1) * sizeof *next);
        for (size_t i = 0; i < n && right; i++) {
            if (verdict[i] == '.') {
                right &= is_out(&p, box[i], p.amplitude, 24);
            } else if (verdict[i] == '?') {
                bool in = at != NULL;
                for (int k = 0; k < 3 && in; k++)
                    in &= at[k] >= box[i][k].min && at[k] <= box[i][k].max;
                *holds |= in;
                open++;
            } else {
                const int axis = p.at[verdict[i] - '0'];
                const struct span x = box[i][axis];
                const double middle =
                    (double)x.min + ((double)x.max - (double)x.min) / 2; /* as when proving */
                memcpy(next[more], box[i], sizeof *next);
                memcpy(next[more + 1], box[i], sizeof *next);
                next[more++][axis].max = middle;
                next[more++][axis].min = middle;
            }
        }
        free(box);
        box = next;
        n = more;
    }
    free(box);
    return right && n == 0 ? (long)open : -1;
}

/* ---- random jobs ------------------------------------------------------------------------------*/

/* Differences of two points, which certificates leave out. */
static void write_pairs(const double *truth)
{
    FILE *f = fopen(job_file("pairs.csv"), "w");
    fputs("E_m,N_m,E2_m,N2_m,value_m,sigma_m,lE,lN,lU\n", f);
    for (int i = 0; i < 3; i++) {
        double at[4], u[2][3];
        for (int k = 0; k < 4; k++)
            at[k] = job_random(-5e3, 5e3);
        model_forward(model_find("mogi"), truth, at[0], at[1], u[0]);
        model_forward(model_find("mogi"), truth, at[2], at[3], u[1]);
        fprintf(f, "%.17g,%.17g,%.17g,%.17g,%.17g,0.002,0.6,0,0.8\n", at[0], at[1], at[2], at[3],
                0.6 * (u[1][0] - u[0][0]) + 0.8 * (u[1][2] - u[0][2]));
    }
    fclose(f);
}

/* Also with differences, if pairs.csv has been written. */
static struct job *open_job(const double *truth, double noise, double k, bool rocks)
{
    const bool pairs = !access(job_file("pairs.csv"), F_OK);
    char text[4096];
    int used = snprintf(text, sizeof text, "E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,z_m\n");
    for (int i = 0; i < 6; i++) {
        const double e = job_random(-5e3, 5e3), n = job_random(-5e3, 5e3);
        double u[3], x[5];
        memcpy(x, truth, sizeof x);
        const double height = i % 2 ? job_random(0, 900) : 0;
        x[2] += height;
        model_forward(model_find("mogi"), x, e, n, u);
        used += snprintf(text + used, sizeof text - (size_t)used, "%.17g,%.17g", e, n);
        for (int c = 0; c < 3; c++)
            used += snprintf(text + used, sizeof text - (size_t)used, ",%.17g",
                             u[c] + noise * job_random(-1, 1));
        used +=
            snprintf(text + used, sizeof text - (size_t)used, ",0.002,0.002,0.004,%.17g\n", height);
    }
    job_write("stations.csv", text);
    snprintf(
        text, sizeof text,
        "{\"model\": \"mogi\", \"stations\": [{\"file\": \"stations.csv\", \"heights\": true}%s], "
        "\"accept\": {\"k_sigma\": %g}, "
        "\"parameters\": [%s{\"name\": \"Es_m\", \"min\": -8000, \"max\": 8000, \"n\": 5}, "
        "{\"name\": \"Ns_m\", \"min\": -8000, \"max\": 8000, \"n\": 5}, "
        "{\"name\": \"d_m\", \"min\": 1000, \"max\": 7000, \"n\": 5}, "
        "{\"name\": \"dV_m3\", \"min\": -2e7, \"max\": 2e7, \"n\": 5}]}",
        pairs ? ", \"pairs.csv\"" : "", k,
        rocks ? "{\"name\": \"nu\", \"min\": 0.2, \"max\": 0.3, \"n\": 2}, " : "");
    return job_read(text, NULL);
}

/* Random points of the ranges: none may fit. */
static void seek(const struct job *job)
{
    for (int i = 0; i < 20000; i++) {
        double x[5] = {job_random(-8e3, 8e3), job_random(-8e3, 8e3), job_random(1e3, 7e3),
                       job_random(-2e7, 2e7), 0.25};
        double most = 0;
        for (int s = 0; s < job->stations.n; s++) {
            double u[3], y[5];
            memcpy(y, x, sizeof y);
            y[2] += job->stations.height[s];
            model_forward(job->model, y, job->stations.east[s], job->stations.north[s], u);
            for (int c = 0; c < 3; c++)
                most = fmax(most, fabs(u[c] - job->stations.observed[3 * s + c]) /
                                      job->stations.sigma[3 * s + c]);
        }
        assert_true(most > job->accept.k[0]);
    }
}

static void test_random_jobs(void **state)
{
    const int jobs = getenv("EK_LONG") ? 12 : 6;
    int certified = 0;
    for (int i = 0; i < jobs; i++) {
        const double truth[] = {job_random(-4e3, 4e3), job_random(-4e3, 4e3), job_random(2e3, 6e3),
                                job_random(-1, 1) > 0 ? 8e6 : -6e6, 0.25};
        const bool noisy = i % 3 > 0;
        struct job *job = open_job(truth, noisy ? 0.02 : 0, 0.5 + 0.5 * (i % 2), i % 4 == 1);
        struct certificate c;
        bool holds = false;
        json_t *root = job_certify(job, &c);
        assert_int_equal(check_proof(root, noisy ? NULL : truth, &holds), (long)c.open);
        assert_int_equal(c.certified, c.open == 0);
        assert_true(noisy || (!c.certified && holds));
        if (c.certified) {
            seek(job);
            certified++;
            json_t *levels = json_object_get(root, "levels"), *first = json_string("0");
            json_array_clear(levels);
            json_array_append_new(levels, first);
            assert_int_equal(check_proof(root, NULL, &holds), -1); /* cut short: invalid */
        }
        json_decref(root);
        job_close(job);
    }
    assert_true(certified > jobs / 6);
}

/* The rise above a source bends with its depth, and with Poisson's ratio, as much as the bounds
 * allow: a source where the ranges end needs all that certificates add to the middle. */
static void test_sources_at_the_ends(void **state)
{
    const ld pi = acosl(-1);
    for (int i = 0; i < 8; i++) {
        const double depth = i < 4 ? 3e3 : 700, share = i % 2 ? 2e-3 : 7e-4;
        char text[1024], rocks[64] = "\"value\": 0.25";
        snprintf(text, sizeof text, "E_m,N_m,uU_m,sU_m\n0,0,%.17g,1e-15\n",
                 (double)(0.75L / pi * 8e6L / ((ld)depth * depth)));
        job_write("stations.csv", text);
        if (i / 2 % 2)
            snprintf(rocks, sizeof rocks, "\"min\": 0.25, \"max\": %.17g, \"n\": 2", 0.25 + share);
        snprintf(text, sizeof text,
                 "{\"model\": \"mogi\", \"stations\": \"stations.csv\", "
                 "\"accept\": {\"k_sigma\": 1}, \"parameters\": ["
                 "{\"name\": \"Es_m\", \"value\": 0}, {\"name\": \"Ns_m\", \"value\": 0}, "
                 "{\"name\": \"d_m\", \"min\": %g, \"max\": %.17g, \"n\": 2}, "
                 "{\"name\": \"dV_m3\", \"value\": 8e6}, {\"name\": \"nu\", %s}]}",
                 depth, depth * (1 + share), rocks);
        struct job *job = job_read(text, NULL);
        struct certificate c;
        json_decref(job_certify(job, &c));
        assert_false(c.certified);
        job_close(job);
    }
}

/* A job whose data `truth` explains: displacements of stations, one at `close`, and in a scene that
 * is off by 2 m. */
static struct job *open_true(const char *model, const double *truth, const double *close,
                             const char *scene, const char *parameters)
{
    char text[4096];
    int used = snprintf(text, sizeof text, "E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n");
    FILE *f = fopen(job_file("asc.csv"), "w");
    fputs("E_m,N_m,value_m,sigma_m,lE,lN,lU,scene\n", f);
    for (int i = 0; i < 7; i++) {
        const double e = i ? job_random(-5e3, 5e3) : close[0],
                     n = i ? job_random(-5e3, 5e3) : close[1];
        double u[3];
        model_forward(model_find(model), truth, e, n, u);
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%.17g,%.17g,%.17g,%.17g,%.17g,1e-3,1e-3,1e-3\n", e, n, u[0], u[1], u[2]);
        fprintf(f, "%.17g,%.17g,%.17g,1e-3,0.6,0,0.8,asc\n", e, n, 0.6 * u[0] + 0.8 * u[2] + 2);
    }
    fclose(f);
    job_write("stations.csv", text);
    snprintf(text, sizeof text,
             "{\"model\": \"%s\", \"stations\": [\"stations.csv\"%s, "
             "\"accept\": {\"k_sigma\": 1}, \"parameters\": [%s]}",
             model, scene, parameters);
    return job_read(text, NULL);
}

/* Data that are known up to an offset exclude nothing, nor does a station that the fault may come
 * arbitrarily near to. */
static void test_what_excludes_nothing(void **state)
{
    static const double sphere[] = {500, -700, 3000, 8e6, 0.25}, far[] = {4e3, 1e3},
                        fault[] = {0, 0, 0, 30, 60, 4e3, 2e3, 90, 1, 0.25}, above[] = {-480, 300};
    for (int i = 0; i < 2; i++) {
        struct certificate c;
        struct job *job =
            i ? open_true(
                    "okada", fault, above, "]",
                    "{\"name\": \"Ec_m\", \"min\": -900, \"max\": 900, \"n\": 3}, "
                    "{\"name\": \"Nc_m\", \"value\": 0}, "
                    "{\"name\": \"d_m\", \"min\": 0, \"max\": 100, \"n\": 2}, "
                    "{\"name\": \"strike_deg\", \"value\": 30}, "
                    "{\"name\": \"dip_deg\", \"value\": 60}, "
                    "{\"name\": \"L_m\", \"value\": 4e3}, {\"name\": \"W_m\", \"value\": 2e3}, "
                    "{\"name\": \"rake_deg\", \"value\": 90}, "
                    "{\"name\": \"slip_m\", \"value\": 1}")
              : open_true("mogi", sphere, far,
                          ", \"asc.csv\"], \"scenes\": {\"asc\": {\"offset\": true}}",
                          "{\"name\": \"Es_m\", \"min\": -2e3, \"max\": 2e3, \"n\": 9}, "
                          "{\"name\": \"Ns_m\", \"min\": -2e3, \"max\": 2e3, \"n\": 9}, "
                          "{\"name\": \"d_m\", \"min\": 2e3, \"max\": 4e3, \"n\": 9}, "
                          "{\"name\": \"dV_m3\", \"min\": 1e6, \"max\": 1e7, \"n\": 9}");
        json_decref(job_certify(job, &c));
        assert_false(c.certified);
        job_close(job);
        unlink(job_file("asc.csv"));
    }
}

/* Every trial that a search accepts lies in one of the grid's boxes, whatever the effort. */
static void test_grid(void **state)
{
    size_t held = 0;
    for (int i = 0; i < 24; i++) {
        const double truth[] = {job_random(-4e3, 4e3), job_random(-4e3, 4e3), job_random(2e3, 6e3),
                                i % 2 ? 8e6 : -6e6, 0.25};
        if (i % 2)
            write_pairs(truth);
        struct job *job = open_job(truth, 0.01 * (i % 3), 3 + 4 * (i % 4), i % 5 == 1);
        unlink(job_file("pairs.csv"));
        struct accepted found = job_search(job, SEARCH_BRUTE, 1);
        for (double effort = 1; effort < 1e6; effort *= 30) {
            struct certify_rest rest;
            size_t inside = 0;
            assert_int_equal(certify_grid(job, effort, &rest), EK_OK);
            assert_true(effort > 1 || rest.trials == (double)job->trials);
            for (size_t k = 0; k < found.n * rest.n; k++) {
                const struct certify_box *box = &rest.box[k / found.n];
                long place[JOB_AXES];
                bool in = true;
                trial_place(job->axis, job->naxes, found.record[k % found.n].trial, place);
                for (int a = 0; a < job->naxes; a++)
                    in &= place[a] >= box->first[a] && place[a] <= box->last[a];
                inside += in;
            }
            assert_int_equal(inside, found.n); /* boxes have nothing in common */
            held += inside;
            free(rest.box);
        }
        accepted_free(&found);
        job_close(job);
    }
    assert_true(held > 100);
}

/* Boxes and proof depend neither on the number of threads nor on their order. */
static void test_threads(void **state)
{
    const double truth[] = {500, -700, 3000, 8e6, 0.25};
    struct job *job = open_job(truth, 0.01, 2, true);
    struct certificate c, other;
    json_t *first = NULL;
    for (int threads = 1; threads <= 5; threads += 2) {
        omp_set_num_threads(threads);
        json_t *proof = job_certify(job, first ? &other : &c);
        assert_true(!first || (json_equal(proof, first) && other.open == c.open));
        first = first ? first : json_incref(proof);
        json_decref(proof);
    }
    assert_true(c.boxes > 64 && c.visits == other.visits);
    json_decref(first);
    job_close(job);
}

/* A proof that excludes the truth is refused, whatever else it says. */
static void test_holes(void **state)
{
    for (int i = 0; i < 12; i++) {
        const double truth[] = {job_random(-4e3, 4e3), job_random(-4e3, 4e3), job_random(2e3, 6e3),
                                i % 2 ? 8e6 : -6e6, 0.25};
        struct job *job = open_job(truth, 0, 1, i % 4 == 1);
        struct certificate c;
        bool holds = false;
        size_t level, hidden = 0;
        json_t *root = job_certify(job, &c), *text;
        json_array_foreach(json_object_get(root, "levels"), level, text)
        {
            char *verdict = strdup(json_string_value(text));
            for (char *at = verdict; (at = strchr(at, '?')); hidden++)
                *at = '.';
            json_string_set(text, verdict);
            free(verdict);
        }
        assert_true(hidden > 0 && hidden == c.open);
        assert_int_equal(check_proof(root, NULL, &holds), -1);
        json_decref(root);
        job_close(job);
    }
}

static void test_refusals(void **state)
{
    const double truth[] = {500, -700, 3000, 8e6, 0.25};
    struct job *job = open_job(truth, 0, 1, false);
    struct certificate c;
    status_mute(1);
    job->accept = (struct job_accept){.best = 5, .below = INFINITY};
    assert_int_equal(certify(job, job_file("out"), &c), EK_USAGE);
    job->accept = (struct job_accept){.nk = 1, .k = {1}, .below = INFINITY};
    job->model = &model_sill;
    assert_int_equal(certify(job, job_file("out"), &c), EK_USAGE);
    status_mute(-1);
    job_close(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_jobs),
                                       cmocka_unit_test(test_sources_at_the_ends),
                                       cmocka_unit_test(test_what_excludes_nothing),
                                       cmocka_unit_test(test_grid),
                                       cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_holes),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
