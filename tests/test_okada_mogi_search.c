/* tests/test_okada_mogi_search.c – the exact search finds the same records as brute force for any
 * model, number of sources, order of axes and division into batches; the known sets. */
#include "okada_mogi/device.h"
#include "tests/isa.h"
#include "tests/okada_mogi.h"

/* ---- random jobs ------------------------------------------------------------------------------*/

/* One axis: a few values around a true one, which is on the grid. */
struct axis {
    const char *name;
    double low, high, spacing;
};

static const struct axis okada_axes[] = {
    {"Ec_m", -2e4, 2e4, 4e3},   {"Nc_m", -2e4, 2e4, 4e3},  {"d_m", 2e3, 1e4, 1e3},
    {"strike_deg", 0, 360, 15}, {"dip_deg", 20, 84, 2},    {"L_m", 1e4, 3e4, 5e3},
    {"W_m", 5e3, 2e4, 5e3},     {"rake_deg", -90, 90, 10}, {"slip_m", 0.3, 2, 0.1},
};
static const struct axis point_axes[] = {
    {"Es_m", -1e4, 1e4, 1e3},
    {"Ns_m", -1e4, 1e4, 1e3},
    {"d_m", 2e3, 8e3, 5e2},
    {"dV_m3", 1e6, 9e6, 5e5},
};

static double truth[JOB_AXES];

/* Optional parameters of random jobs: nu, and how many openings faults may have; 0: not given. */
static double poisson;
static int opens;

static void set_usual(const struct model *m, int sources)
{
    for (int s = 0; s < sources; s++)
        for (int p = 0; p < m->nparameters; p++)
            if (m->parameter[p].optional)
                truth[s * m->nparameters + p] = m->parameter[p].usual;
}

/* Writes a job's "parameters"; most axes have n values, with the true one at a random place. */
static int write_axes(char *out, size_t room, const struct axis *axes, const struct model *m,
                      int sources, int most)
{
    const int naxes = job_required(m);
    int used = 0;
    set_usual(m, sources);
    for (int s = 0; s < sources; s++)
        for (int a = 0; a < naxes; a++) {
            const int n = 1 + (int)job_random(0, most), at = (int)job_random(0, n);
            const double x = floor(job_random(axes[a].low, axes[a].high));
            const double value = axes[a].high < 10 ? job_random(axes[a].low, axes[a].high) : x;
            const double min = value - at * axes[a].spacing, unit = axes[a].spacing;
            const double low = min > 0 || axes[a].low < 0 ? min : value;
            truth[s * m->nparameters + a] = value;
            char suffix[16] = "";
            if (sources > 1)
                snprintf(suffix, sizeof suffix, ".%d", s + 1);
            if (!a && poisson > 0) {
                truth[s * m->nparameters + naxes] = poisson;
                used += snprintf(out + used, room - (size_t)used,
                                 "%s{\"name\": \"nu%s\", \"value\": %g}", s ? ", " : "", suffix,
                                 poisson);
            }
            used += snprintf(out + used, room - (size_t)used,
                             "%s{\"name\": \"%s%s\", \"min\": %.17g, \"max\": %.17g, \"n\": %d}",
                             used ? ", " : "", axes[a].name, suffix, low, low + (n - 1) * unit, n);
            if (opens && a == naxes - 1) {
                truth[s * m->nparameters + naxes + 1] = 0.3;
                used += snprintf(out + used, room - (size_t)used,
                                 ", {\"name\": \"opening_m%s\", \"min\": -0.3, \"max\": 0.6, "
                                 "\"n\": %d}",
                                 suffix, opens);
            }
        }
    return used;
}

static double noise = 0.003;

/* Stations with the true sources' displacements, some noise and some missing components. */
static void write_stations(const struct model *m, int sources, int n)
{
    char text[8192];
    int used = snprintf(text, sizeof text, "site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n");
    for (int i = 0; i < n; i++) {
        const double e = job_random(-3e4, 3e4), north = job_random(-3e4, 3e4);
        double sum[3] = {0}, u[3];
        for (int s = 0; s < sources; s++) {
            model_forward(m, truth + s * m->nparameters, e, north, u);
            for (int c = 0; c < 3; c++)
                sum[c] += u[c];
        }
        used += snprintf(text + used, sizeof text - (size_t)used, "S%d,%.17g,%.17g", i, e, north);
        for (int c = 0; c < 3; c++)
            if (c < 2 || i % 4)
                used += snprintf(text + used, sizeof text - (size_t)used, ",%.17g",
                                 sum[c] + job_random(-noise, noise));
            else
                used += snprintf(text + used, sizeof text - (size_t)used, ",nan");
        used += snprintf(text + used, sizeof text - (size_t)used, ",0.005,0.005,0.01\n");
    }
    job_write("stations.csv", text);
}

