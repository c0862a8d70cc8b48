/* tests/bench/fuzz.c – damaged files: whatever the bytes, a reader returns data or a one-line
 * error, within bounds and in time.
 *
 *      fuzz [ROUNDS [READER]]   seeds are the repository's files and those in SEEDS/READER/
 *      fuzz seeds               writes all seeds to SEEDS/READER/, prints the readers' names
 *
 * `make fuzz` creates seeds with the programs and runs clang's libFuzzer, which is guided by the
 * branches that the bytes take, on each reader: READER selects it. */
#include "cu/bench/explain.h"
#include "cu/moldable/job.h"
#include "cu/sched/profile.h"
#include "cu/sim/capacity.h"
#include "cu/sim/plan_case.h"
#include "cu/unit/cu.h"
#include "cu/unit/place.h"
#include "kirchhoff/microjobs.h"
#include "kirchhoff/segy.h"
#include "kirchhoff/segy_internal.h"
#include "kirchhoff/ttable.h"
#include "kirchhoff/velocity.h"
#include "mcsem/cases.h"
#include "mcsem/poly.h"
#include "mcsem/read_model.h"
#include "mcsem/survey_file.h"
#include "okada_mogi/job.h"
#include "cu/bench/bench_options.h"
#include "src/file.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_READ = 50, MOST_SEED = 1 << 16, MOST_SEEDS = 64, SECONDS = 20 };

static char folder[64]; /* of damaged files and of the files that a job file names */

/* ---- the readers ------------------------------------------------------------------------------*/

static bool read_segy(const char *path)
{
    const struct segy_options o = {.as = file_ends_in(path, ".su") ? SEGY_AS_SU : SEGY_AS_SEGY};
    struct segy *s;
    if (segy_open(path, &o, &s))
        return false;
    float *x = malloc((size_t)s->ns * sizeof *x);
    for (size_t i = 0; x && i < s->n && i < MOST_READ; i++)
        (void)segy_read(s, i, x);
    free(x);
    segy_close(s);
    return true;
}

static bool read_case(const char *path)
{
    struct plan_case c;
    if (plan_case_open(&c, path))
        return false;
    plan_case_close(&c);
    return true;
}

static bool read_machine(const char *path)
{
    struct capacity_work w;
    struct capacity_machine m;
    bool is_machine, is_work;
    if (capacity_work_open(&w, "tests/data/cu/pcf-40.json"))
        abort();
    if ((is_machine = !capacity_machine_open(&m, path, &w)))
        capacity_machine_close(&m);
    capacity_work_close(&w);
    if ((is_work = !capacity_work_open(&w, path)))
        capacity_work_close(&w);
    return is_machine || is_work;
}

static bool read_run_job(const char *path)
{
    struct run_job job;
    if (run_job_open(&job, path))
        return false;
    run_job_close(&job);
    return true;
}

static bool read_swf(const char *path)
{
    struct moldable_problem p = {0};
    const bool whole = !moldable_read_swf(&p, path, 64, 1);
    moldable_problem_close(&p);
    return whole;
}

static bool read_result(const char *path)
{
    OWNED_STREAM FILE *out = fopen("/dev/null", "w");
    return out && !explain_run(out, path);
}

static bool read_profile(const char *path)
{
    struct profile p;
    if (profile_read(path, &p))
        return false;
    profile_close(&p);
    return true;
}

static bool read_search(const char *path)
{
    struct job *job;
    if (job_open(path, NULL, &job))
        return false;
    job_close(job);
    return true;
}

static bool read_stations(const char *path)
{
    const struct stations_format format = {.unit = 1, .sigma = {1, 1, 1}};
    struct stations s = {0};
    if (stations_read(path, &format, &s))
        return false;
    stations_close(&s);
    return true;
}

static bool read_survey(const char *path)
{
    const struct survey_file_earth words = {0};
    const struct survey_noise noise = {.relative = 0.05};
    struct survey *survey = NULL;
    struct earth *earth = NULL;
    if (survey_file_read(path, &words, &noise, &survey, &earth))
        return false;
    survey_close(survey);
    earth_close(earth);
    return true;
}

static bool read_cases(const char *path)
{
    struct cases cases;
    struct cases_row row;
    const bool whole = !cases_open(path, &cases);
    if (whole)
        for (size_t i = 0; i < cases.table->nrows && i < MOST_READ; i++)
            (void)cases_read(&cases, i, &row);
    cases_close(&cases);
    return whole;
}

