/* tests/test_kirchhoff_segy.c – trace files: every sample format in both byte orders, revisions 0
 * to 2, SU, headers at other places and with scalars, the writer's output, refusal of damaged
 * files. Files are built byte by byte from the standard, not by our writer. */
#include "kirchhoff/segy.h"
#include "kirchhoff/segy_internal.h"
#include "src/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

enum { NS = 5, TRACES = 3, ROOM = 1 << 20 };
static const float values[NS] = {0, 1, -3, 100, 118};

/* A file under construction. */
struct made {
    unsigned char byte[ROOM];
    size_t n;
    bool little;
    int format, texts, extra;
    long ns;
    char path[64];
};

static float from_ibm(uint32_t bits)
{
    unsigned char bytes[4];
    float x;
    segy_set(bytes, 1, 4, false, bits);
    segy_format_find(1)->decode(bytes, 1, false, &x);
    return x;
}

static void encode(const struct made *m, unsigned char *to, float x)
{
    const struct segy_format *f = segy_format_find(m->format);
    int64_t bits = x >= 0 ? (int64_t)(uint64_t)x : (int64_t)x;
    const double wide = x;
    uint32_t narrow;
    memcpy(&narrow, &x, sizeof narrow);
    if (m->format == 1)
        bits = segy_to_ibm(x);
    else if (m->format == 5)
        bits = narrow;
    else if (m->format == 6)
        memcpy(&bits, &wide, sizeof bits);
    segy_set(to, 1, f->bytes, m->little, bits);
}

static bool is_unsigned(int format)
{
    return format == 10 || format == 11 || format == 12 || format == 15 || format == 16;
}

/* Unsigned formats have a number with the first bit set in place of negative numbers. */
static float value(const struct made *m, long i)
{
    const float x = values[i % NS];
    const int bits = 8 * segy_format_find(m->format)->bytes;
    return is_unsigned(m->format) && x < 0 ? ldexpf(1, bits - 1) : x;
}

static void add_trace(struct made *m, int number)
{
    unsigned char *h = m->byte + m->n;
    memset(h, 0, SEGY_HEADER);
    segy_set(h, 29, 2, m->little, 1);
    segy_set(h, 71, 2, m->little, number % 2 ? -100 : 10);
    segy_set(h, 73, 4, m->little, number % 2 ? 123456 : 123);
    segy_set(h, 81, 4, m->little, 1000 * number);
    segy_set(h, 69, 2, m->little, -10);
    segy_set(h, 49, 4, m->little, 55);
    segy_set(h, 45, 4, m->little, -25);
    segy_set(h, 41, 4, m->little, 77);
    segy_set(h, 109, 2, m->little, 12);
    segy_set(h, 115, 2, m->little, m->ns < 65536 ? m->ns : 0);
    segy_set(h, 117, 2, m->little, 4000);
    m->n += SEGY_HEADER;
    memset(m->byte + m->n, 0, (size_t)m->extra * SEGY_HEADER);
    m->n += (size_t)m->extra * SEGY_HEADER;
    const int bytes = segy_format_find(m->format)->bytes;
    for (long i = 0; i < m->ns; i++, m->n += (size_t)bytes)
        encode(m, m->byte + m->n, value(m, i));
}

/* Builds a SEG-Y file of this revision; texts < 0: -texts text headers, announced as a variable
 * number. */