/* Data along vectors in two scenes; the second has an offset and a ramp that are unknown to the
 * job. NULL: none. */
static const char *unknowns;

static void write_scenes(const struct model *m, int sources, int n)
{
    char text[8192];
    int used = snprintf(text, sizeof text, "East,North,obs_mm,sigma_mm,lE,lN,lU,scene\n");
    for (int i = 0; i < n; i++) {
        const double e = job_random(-3e4, 3e4), north = job_random(-3e4, 3e4);
        const double slope = job_random(-0.7, 0.7), across = job_random(-0.5, 0.5);
        const double l[] = {slope, across, sqrt(1 - slope * slope - across * across)};
        double sum = i % 2 && strstr(unknowns, "dsc") ? 0.4 : 0, u[3];
        sum += sum > 0 && strstr(unknowns, "ramp") ? 2e-5 * e - 1e-5 * north : 0;
        for (int s = 0; s < sources; s++) {
            model_forward(m, truth + s * m->nparameters, e, north, u);
            for (int c = 0; c < 3; c++)
                sum += l[c] * u[c];
        }
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%.17g,%.17g,%.17g,5,%.17g,%.17g,%.17g,%s\n", e, north,
                         1e3 * (sum + job_random(-noise, noise)), l[0], l[1], l[2],
                         i % 2 ? "dsc" : "asc");
    }
    job_write("scenes.csv", text);
}

static struct job *random_job(const struct model *m, int sources, int most, const char *accept,
                              const char *constraints)
{
    char parameters[8192], text[12288];
    const bool okada = !strcmp(m->name, "okada");
    if (opens)
        m = m->wider;
    write_axes(parameters, sizeof parameters, okada ? okada_axes : point_axes, m, sources, most);
    write_stations(m, sources, 6);
    if (unknowns)
        write_scenes(m, sources, 10 + (int)job_random(0, 36));
    m = model_find(m->name) ? model_find(m->name) : m;
    snprintf(text, sizeof text,
             "{\"model\": \"%s\", \"sources\": %d, \"stations\": %s, \"scenes\": {%s}, "
             "\"accept\": {%s}, \"constraints\": {%s}, \"parameters\": [%s]}",
             m->name, sources,
             !unknowns   ? "\"stations.csv\""
             : *unknowns ? "[\"stations.csv\", \"scenes.csv\"]"
                         : "[\"scenes.csv\"]",
             unknowns ? unknowns : "", accept, constraints, parameters);
    return job_read(text, m);
}

static size_t compare_methods(struct job *job)
{
    struct accepted brute = job_search(job, SEARCH_BRUTE, 1);
    struct accepted exact = job_search(job, SEARCH_EXACT, 1);
    struct accepted parts = job_search(job, SEARCH_EXACT, 7);
    struct accepted shares = job_search(job, SEARCH_BRUTE, 5);
    const size_t n = brute.n;
    assert_records(job, &brute);
    assert_same(&exact, &brute);
    assert_same(&parts, &brute);
    assert_same(&shares, &brute);
    accepted_free(&brute);
    accepted_free(&exact);
    accepted_free(&parts);
    accepted_free(&shares);
    return n;
}

/* Number of jobs: EK_LONG=N multiplies `times` by N. */
static int longer(int times)
{
    const char *n = getenv("EK_LONG");
    return !n ? 1 : atoi(n) > 1 ? atoi(n) * times : times;
}

static void compare_many(const struct model *m, int sources, int most, int jobs,
                         const char *constraints)
{
    static const char *const accepts[] = {"\"k_sigma\": 2", "\"k_sigma\": [8, 3]",
                                          "\"misfit\": \"rms\", \"misfit_below\": 2.5",
                                          "\"k_sigma\": 40, \"misfit_below\": 6"};
    size_t found = 0;
    const int all = longer(3) * jobs;
    for (int i = 0; i < all; i++) {
        struct job *job = random_job(m, sources, most, accepts[i % 4], constraints);
        found += compare_methods(job);
        job_close(job);
    }
    assert_true(found > (size_t)all); /* else nothing was compared */
}