static bool read_poly(const char *path)
{
    static const double receiver[][2] = {{0, 1000}, {500, 1500}};
    double(*floor)[2] = NULL;
    size_t n, floors = 0;
    for (size_t receivers = 0; receivers <= 2; receivers += 2)
        if (!poly_floor(path, receiver, receivers, &floor, &n)) {
            free(floor);
            floors++;
        }
    return floors > 0;
}

static bool read_grid(const char *path)
{
    struct earth_list list = earth_list_defaults;
    return !read_model_grid(path, &list);
}

static bool read_velocity(const char *path)
{
    char words[128];
    struct velocity *v;
    snprintf(words, sizeof words, "cube:%s", path);
    if (velocity_open(words, &v))
        return false;
    velocity_close(v);
    return true;
}

static bool read_ttable(const char *path)
{
    struct ttable *t;
    if (ttable_open(path, &t))
        return false;
    ttable_close(t);
    return true;
}

static bool read_microjobs(const char *path)
{
    const struct bench_settings run = {0};
    struct microjobs job;
    if (microjobs_open(path, &run, &job))
        return false;
    microjobs_close(&job);
    return true;
}

/* A line of text, like an option's argument: one of its forms is right. */
static bool read_words(const char *path)
{
    char *text;
    struct cu_layout layout;
    struct place_list places = {0};
    struct moldable_problem p = {0};
    struct earth_list list = earth_list_defaults;
    struct velocity *v;
    int right = 0;
    if (file_read_text(path, &text))
        return false;
    right += !cu_layout_parse(text, &layout);
    if (!place_parse(text, NULL, NULL, &places)) {
        place_free(&places);
        right++;
    }
    right += !moldable_tasks_parse(&p, text);
    right += !moldable_nodes_parse(&p, text);
    moldable_problem_close(&p);
    right += !earth_list_read("words", text, &list);
    right += !earth_list_read_sea("words", text, &list);
    if (strncmp(text, "cube:", 5) && strncmp(text, "segy:", 5) && !velocity_open(text, &v)) {
        velocity_close(v);
        right++;
    }
    free(text);
    return right > 0;
}

/* `file`: name of the damaged copy; `beside`: a file that it refers to, copied there; `read`:
 * whether it took the file. */
static const struct reader {
    const char *name, *file, *seeds, *beside;
    bool (*read)(const char *path);
} readers[] = {
    {"segy", "x.segy", NULL, NULL, read_segy},
    {"su", "x.su", NULL, NULL, read_segy},
    {"case", "x.json", "tests/data/cu/*.json", NULL, read_case},
    {"machine", "x.json", "cu/examples/pcad.json", NULL, read_machine},
    {"run-job", "x.json", "cu/examples/*.json", NULL, read_run_job},
    {"swf", "x.swf", NULL, NULL, read_swf},
    {"result", "x.json", NULL, NULL, read_result},
    {"profile", "x.json", NULL, NULL, read_profile},
    {"search", "x.json", "okada_mogi/examples/*.json", "okada_mogi/examples/*.csv", read_search},
    {"stations", "x.csv", "okada_mogi/examples/*.csv", NULL, read_stations},
    {"survey", "x.csv", NULL, NULL, read_survey},
    {"emdata", "x.emdata", NULL, NULL, read_survey},
    {"fields", "x.csv", NULL, NULL, read_cases},
    {"poly", "x.poly", NULL, NULL, read_poly},
    {"model", "x.csv", NULL, NULL, read_grid},
    {"velocity", "x.json", NULL, "$SEEDS/velocity.f32", read_velocity},
    {"ttable", "x.tt", NULL, NULL, read_ttable},
    {"microjobs", "x.json", NULL, "$SEEDS/data.segy", read_microjobs},
    {"words", "x.txt", NULL, NULL, read_words},
};
enum { READERS = sizeof readers / sizeof *readers };

/* ---- one input --------------------------------------------------------------------------------*/

static void copy_beside(const char *pattern)
{
    char command[256];
    snprintf(command, sizeof command, "cp %s %s/", pattern, folder);
    if (system(command))
        abort();
}