static void build(struct made *m, int revision)
{
    unsigned char *b = m->byte;
    memset(b, 0, SEGY_TEXT + SEGY_BINARY);
    segy_set(b, 3217, 2, m->little, 4000);
    segy_set(b, 3221, 2, m->little, m->ns < 32768 ? m->ns : 0);
    segy_set(b, 3225, 2, m->little, m->format);
    segy_set(b, 3501, 2, m->little, revision << 8);
    segy_set(b, 3503, 2, m->little, revision > 0);
    segy_set(b, 3505, 2, m->little, m->texts < 0 ? -1 : m->texts);
    if (revision == 2) {
        segy_set(b, 3501, 1, false, 2);
        segy_set(b, 3502, 1, false, 0);
        segy_set(b, 3269, 4, m->little, m->ns);
        segy_set(b, 3297, 4, m->little, 0x01020304);
        segy_set(b, 3507, 4, m->little, m->extra);
    }
    m->n = SEGY_TEXT + SEGY_BINARY;
    for (int t = 0; t < abs(m->texts); t++, m->n += SEGY_TEXT) {
        memset(b + m->n, ' ', SEGY_TEXT);
        if (m->texts < 0 && t == -m->texts - 1)
            memcpy(b + m->n, "((SEG: EndText))", 16);
    }
    for (int i = 0; i < TRACES; i++)
        add_trace(m, i);
}

static void build_su(struct made *m)
{
    m->n = 0;
    m->format = 5;
    for (int i = 0; i < TRACES; i++)
        add_trace(m, i);
}

static void store(struct made *m, const char *suffix)
{
    snprintf(m->path, sizeof m->path, "/tmp/test_kirchhoff_segy-%d%s", (int)getpid(), suffix);
    FILE *out = fopen(m->path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(m->byte, 1, m->n, out), m->n);
    assert_int_equal(fclose(out), 0);
}

static struct made *new_made(void)
{
    struct made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->format = 5;
    m->ns = NS;
    return m;
}

static void drop(struct made *m)
{
    unlink(m->path);
    free(m);
}

static const struct segy_options usual;

/* Everything that add_trace() wrote is read back. */
static void check_whole(struct made *m, const struct segy_options *o)
{
    struct segy *s;
    assert_int_equal(segy_open(m->path, o, &s), EK_OK);
    assert_int_equal(s->n, TRACES);
    assert_int_equal(s->ns, m->ns);
    assert_near(s->dt, 0.004, 1e-12);
    float *x = malloc((size_t)s->ns * sizeof *x);
    for (size_t i = 0; i < s->n; i++) {
        const struct segy_trace *t = &s->trace[i];
        assert_near(t->sx, i % 2 ? 1234.56 : 1230, 1e-9);
        assert_near(t->gx, i % 2 ? 10.0 * (double)i : 10000.0 * (double)i, 1e-9);
        assert_near(t->sz, 8, 1e-12);
        assert_near(t->gz, -7.7, 1e-12);
        assert_near(t->delay, 0.012, 1e-8);
        assert_int_equal(segy_read(s, i, x), EK_OK);
        for (long k = 0; k < s->ns; k++)
            assert_float_equal(x[k], value(m, k), 0);
    }
    free(x);
    segy_close(s);
}