static void test_one_fault(void **state)
{
    compare_many(model_find("okada"), 1, 4, 24, "\"length_over_width\": [0.5, 4.5]");
    compare_many(model_find("okada"), 1, 3, 8,
                 "\"magnitude\": [4, 7.2], \"slip_over_length\": [0, 1e-4]");
}

/* Another rock, and faults that open: three bases and no amplitude. */
static void test_opening(void **state)
{
    poisson = 0.3;
    compare_many(model_find("mogi"), 1, 12, 4, "");
    compare_many(model_find("okada"), 1, 3, 4, "");
    opens = 4;
    compare_many(model_find("okada"), 1, 3, 8, "\"magnitude\": [4, 7.2]");
    compare_many(model_find("okada"), 2, 2, 2, "");
    opens = 8200; /* more than a list of inner places is to have */
    compare_many(model_find("okada"), 1, 1, 2, "");
    poisson = 0;
    opens = 0;
}

/* Of each job only the trial that explains the data best: no row of data may count too much. */
static void compare_tight(const struct model *m, int most)
{
    struct job *job = random_job(m, 1, most, "\"misfit\": \"rms\", \"misfit_below\": 1e9", "");
    struct accepted all = job_search(job, SEARCH_BRUTE, 1);
    double least = INFINITY;
    for (size_t i = 0; i < all.n; i++)
        least = fmin(least, all.record[i].misfit);
    job->accept.below = least;
    struct accepted none = job_search(job, SEARCH_EXACT, 1);
    assert_int_equal(none.n, 0);
    job->accept.below = nextafter(least, INFINITY);
    assert_true(compare_methods(job) > 0);
    accepted_free(&all);
    job_close(job);
}

/* Any linear datum, with and without unknowns; scenes without stations. */
static void test_scenes(void **state)
{
    static const char *const kinds[] = {
        "\"asc\": {\"offset\": false}", "\"asc\": {\"offset\": true}, \"dsc\": {\"offset\": true}",
        "\"asc\": {\"ramp\": true}, \"dsc\": {\"offset\": true, \"ramp\": true}", ""};
    for (int i = 0; i < 4; i++) {
        unknowns = kinds[i];
        compare_many(model_find("mogi"), 1, 12, 4, "");
        compare_many(model_find("okada"), 1, 3, 4, "");
        compare_many(model_find("mogi"), 2, 4, 4, "");
        for (int k = 0; k < 8; k++)
            compare_tight(model_find(k % 2 ? "okada" : "mogi"), k % 2 ? 3 : 12);
    }
    unlink(job_file("scenes.csv"));
    unknowns = NULL;
}

static void test_one_sphere(void **state)
{
    compare_many(model_find("mogi"), 1, 16, 16, "\"radius_over_depth\": 0.05");
}

static void test_two_sources(void **state)
{
    compare_many(model_find("mogi"), 2, 5, 16,
                 "\"radius_over_depth\": 0.06, \"distance_over_radius\": 10");
    compare_many(model_find("okada"), 2, 2, 8, "\"distance\": 1000");
}

static void test_three_sources(void **state)
{
    compare_many(model_find("mogi"), 3, 3, 8, "");
}

static void test_another_model(void **state)
{
    compare_many(&model_sill, 1, 12, 8, "\"below\": 1500");
    compare_many(&model_sill, 2, 4, 8, "");
}

/* ---- symmetric jobs ---------------------------------------------------------------------------*/

/* Basis responses vanish, are parallel, or are zeros of either sign: angles at multiples of 45
 * degrees, stations on axes of symmetry, upper edges at the ground, amplitudes of all signs. */
static const struct axis lattice_okada[] = {
    {"Ec_m", -1e4, 1e4, 5e3},      {"Nc_m", -1e4, 1e4, 5e3},    {"d_m", 0, 5e3, 2.5e3},
    {"strike_deg", -180, 270, 45}, {"dip_deg", 0, 90, 45},      {"L_m", 1e4, 3e4, 1e4},
    {"W_m", 5e3, 2e4, 5e3},        {"rake_deg", -180, 180, 45}, {"slip_m", -2, 2, 0.5},
};
static const struct axis lattice_mogi[] = {
    {"Es_m", -1e4, 1e4, 5e3},
    {"Ns_m", -1e4, 1e4, 5e3},
    {"d_m", 1e3, 5e3, 1e3},
    {"dV_m3", -2e6, 2e6, 1e6},
};