static const struct reader *find(const char *name)
{
    for (int i = 0; i < READERS; i++)
        if (!strcmp(readers[i].name, name))
            return &readers[i];
    fprintf(stderr, "fuzz: no reader '%s'\n", name);
    exit(2);
}

/* Writes the input and reads it: true if it is taken. An input that breaks a reader stays in the
 * folder. */
static bool try(const struct reader *r, const void *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, r->file);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, n, out) != n || fclose(out)) {
        perror(path);
        abort();
    }
    status_mute(1);
    alarm(SECONDS);
    const bool taken = r->read(path);
    alarm(0);
    status_mute(-1);
    return taken;
}

static void begin(const struct reader *r)
{
    const char *shm = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(folder, sizeof folder, "%s/fuzz-%s.XXXXXX", shm, r->name);
    if (!mkdtemp(folder))
        abort();
    if (r->beside)
        copy_beside(r->beside);
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct reader *r;
    if (!r) {
        r = find(getenv("READER") ? getenv("READER") : "segy");
        begin(r);
        atexit(end);
    }
    try(r, data, size);
    return 0;
}

#ifndef LIBFUZZER

/* ---- seeds and mutations ----------------------------------------------------------------------*/

static struct seed {
    size_t n;
    uint8_t bytes[MOST_SEED];
} seeds[MOST_SEEDS], now;
static int nseeds;

static void add_seeds(const char *pattern)
{
    glob_t found;
    if (!glob(pattern, 0, NULL, &found))
        for (size_t i = 0; i < found.gl_pathc && nseeds < MOST_SEEDS; i++) {
            FILE *in = fopen(found.gl_pathv[i], "rb");
            struct seed *s = &seeds[nseeds];
            s->n = in ? fread(s->bytes, 1, MOST_SEED, in) : 0;
            if (in)
                fclose(in);
            nseeds += s->n > 0 && s->n < MOST_SEED; /* a truncated seed teaches little */
        }
    globfree(&found);
}

static uint64_t state = 88172645463325252u;
static size_t draw(size_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? state % below : 0;
}

static size_t first_trace; /* of these files, bytes */

/* Valid SEG-Y files of every format, byte order and revision, or SU files. */
static void add_segy(bool su)
{
    enum { NS = 9, TRACES = 4 };
    static const int format[] = {1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16};
    first_trace = su ? 0 : SEGY_TEXT + SEGY_BINARY;
    for (int i = 0; i < (su ? 2 : (int)(sizeof format / sizeof *format)); i++) {
        const bool little = i % 2;
        const int bytes = su ? 4 : segy_format_find(format[i])->bytes;
        const size_t trace = SEGY_HEADER + NS * (size_t)bytes;
        struct seed *s = &seeds[nseeds++];
        s->n = first_trace + TRACES * trace;
        memset(s->bytes, 0, s->n);
        if (!su) {
            segy_set(s->bytes, 3217, 2, little, 2000);
            segy_set(s->bytes, 3221, 2, little, NS);
            segy_set(s->bytes, 3225, 2, little, format[i]);
            segy_set(s->bytes, 3501, 1, little, i % 3);
        }
        for (int t = 0; t < TRACES; t++) {
            uint8_t *h = s->bytes + first_trace + (size_t)t * trace;
            segy_set(h, 29, 2, little, 1);
            segy_set(h, 115, 2, little, NS);
            segy_set(h, 117, 2, little, 2000);
        }
    }
}

/* Replaces `old` bytes by `n` others. */
static void splice(size_t at, size_t old, const void *bytes, size_t n)
{
    if (now.n - old + n > MOST_SEED)
        return;
    memmove(now.bytes + at + n, now.bytes + at + old, now.n - at - old);
    memcpy(now.bytes + at, bytes, n);
    now.n += n - old;
}

/* Changes a byte of SEG-Y's headers that determines sizes or offsets. */
static void change_header(void)
{
    static const size_t word[] = {3217, 3221, 3225, 3269, 3273, 3297, 3501, 3503,
                                  3505, 3507, 3521, 3629, 3671, 3715, 3717, 3815};
    const size_t in_segy = word[draw(sizeof word / sizeof *word)] - 1 + draw(4);
    const size_t at = in_segy + first_trace - (SEGY_TEXT + SEGY_BINARY);
    if (at < now.n) /* not below the first byte of an SU file, either */
        now.bytes[at] = (uint8_t)(draw(3) ? draw(256) : draw(2) * 255);
}