static void formats_in_both_orders(void **state)
{
    static const int codes[] = {1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        for (int revision = 0; revision < 3; revision++)
            for (int little = 0; little < 2; little++) {
                struct made *m = new_made();
                m->format = codes[i];
                m->little = little;
                build(m, revision);
                store(m, ".segy");
                check_whole(m, &usual);
                drop(m);
            }
}

static void extended_texts_and_headers(void **state)
{
    for (int texts = -3; texts <= 2; texts++)
        for (int extra = 0; extra < 3; extra++) {
            struct made *m = new_made();
            m->texts = texts;
            m->extra = extra;
            build(m, extra ? 2 : 1);
            store(m, ".segy");
            check_whole(m, &usual);
            drop(m);
        }
}

/* Revision 2 has texts behind the traces, as many as bytes 3529-3532 say, or -1 for any number. The
 * reader must not take them for traces, even if they have a trace's length. */
static void texts_behind_traces(void **state)
{
    static const long ns[] = {NS, (SEGY_TEXT - SEGY_HEADER) / 4};
    for (int n = 0; n < 16; n++) {
        struct made *m = new_made();
        m->little = n & 1;
        m->ns = ns[n >> 1 & 1];
        m->texts = n >> 2 & 1;
        build(m, 2);
        segy_set(m->byte, 3529, 4, m->little, n & 8 ? -1 : 2);
        for (int t = 0; t < 2; t++, m->n += SEGY_TEXT) {
            memset(m->byte + m->n, ' ', SEGY_TEXT);
            memcpy(m->byte + m->n, "((SEG: Trailer))", 16);
        }
        store(m, ".segy");
        check_whole(m, &usual);
        drop(m);
    }
}

/* A revision 2 file that states where its traces begin is read to its last trace, however large it
 * is. */
static void traces_begin_where_is_said(void **state)
{
    enum { SIZE = SEGY_HEADER + 4 * NS, MANY = 50000 };
    for (int little = 0; little < 2; little++) {
        struct segy *s;
        struct made *m = new_made();
        m->little = little;
        build(m, 2);
        segy_set(m->byte, 3521, 8, little, SEGY_TEXT + SEGY_BINARY);
        store(m, ".segy");
        FILE *f = fopen(m->path, "r+b");
        assert_int_equal(fseek(f, SEGY_TEXT + SEGY_BINARY + (MANY - 2L) * SIZE, SEEK_SET), 0);
        assert_int_equal(fwrite(m->byte + m->n - 2 * SIZE, SIZE, 2, f), 2);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(segy_open(m->path, &usual, &s), EK_OK);
        assert_int_equal(s->trace[s->n - 1].number, MANY);
        segy_close(s);
        drop(m);
    }
}

static void many_samples(void **state)
{
    static const long ns[] = {32767, 32768, 40000, 65535, 70000};
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
        struct made *m = new_made();
        m->ns = ns[i];
        build(m, 2);
        store(m, ".segy");
        check_whole(m, &usual);
        drop(m);
    }
}

static void su_in_both_orders(void **state)
{
    for (int little = 0; little < 2; little++)
        for (int said = 0; said < 2; said++) {
            struct made *m = new_made();
            struct segy_options o = {.as = SEGY_AS_SU,
                                     .order = little ? SEGY_ORDER_LITTLE : SEGY_ORDER_BIG};
            m->little = little;
            build_su(m);
            store(m, said ? ".data" : ".su");
            check_whole(m, said ? &o : &usual);
            drop(m);
        }
}

static void words_elsewhere(void **state)
{
    struct made *m = new_made();
    struct segy_options o = {0};
    build(m, 1);
    for (int i = 0; i < TRACES; i++) { /* the source's x moves to byte 201 */
        unsigned char *h = m->byte + 3600 + (size_t)i * (SEGY_HEADER + 4 * NS);
        memcpy(h + 200, h + 72, 4);
        memset(h + 72, 0, 4);
    }
    store(m, ".segy");
    assert_int_equal(segy_options_parse("sx=201", NULL, &o), EK_OK);
    check_whole(m, &o);
    status_mute(1);
    assert_int_equal(segy_options_parse("sx=239", NULL, &o), EK_USAGE);
    assert_int_equal(segy_options_parse("sz=1", NULL, &o), EK_USAGE);
    assert_int_equal(segy_options_parse("as=segd", NULL, &o), EK_USAGE);
    status_mute(-1);
    drop(m);
}

static void ibm_numbers(void **state)
{
    static const struct {
        uint32_t bits;
        float x;
    } known[] = {{0, 0},
                 {0x42640000, 100},
                 {0xc276a000, -118.625f},
                 {0x41100000, 1},
                 {0x40800000, 0.5f},
                 {0x3f100000, 1 / 256.0f},
                 {0x46ffffff, 0xffffff}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_float_equal(from_ibm(known[i].bits), known[i].x, 0);
        assert_int_equal(segy_to_ibm(known[i].x), known[i].bits);
    }
    for (float x = 1e-30f; x < 1e30f; x *= -1.7f * (x < 0 ? 1 : 1.3f), x = x < 0 ? -x : x)
        assert_true(fabsf(from_ibm(segy_to_ibm(x)) / x - 1) < 1e-6);
    assert_true(isinf(from_ibm(0x7fffffff)));
}