/* A range of whole steps that contains the true value. */
static int write_lattice(char *out, size_t room, const struct axis *axes, const struct model *m,
                         int sources, int most)
{
    const int naxes = job_required(m);
    int used = 0;
    set_usual(m, sources);
    for (int i = 0; i < sources * naxes; i++) {
        const struct axis *a = &axes[i % naxes];
        const int all = (int)((a->high - a->low) / a->spacing + 1.5);
        const int wanted = 1 + (int)job_random(0, most), n = wanted < all ? wanted : all;
        const int first = (int)job_random(0, all - n + 1), at = first + (int)job_random(0, n);
        truth[i / naxes * m->nparameters + i % naxes] = a->low + at * a->spacing;
        char suffix[16] = "";
        if (sources > 1)
            snprintf(suffix, sizeof suffix, ".%d", i / naxes + 1);
        used += snprintf(out + used, room - (size_t)used,
                         "%s{\"name\": \"%s%s\", \"min\": %.17g, \"max\": %.17g, \"n\": %d}",
                         i ? ", " : "", a->name, suffix, a->low + first * a->spacing,
                         a->low + (first + n - 1) * a->spacing, n);
    }
    return used;
}

/* Stations on a lattice that includes the sources' own places; their data are exact or wrong by a
 * whole number of sigmas. */
static void write_lattice_stations(const struct model *m, int sources, double sigma, double wrong)
{
    char text[8192];
    bool taken[25] = {false};
    int used = snprintf(text, sizeof text, "site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n");
    for (int i = 0, n = 1 + (int)job_random(0, 5); i < n;) {
        const int at = (int)job_random(0, 25);
        const double e = 5e3 * (at % 5 - 2), north = 5e3 * (at / 5 - 2); /* NOLINT */
        double sum[3] = {0}, u[3];
        if (taken[at])
            continue;
        taken[at] = true;
        for (int s = 0; s < sources; s++) {
            model_forward(m, truth + s * m->nparameters, e, north, u);
            for (int c = 0; c < 3; c++)
                sum[c] += u[c];
        }
        used += snprintf(text + used, sizeof text - (size_t)used, "S%d,%.17g,%.17g", i++, e, north);
        for (int c = 0; c < 3; c++)
            used += snprintf(text + used, sizeof text - (size_t)used, ",%.17g",
                             isfinite(sum[c]) ? sum[c] + wrong * floor(job_random(-2, 3)) : 0.);
        used += snprintf(text + used, sizeof text - (size_t)used, ",%.17g,%.17g,%.17g\n", sigma,
                         sigma, 2 * sigma);
    }
    job_write("stations.csv", text);
}

static struct job *lattice_job(int number)
{
    static const char *const accepts[] = {
        "\"k_sigma\": 1",        "\"k_sigma\": [3, 8]", "\"misfit\": \"rms\", \"misfit_below\": 2",
        "\"k_sigma\": 0.000001", "\"keep_all\": true",  "\"best\": 3"};
    static const double sigmas[] = {5e-3, 1e-4, 1, 1e-9};
    char parameters[8192], text[12288];
    job_seed = 1 + 7919 * (uint64_t)number;
    const struct model *m = model_find(number % 3 ? "okada" : "mogi");
    const int sources = job_random(0, 1) < 0.3 ? 2 : 1;
    const int most = *m->name == 'o' ? (sources > 1 ? 2 : 4) : 5;
    const double sigma = sigmas[(int)job_random(0, 4)];
    write_lattice(parameters, sizeof parameters, *m->name == 'o' ? lattice_okada : lattice_mogi, m,
                  sources, most);
    write_lattice_stations(m, sources, sigma, job_random(0, 1) < 0.5 ? 0 : sigma);
    snprintf(text, sizeof text,
             "{\"model\": \"%s\", \"sources\": %d, \"stations\": \"stations.csv\", "
             "\"accept\": {%s}, \"parameters\": [%s]}",
             m->name, sources, accepts[(int)job_random(0, 6)], parameters);
    return job_read(text, m);
}

static struct accepted search_on(const struct job *job, enum search_method method,
                                 struct backend *backend);