/* Replaces a number by another one, a word or nothing. */
static void change_word(void)
{
    static const char *const words[] = {"0",
                                        "-1",
                                        "1e308",
                                        "-1e308",
                                        "1e-320",
                                        "nan",
                                        "inf",
                                        "",
                                        "2147483647",
                                        "2147483648",
                                        "-2147483648",
                                        "4294967296",
                                        "18446744073709551615",
                                        "9223372036854775807",
                                        "1048577",
                                        "0.5",
                                        "null",
                                        "true",
                                        "[]",
                                        "{}",
                                        "\"\"",
                                        "[[]]",
                                        "\"x\"",
                                        "1;2",
                                        "1,2",
                                        ":",
                                        "#",
                                        "\n",
                                        "%s%n",
                                        "\xff\xfe"};
    const char *with = words[draw(sizeof words / sizeof *words)];
    const size_t from = draw(now.n);
    size_t at = from, end;
    while (at < now.n && !strchr("0123456789", now.bytes[at] ? now.bytes[at] : 'x'))
        at++;
    for (end = at; end < now.n && now.bytes[end] && strchr("+-.eE0123456789", now.bytes[end]);)
        end++;
    splice(at, end - at, with, strlen(with));
}

static void damage(void)
{
    const struct seed *other = &seeds[draw((size_t)nseeds)];
    const size_t at = draw(now.n), n = draw(now.n - at < 64 ? now.n - at : 64), a = draw(other->n);
    const uint8_t byte = (uint8_t)draw(256);
    switch (draw(8)) {
    case 0: /* change a byte */
        if (now.n)
            now.bytes[at] = draw(3) ? byte : (uint8_t)(draw(2) * 255);
        break;
    case 1: /* remove some bytes */
        splice(at, n, "", 0);
        break;
    case 2: /* bytes of another seed */
        splice(at, draw(2) ? n : 0, other->bytes + a, draw(other->n - a < 64 ? other->n - a : 64));
        break;
    case 3: /* truncate */
        now.n = draw(8) ? now.n : at;
        break;
    case 4:
        change_header();
        break;
    default:
        change_word();
    }
}

static void find_seeds(const struct reader *r)
{
    char pattern[256];
    nseeds = 0;
    if (r->read == read_segy)
        add_segy(!strcmp(r->name, "su"));
    if (r->seeds)
        add_seeds(r->seeds);
    snprintf(pattern, sizeof pattern, "%s/%s/*", getenv("SEEDS") ? getenv("SEEDS") : "/none",
             r->name);
    add_seeds(pattern);
}

/* For libFuzzer: SEEDS/READER/N.seed. */
static void write_seeds(const struct reader *r)
{
    puts(r->name);
    find_seeds(r);
    for (int i = 0; i < nseeds; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s/%d.seed", getenv("SEEDS"), r->name, i);
        file_make_folders(path);
        if (file_replace(path, seeds[i].bytes, seeds[i].n))
            exit(2);
    }
}

/* A reader that takes no seed would refuse all damaged ones for the same reason. */
static void fuzz(const struct reader *r, long rounds)
{
    int taken = 0;
    find_seeds(r);
    if (!nseeds) {
        printf("%-10s no seeds\n", r->name);
        return;
    }
    begin(r);
    for (int i = 0; i < nseeds; i++)
        taken += try(r, seeds[i].bytes, seeds[i].n);
    if (!taken) {
        end();
        printf("%-10s takes none of its %d seeds: %s\n", r->name, nseeds, status_message());
        exit(1);
    }
    for (long k = 0; k < rounds; k++) {
        now = seeds[draw((size_t)nseeds)];
        for (size_t n = 1 + draw(6); n > 0; n--)
            damage();
        try(r, now.bytes, now.n);
    }
    end();
    printf("%-10s %d of %d seeds taken, %ld damaged files: all answered\n", r->name, taken, nseeds,
           rounds);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const bool write = argc > 1 && !strcmp(argv[1], "seeds");
    const long rounds = argc > 1 ? atol(argv[1]) : 200;
    for (int i = 0; i < READERS; i++)
        if (write)
            write_seeds(&readers[i]);
        else if (argc < 3 || !strcmp(readers[i].name, argv[2]))
            fuzz(&readers[i], rounds);
    return 0;
}

#endif