static void written_and_read(void **state)
{
    static const struct {
        bool su;
        int format;
        long ns;
    } kind[] = {
        {false, 5, 700}, {false, 1, 700}, {false, 5, 40000}, {false, 5, 70000}, {true, 0, 700}};
    char path[64];
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        const struct segy_new file = {kind[k].su, false, kind[k].format,
                                      kind[k].ns, 0.002, {"a test"}};
        const struct segy_put t = {
            .sx = 1234.56, .sy = -2, .sz = 6, .gx = 3000, .gy = 7.25, .gz = 1};
        struct segy_writer *w;
        struct segy *s;
        float *x = malloc((size_t)kind[k].ns * sizeof *x),
              *y = malloc((size_t)kind[k].ns * sizeof *x);
        for (long i = 0; i < kind[k].ns; i++)
            x[i] = (float)i * 0.25f - 10;
        snprintf(path, sizeof path, "/tmp/test_kirchhoff_segy-%d%s", (int)getpid(),
                 kind[k].su ? ".su" : ".segy");
        assert_int_equal(segy_create(path, &file, &w), EK_OK);
        assert_int_equal(segy_put(w, &t, x), EK_OK);
        assert_int_equal(segy_put(w, &t, x), EK_OK);
        assert_int_equal(segy_finish(w), EK_OK);
        assert_int_equal(segy_open(path, &usual, &s), EK_OK);
        assert_int_equal(s->n, 2);
        assert_int_equal(s->ns, kind[k].ns);
        assert_near(s->dt, 0.002, 1e-12);
        assert_near(s->trace[1].sx, 1234.56, 1e-9);
        assert_near(s->trace[1].sz, 6, 1e-9);
        assert_near(s->trace[1].gz, 1, 1e-9);
        assert_int_equal(segy_read(s, 1, y), EK_OK);
        assert_memory_equal(x, y, (size_t)kind[k].ns * sizeof *x);
        segy_close(s);
        unlink(path);
        free(x);
        free(y);
    }
}

/* ---- damage -----------------------------------------------------------------------------------*/

/* Opening the file or reading some trace fails with a message that contains these words. */
static void refused(struct made *m, const char *words)
{
    struct segy *s = NULL;
    float *x = NULL;
    status_mute(1);
    enum ek_status st = segy_open(m->path, &usual, &s);
    if (!st)
        st = segy_check(s);
    if (!st)
        x = malloc((size_t)s->ns * sizeof *x);
    for (size_t i = 0; !st && i < s->n; i++)
        st = segy_read(s, i, x);
    status_mute(-1);
    assert_int_equal(st, EK_USAGE);
    if (!strstr(status_message(), words))
        fail_msg("'%s' is not in: %s", words, status_message());
    if (!strstr(status_message(), m->path))
        fail_msg("the file is not named: %s", status_message());
    segy_close(s);
    free(x);
}

static void damaged_words(void **state)
{
    enum { FIRST = SEGY_TEXT + SEGY_BINARY, SECOND = FIRST + SEGY_HEADER + 4 * NS };
    static const struct {
        int at, bytes;
        int64_t value;
        const char *words;
    } damage[] = {
        {3225, 2, 4, "fixed point with gain"},
        {3225, 2, 99, "sample format 99"},
        {SECOND + 89, 2, 2, "trace 2: coordinates are angles"},
        {SECOND + 117, 2, 2000, "trace 2 is sampled at 2 ms"},
        {SECOND + SEGY_HEADER + 5, 4, 0x7fc00000, "sample 2 of trace 2"},
        {SECOND + SEGY_HEADER + 1, 4, 0x7f800000, "sample 1 of trace 2"},
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        struct made *m = new_made();
        build(m, 1);
        segy_set(m->byte, 3503, 2, false, 0);
        segy_set(m->byte, 3221, 2, false, 0);
        segy_set(m->byte, damage[i].at, damage[i].bytes, false, damage[i].value);
        store(m, ".segy");
        refused(m, damage[i].words);
        drop(m);
    }
}