/* Any method, on the host and on devices, gives the judge's set. */
static size_t compare_lattice(const struct job *job, int number, struct backend *const *device,
                              int ndevices)
{
    struct accepted right = job_judge_all(job);
    const size_t n = right.n;
    job_keep_best(job, &right);
    for (int i = 0; i < 4 + 2 * ndevices; i++) {
        const enum search_method method = (enum search_method)(i % 2);
        struct accepted other = i < 4 ? job_search(job, method, i < 2 ? 1 : 5)
                                      : search_on(job, method, device[i / 2 - 2]);
        job_keep_best(job, &other);
        if (other.n != right.n)
            print_error("way %d of job %d: %s/job.json\n", i, number, job_folder);
        assert_same(&other, &right);
        accepted_free(&other);
    }
    accepted_free(&right);
    return n;
}

static void compare_parts(struct backend *const *device, int ndevices);

/* Eight jobs; EK_LONG=N: N times two thousand. Some also run on devices. */
static void test_lattice(void **state)
{
    static const char *const names[] = {"host:0", "opencl:0"};
    struct backend *device[2];
    const int jobs = 8 * longer(250);
    int ndevices = 0, found = 0;
    status_mute(1);
    for (int i = 0; i < 2; i++) {
        struct backend_device which;
        int n;
        ndevices +=
            !backend_parse(names[i], 1, &which, 1, &n) && !backend_open(which, &device[ndevices]);
    }
    status_mute(-1);
    for (int i = 0; i < jobs; i++) {
        struct job *job = lattice_job(i);
        found += compare_lattice(job, i, device, i % (longer(5) * 10) ? 0 : ndevices) > 0;
        job_close(job);
    }
    assert_true(found > jobs / 2);
    compare_parts(device, ndevices);
    /* Two sources, one with a station on its trace: its undefined predictions are no rows. */
    struct job *on_trace = lattice_job(332);
    assert_int_equal(compare_lattice(on_trace, 332, device, ndevices), 1024);
    job_close(on_trace);
    for (int i = 0; i < ndevices; i++)
        backend_close(device[i]);
}

/* ---- devices ----------------------------------------------------------------------------------*/

enum { FEEDERS = 3 };

/* The number of judging threads varies from run to run; one run covers all trials. */
static struct accepted search_on(const struct job *job, enum search_method method,
                                 struct backend *backend)
{
    static int run;
    struct accepted found = {0};
    struct search *s;
    struct search_device *d;
    const struct search_sink sink = {job_append, &found};
    assert_int_equal(search_open(job, method, &s), EK_OK);
    assert_int_equal(search_device_open(s, backend, 1 + run % FEEDERS, &d), EK_OK);
    d->part = 1 + (long)(run++ % 4) * 50; /* several launches, the last one smaller */
    const trial_number half = job->trials / 2 + 1;
    for (trial_number first = 0; first < job->trials; first += half)
        assert_int_equal(search_device_run(d, NULL, (struct trial_range){first, half}, &sink),
                         EK_OK);
    assert_true(search_device_evaluations(d) > 0);
    search_device_close(d);
    search_close(s);
    return found;
}

/* Compares every method on a device with the host, record by record. */
static void compare_on(struct backend *b, const struct model *m, int sources, int most,
                       const char *constraints)
{
    size_t found = 0;
    for (int i = 0; i < longer(4); i++) {
        struct job *job = random_job(m, sources, most, "\"k_sigma\": 12", constraints);
        struct accepted host = job_search(job, SEARCH_EXACT, 1);
        for (int method = 0; method < 2; method++) {
            struct accepted device = search_on(job, (enum search_method)method, b);
            assert_same(&device, &host);
            accepted_free(&device);
        }
        found += host.n;
        accepted_free(&host);
        job_close(job);
    }
    assert_true(found > 0);
}

static int by_most(const void *a, const void *b)
{
    const double x = ((const struct accepted_record *)a)->most,
                 y = ((const struct accepted_record *)b)->most;
    return (x > y) - (x < y);
}

/* Two thirds of 41^3 geometries are accepted: a launch finds more than the first transfer
 * fetches. */
static void compare_full(struct backend *b)
{
    struct job *job = random_job(model_find("mogi"), 1, 8, "\"k_sigma\": 1e6", "");
    for (int a = 0; a < job->naxes; a++) {
        job->axis[a].n = a < 3 ? 41 : 1;
        job->axis[a].max = job->axis[a].min + (a < 3 ? 400 : 0);
    }
    assert_true(trial_count(job->axis, job->naxes, &job->trials));
    job->wanted.count = job->trials;
    struct accepted all = job_search(job, SEARCH_EXACT, 1);
    assert_int_equal(all.n, 41 * 41 * 41);
    qsort(all.record, all.n, sizeof *all.record, by_most);
    job->accept.k[0] = all.record[2 * all.n / 3].most;
    struct accepted host = job_search(job, SEARCH_EXACT, 1);
    assert_in_range(host.n, all.n / 2, all.n - 1);
    for (int run = 0; run < FEEDERS; run++) {
        struct accepted device = search_on(job, SEARCH_EXACT, b);
        assert_same(&device, &host);
        accepted_free(&device);
    }
    accepted_free(&all);
    accepted_free(&host);
    job_close(job);
}

#define AXIS(name, min, max, n)                                                                    \
    "{\"name\": \"" name "\", \"min\": " min ", \"max\": " max ", \"n\": " n "}, "
#define FAULT_AT(name)                                                                             \
    "{\"name\": \"Nc_m" name "\", \"value\": 0}, {\"name\": \"d_m" name "\", \"value\": 2e3}, "    \
    "{\"name\": \"strike_deg" name "\", \"value\": 30}, {\"name\": \"L_m" name                     \
    "\", \"value\": 1e4}, "                                                                        \
    "{\"name\": \"W_m" name "\", \"value\": 4e3}, "
#define SPHERE_AT(name)                                                                            \
    "{\"name\": \"Ns_m" name "\", \"value\": 500}, {\"name\": \"d_m" name "\", \"value\": 3e3}, "

/* Two thirds of some 40,000 trials are accepted, more than are held at a time. Amplitudes vary more
 * slowly than directions, so that a geometry's trials are not found in order. */
static void compare_parts(struct backend *const *device, int ndevices)
{
    static const struct {
        const char *model;
        int sources;
        const char *parameters;
    } jobs[] = {
        {"okada", 1,
         FAULT_AT("") AXIS("Ec_m", "-4e3", "4e3", "6") AXIS("dip_deg", "20", "90", "7")
             AXIS("slip_m", "-1", "1",
                  "31") "{\"name\": \"rake_deg\", \"min\": 0, \"max\": 180, \"n\": 31}"},
        {"okada", 2,
         FAULT_AT(".1") AXIS("Ec_m.1", "-4e3", "4e3", "2") AXIS("dip_deg.1", "20", "90", "2")
             AXIS("slip_m.1", "-1", "1", "7") AXIS("rake_deg.1", "0", "180", "9") FAULT_AT(".2")
                 AXIS("dip_deg.2", "20", "90", "2") AXIS("Ec_m.2", "5e3", "9e3", "2")
                     AXIS("slip_m.2", "-1", "1",
                          "7") "{\"name\": \"rake_deg.2\", \"min\": 0, \"max\": 180, \"n\": 6}"},
        {"mogi", 3,
         SPHERE_AT(".1") AXIS("Es_m.1", "-4e3", "4e3", "5") AXIS("dV_m3.1", "-1e6", "1e6", "7")
             SPHERE_AT(".2") AXIS("Es_m.2", "5e3", "8e3", "5") AXIS("dV_m3.2", "-1e6", "1e6", "7")
                 SPHERE_AT(".3") "{\"name\": \"Es_m.3\", \"value\": 1e4}, {\"name\": \"dV_m3.3\", "
                                 "\"min\": -1e6, \"max\": 1e6, \"n\": 31}"},
    };
    for (int i = 0; i < 3; i++) {
        char text[4096];
        struct job *job;
        job_write("stations.csv",
                  "E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n"
                  "1e3,2e3,0.01,0,0.02,0.01,0.02,0.01\n-3e3,1e3,0,0.02,0,0.02,0.01,0.02\n");
        snprintf(text, sizeof text,
                 "{\"model\": \"%s\", \"sources\": %d, \"stations\": \"stations.csv\", \"accept\": "
                 "{\"k_sigma\": 1e6}, \"parameters\": [%s]}",
                 jobs[i].model, jobs[i].sources, jobs[i].parameters);
        job = job_read(text, model_find(jobs[i].model));
        struct accepted all = job_judge_all(job);
        assert_true(all.n == job->trials);
        qsort(all.record, all.n, sizeof *all.record, by_most);
        job->accept.k[0] = all.record[2 * all.n / 3].most;
        assert_true(compare_lattice(job, i, device, ndevices) > 3 * SEARCH_HELD / 2);
        accepted_free(&all);
        job_close(job);
    }
}