static void cut_anywhere(void **state)
{
    struct made *m = new_made();
    build(m, 1);
    const size_t whole = m->n, trace = SEGY_HEADER + 4 * NS;
    for (size_t n = 0; n < whole; n += n < 3600 ? 211 : 7) {
        m->n = n;
        if (n > 3600 && (n - 3600) % trace == 0)
            continue; /* a valid file with fewer traces */
        store(m, ".segy");
        refused(m, "");
    }
    drop(m);
}

static void dead_and_short_traces(void **state)
{
    struct made *m = new_made();
    struct segy *s;
    float x[NS];
    build(m, 0);
    segy_set(m->byte + 3600, 29, 2, false, 2);
    segy_set(m->byte + 3600 + 2 * (SEGY_HEADER + 4 * NS), 115, 2, false, 3);
    m->n -= 8;
    store(m, ".segy");
    assert_int_equal(segy_open(m->path, &usual, &s), EK_OK);
    assert_int_equal(s->dead, 1);
    assert_int_equal(s->n, 2);
    assert_int_equal(s->trace[0].number, 2);
    assert_int_equal(s->trace[1].ns, 3);
    assert_int_equal(segy_read(s, 1, x), EK_OK);
    assert_float_equal(x[2], values[2], 0);
    assert_float_equal(x[3], 0, 0);
    segy_close(s);
    drop(m);
}

/* ---- odd but readable ------------------------------------------------------------------------ */

static void check_odd(struct made *m, double dt, bool all_dead)
{
    struct segy *s;
    store(m, ".segy");
    if (dt == 0.004)
        check_whole(m, &usual);
    assert_int_equal(segy_open(m->path, &usual, &s), EK_OK);
    assert_int_equal(segy_check(s), EK_OK);
    assert_near(s->dt, dt, 1e-12);
    assert_int_equal(s->n, TRACES);
    assert_int_equal(s->raised, all_dead);
    segy_close(s);
    drop(m);
}

/* Headers that contradict one another, as found in public files. */
static void headers_against_one_another(void **state)
{
    enum { LONG = SEGY_HEADER + 4 * NS };
    for (int what = 0; what < 9; what++) {
        struct made *m = new_made();
        double dt = 0.004;
        m->texts = what == 0 ? 2 : what == 1 ? -2 : 0;
        m->extra = what == 4;
        build(m, what < 2 ? 0 : what == 4 ? 2 : 1);
        unsigned char *b = m->byte, *h = b + m->n - TRACES * (LONG + m->extra * SEGY_HEADER);
        if (what == 0 || what == 1) /* a number of texts in revision 0 */
            segy_set(b, 3505, 2, false, what ? -1 : 2);
        status_mute(1);
        for (int i = 0; i < TRACES; i++, h += LONG) {
            if (what == 2) /* traces give a wrong length, the binary header's fills the file */
                segy_set(h, 115, 2, false, 462);
            if (what == 5)
                segy_set(h, 117, 2, false, 2000);
            if (what == 6) /* all marked as dead */
                segy_set(h, 29, 2, false, 2);
        }
        if (what == 3) { /* the binary header is wrong */
            segy_set(b, 3221, 2, false, 7);
        } else if (what == 4) { /* revision 2.1: 16 bits, then the kind of survey */
            segy_set(b, 3502, 1, false, 1);
            segy_set(b, 3507, 2, false, 1);
            segy_set(b, 3509, 2, false, 258);
        } else if (what == 5) {
            dt = 0.002;
        } else if (what == 7) { /* revision 1 stored as a plain number */
            segy_set(b, 3501, 2, false, 1);
        } else if (what == 8) {
            segy_set(b, 3501, 2, false, 0x2425);
            segy_set(b, 3221, 2, false, NS);
        }
        check_odd(m, dt, what == 6);
        status_mute(-1);
    }
}