static void compare_on_device(const char *name)
{
    struct backend_device which;
    struct backend *b;
    int n;
    assert_int_equal(backend_parse(name, 1, &which, 1, &n), EK_OK);
    assert_int_equal(backend_open(which, &b), EK_OK);
    compare_on(b, model_find("okada"), 1, 3, "\"length_over_width\": [0.5, 4.5]");
    compare_on(b, model_find("mogi"), 1, 8, "\"radius_over_depth\": 0.05");
    compare_full(b);
    unknowns = "\"dsc\": {\"offset\": true, \"ramp\": true}";
    compare_on(b, model_find("mogi"), 1, 8, "");
    compare_on(b, model_find("mogi"), 2, 4, "");
    compare_on(b, model_find("okada"), 1, 3, "");
    unlink(job_file("scenes.csv"));
    unknowns = NULL;
    poisson = 0.1;
    opens = 4;
    compare_on(b, model_find("okada"), 1, 2, "");
    opens = 0;
    poisson = 0;
    compare_on(b, model_find("mogi"), 2, 4, "\"distance_over_radius\": 10");
    compare_on(b, model_find("mogi"), 3, 2, "");
    backend_close(b);
}

static void test_host_device(void **state)
{
    compare_on_device("host:0");
}

static void test_opencl_device(void **state)
{
    int n = 0;
    status_mute(1);
    const enum ek_status st = backend_find("opencl")->count(&n);
    status_mute(-1);
    if (st || n == 0)
        skip();
    compare_on_device("opencl:0");
}

/* ---- other wishes -----------------------------------------------------------------------------*/

/* The best n of all trials, or of the half that does not have the very best, however bad. */
static void test_best(void **state)
{
    for (int i = 0; i < 12; i++) {
        const struct model *m = model_find(i % 2 ? "mogi" : "okada");
        struct job *job = random_job(m, 1 + i / 4 % 2 * (i % 2), 3, "\"best\": 5", "");
        struct accepted right = job_judge_all(job);
        job_keep_best(job, &right);
        const bool early = right.record[0].trial < job->trials / 2;
        if (i > 3)
            job->wanted =
                (struct trial_range){early ? job->trials / 2 : 0, (job->trials + early) / 2};
        for (int method = 0; method < 2; method++) {
            struct accepted found = job_search(job, (enum search_method)method, 3);
            accepted_free(&right);
            right = job_judge_all(job);
            job_keep_best(job, &right);
            job_keep_best(job, &found);
            assert_same(&found, &right);
            accepted_free(&found);
        }
        accepted_free(&right);
        job_close(job);
    }
}

/* Data explained to the last bit: only rounding errors are tolerated then, and they must be. */
static void test_no_tolerance(void **state)
{
    noise = 0;
    for (int i = 0; i < 24; i++) {
        const struct model *m = model_find(i % 2 ? "mogi" : "okada");
        struct job *job = random_job(m, 1 + i / 2 % 2, 1 + i / 4 % 3, "\"best\": 1", "");
        struct accepted right = job_judge_all(job);
        job_keep_best(job, &right);
        for (int method = 0; method < 2; method++) {
            struct accepted found = job_search(job, (enum search_method)method, 1);
            job_keep_best(job, &found);
            assert_same(&found, &right);
            accepted_free(&found);
        }
        accepted_free(&right);
        job_close(job);
    }
    noise = 0.003;
}

/* Some trial misses each datum by k sigma: it lies in the corner of what may be accepted. */
static void test_corners(void **state)
{
    for (int i = 0; i < 96; i++) {
        struct job *job =
            i % 2 ? lattice_job(i)
                  : random_job(model_find("okada"), 1 + i / 8 % 2, 2, "\"best\": 1", "");
        struct stations *s = &job->stations;
        struct accepted_record record;
        struct judge *judge;
        const double *u;
        const trial_number corner = job->trials * (trial_number)i / 96;
        assert_int_equal(judge_open(job, &judge), EK_OK);
        if (judge_trial(judge, corner, &record, &u) && !isnan(record.most)) {
            for (int c = 0; c < 3 * s->n; c++)
                s->observed[c] = isnan(s->observed[c])
                                     ? NAN
                                     : u[c] + (job_random(-1, 1) > 0 ? 3 : -3) * s->sigma[c];
            judge_trial(judge, corner, &record, NULL);
            job->accept = (struct job_accept){.nk = 1, .k = {record.most}, .below = INFINITY};
            assert_true(compare_lattice(job, i, NULL, 0) > 0);
        }
        judge_close(judge);
        job_close(job);
    }
}

/* keep_all keeps exactly what satisfies the constraints. */
static void test_keep_all(void **state)
{
    struct job *job = random_job(model_find("okada"), 1, 3, "\"keep_all\": true",
                                 "\"length_over_width\": [0.9, 2.1]");
    struct accepted all = job_search(job, SEARCH_EXACT, 2);
    size_t allowed = 0;
    double x[JOB_AXES];
    for (trial_number t = 0; t < job->trials; t++) {
        job_parameters(job, t, x);
        allowed += job_allows(job, x);
    }
    assert_int_equal(all.n, allowed);
    accepted_free(&all);
    compare_methods(job);
    job_close(job);
}

/* With the rake before the geometry no short cut is possible; the answer is the same. */
static void test_any_order_of_axes(void **state)
{
    struct job *job = random_job(model_find("okada"), 1, 3, "\"k_sigma\": 20", "");
    struct accepted before = job_search(job, SEARCH_EXACT, 1);
    const int last = job->naxes - 1;
    const struct trial_axis slip = job->axis[last];
    const int parameter = job->parameter[last];
    const char *name = job->name[last];
    memmove(job->axis + 1, job->axis, (size_t)last * sizeof *job->axis);
    memmove(job->parameter + 1, job->parameter, (size_t)last * sizeof *job->parameter);
    memmove(job->name + 1, job->name, (size_t)last * sizeof *job->name);
    job->axis[0] = slip;
    job->parameter[0] = parameter;
    job->name[0] = name;
    status_mute(1);
    struct accepted after = job_search(job, SEARCH_EXACT, 3);
    status_mute(-1);
    assert_int_equal(before.n, after.n);
    accepted_free(&before);
    accepted_free(&after);
    job_close(job);
}

/* ---- known sets -------------------------------------------------------------------------------*/

static void known_set(const char *name)
{
    char path[128], line[64];
    struct job *job;
    size_t i = 0;
    snprintf(path, sizeof path, "tests/data/okada_mogi/%s.json", name);
    assert_int_equal(job_open(path, NULL, &job), EK_OK);
    struct accepted found = job_search(job, SEARCH_EXACT, 3);
    snprintf(path, sizeof path, "tests/data/okada_mogi/%s-accepted.txt", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (; fgets(line, sizeof line, f); i++) {
        char text[TRIAL_TEXT];
        line[strcspn(line, "\n")] = '\0';
        assert_true(i < found.n);
        assert_string_equal(trial_text(found.record[i].trial, text), line);
    }
    assert_int_equal(i, found.n);
    fclose(f);
    accepted_free(&found);
    job_close(job);
}

static void test_known_sets(void **state)
{
    known_set("campi-g1-k2");
    known_set("parkfield-g1-k2.5");
}

/* Every instruction level finds the same trials by each method. */
static void test_levels(void **state)
{
    for (int sources = 1; sources <= 2; sources++) {
        struct accepted first = {0};
        for (int i = isa_next(-1); i >= 0; i = isa_next(i)) {
            job_seed = 11;
            struct job *job = random_job(model_find("mogi"), sources, 5, "\"k_sigma\": 12", "");
            for (int method = 0; method < 2; method++) {
                struct accepted now = job_search(job, method ? SEARCH_BRUTE : SEARCH_EXACT, 3);
                if (!first.n)
                    first = now;
                assert_int_equal(now.n, first.n);
                for (size_t k = 0; k < now.n; k++) {
                    assert_true(now.record[k].trial == first.record[k].trial);
                    assert_true(fabs(now.record[k].misfit - first.record[k].misfit) <=
                                1e-9 * (1 + first.record[k].misfit));
                }
                if (now.record != first.record)
                    accepted_free(&now);
            }
            job_close(job);
        }
        assert_true(first.n > 0);
        accepted_free(&first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),        cmocka_unit_test(test_one_fault),
        cmocka_unit_test(test_one_sphere),    cmocka_unit_test(test_opening),
        cmocka_unit_test(test_scenes),        cmocka_unit_test(test_two_sources),
        cmocka_unit_test(test_three_sources), cmocka_unit_test(test_another_model),
        cmocka_unit_test(test_lattice),       cmocka_unit_test(test_host_device),
        cmocka_unit_test(test_opencl_device), cmocka_unit_test(test_best),
        cmocka_unit_test(test_no_tolerance),  cmocka_unit_test(test_corners),
        cmocka_unit_test(test_keep_all),      cmocka_unit_test(test_any_order_of_axes),
        cmocka_unit_test(test_known_sets),
    };
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