static void what_is_set_beats_headers(void **state)
{
    struct made *m = new_made();
    struct segy_options o = {0};
    struct segy *s;
    build(m, 0);
    for (int i = 0; i < TRACES; i++) /* no interval, no length */
        memset(m->byte + 3600 + i * (SEGY_HEADER + 4 * NS) + 114, 0, 4);
    segy_set(m->byte, 3217, 2, false, 0);
    segy_set(m->byte, 3221, 2, false, 0);
    store(m, ".segy");
    assert_int_equal(segy_options_parse(NULL, "ns=5,dt=2000,delrt=-8", &o), EK_OK);
    assert_int_equal(segy_open(m->path, &o, &s), EK_OK);
    assert_int_equal(segy_check(s), EK_OK);
    assert_int_equal(s->n, TRACES);
    assert_near(s->dt, 0.002, 1e-12);
    assert_near(s->trace[1].delay, -0.008, 1e-9);
    segy_close(s);
    assert_int_equal(segy_options_parse("as=segy,order=big", NULL, &o), EK_OK);
    assert_int_equal(o.as, SEGY_AS_SEGY);
    assert_int_equal(o.order, SEGY_ORDER_BIG);
    drop(m);
}

/* Lengths in feet, by the binary header or by option; coordinates from a table in any order. */
static void feet_and_tables(void **state)
{
    const struct segy_new file = {.ns = 3, .dt = 0.004};
    const char *const table = "gy,trace,sy,sx,gx,gz\n5,2,6,7,8,-9\n1,1,2,3.25,4,5\n0,77,0,0,0,0\n";
    char path[80], places[96];
    struct segy_writer *w;
    struct segy *s;
    struct segy_options o = {0};
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_segy-%d-feet.segy", (int)getpid());
    snprintf(places, sizeof places, "%s.csv", path);
    assert_int_equal(segy_create(path, &file, &w), EK_OK);
    for (int i = 0; i < 2; i++) {
        const struct segy_put put = {
            .sx = 1000, .sz = 10, .gx = -500 * i, .offset = 1000 + 500 * i};
        assert_int_equal(segy_put(w, &put, (float[]){1, 2, 3}), EK_OK);
    }
    assert_int_equal(segy_finish(w), EK_OK);
    for (int feet = 0; feet < 2; feet++)
        for (int said = 0; said < 3; said++) {
            FILE *f = fopen(path, "r+b");
            fseek(f, 3255, SEEK_SET);
            fputc(1 + feet, f);
            fclose(f);
            o.unit = said;
            status_mute(1);
            assert_int_equal(segy_open(path, &o, &s), EK_OK);
            status_mute(-1);
            const double unit = said == 2 || (said == 0 && feet) ? 0.3048 : 1;
            assert_near(s->trace[1].sx, 1000 * unit, 1e-9);
            assert_near(s->trace[1].gx, -500 * unit, 1e-9);
            assert_near(s->trace[1].sz, 10 * unit, 1e-9);
            assert_int_equal(s->odd_offset, 0);
            segy_close(s);
        }
    o = (struct segy_options){.geometry = places, .unit = SEGY_UNIT_METRES};
    assert_int_equal(file_replace_text(places, table), EK_OK);
    assert_int_equal(segy_open(path, &o, &s), EK_OK);
    assert_near(s->trace[0].sx, 3.25, 0);
    assert_near(s->trace[0].gz, 5, 0);
    assert_near(s->trace[1].gy, 5, 0);
    assert_near(s->trace[1].sz, 10, 0); /* not in the table */
    segy_close(s);
    static const char *const bad[] = {"trace,sx,sy,gx,gy\n1,0,0,0,0\n", "trace,sx,sy,gx\n1,0,0,0\n",
                                      "trace,sx,sy,gx,gy\n1,0,0,0,0\n2,0,0,0,0\n1,0,0,0,0\n",
                                      "trace,sx,sy,gx,gy\n1,0,0,0,x\n2,0,0,0,0\n"};
    for (int i = 0; i < 4; i++) {
        unlink(places);
        assert_int_equal(file_replace_text(places, bad[i]), EK_OK);
        status_mute(1);
        assert_int_equal(segy_open(path, &o, &s), EK_USAGE);
        status_mute(-1);
    }
    unlink(path);
    unlink(places);
}

/* Writes a file of one trace of zeros, whose beginning goes to head [size], and names it. */
static const char *write_one(const struct segy_new *file, const struct segy_put *t, void *head,
                             size_t size)
{
    static char path[64];
    const float x[64] = {0};
    struct segy_writer *w;
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_segy-%d.%s", (int)getpid(),
             file->su ? "su" : "segy");
    assert_int_equal(segy_create(path, file, &w), EK_OK);
    assert_int_equal(segy_put(w, t, x), EK_OK);
    assert_int_equal(segy_finish(w), EK_OK);
    FILE *in = fopen(path, "rb");
    assert_int_equal(fread(head, 1, size, in), size);
    fclose(in);
    return path;
}

static void images_keep_depths(void **state)
{
    static const struct {
        double dz, z0;
        long ns;
    } kind[] = {{32.77, 0, 31}, {40, 12.5, 33}, {65.5, 7, 3}, {100, 1234.25, 9}, {10, 33.333, 5}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        unsigned char head[SEGY_TEXT + SEGY_BINARY];
        const struct segy_new file = {.ns = kind[k].ns, .dt = 1e-3 * kind[k].dz};
        const struct segy_put t = {.delay = 1e-3 * kind[k].z0};
        const char *path = write_one(&file, &t, head, sizeof head);
        struct segy *s;
        assert_int_equal(segy_i16(head, 3221, false), kind[k].ns);
        assert_int_equal(segy_open(path, &usual, &s), EK_OK);
        assert_near(s->dt, 1e-3 * kind[k].dz, 1e-12);
        assert_near((double)s->trace[0].delay, 1e-3 * kind[k].z0,
                    1e-3 * fmax(4e-3, kind[k].z0 / 6000));
        segy_close(s);
        unlink(path);
    }
}

/* SU has whole milliseconds alone, and 65,535 us at most: depths are in d1 and f1. */
static void su_images_keep_depths(void **state)
{
    unsigned char head[SEGY_HEADER];
    float d1, f1;
    const struct segy_new file = {.su = true, .depth = true, .ns = 3, .dt = 0.1};
    const struct segy_put t = {.delay = 0.1125};
    unlink(write_one(&file, &t, head, sizeof head));
    memcpy(&d1, head + 180, sizeof d1);
    memcpy(&f1, head + 184, sizeof f1);
    assert_true(d1 == 100 && f1 == 112.5F);
}

static void full_disk(void **state)
{
    const struct segy_new file = {.ns = 4, .dt = 0.004};
    struct segy_writer *w;
    status_mute(1);
    assert_int_equal(segy_create("/proc/none/x.segy", &file, &w), EK_UNAVAILABLE);
    const struct segy_new huge = {.su = true, .ns = 70000, .dt = 0.004};
    assert_int_equal(segy_create("/tmp/x.su", &huge, &w), EK_USAGE);
    status_mute(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_in_both_orders),
        cmocka_unit_test(extended_texts_and_headers),
        cmocka_unit_test(texts_behind_traces),
        cmocka_unit_test(traces_begin_where_is_said),
        cmocka_unit_test(many_samples),
        cmocka_unit_test(su_in_both_orders),
        cmocka_unit_test(words_elsewhere),
        cmocka_unit_test(ibm_numbers),
        cmocka_unit_test(written_and_read),
        cmocka_unit_test(damaged_words),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(dead_and_short_traces),
        cmocka_unit_test(headers_against_one_another),
        cmocka_unit_test(what_is_set_beats_headers),
        cmocka_unit_test(feet_and_tables),
        cmocka_unit_test(images_keep_depths),
        cmocka_unit_test(su_images_keep_depths),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
