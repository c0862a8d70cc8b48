/* kirchhoff/read_segy.c – scans a file of traces into an index, and reads samples. */
#include "kirchhoff/segy_internal.h"
#include "src/checksum.h"
#include "src/file.h"
#include "src/opt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

enum { MOST_SAMPLES = 1 << 24 };

#define AT(member) offsetof(struct segy_options, member)
#define BYTE(name, bytes)                                                                          \
    {                                                                                              \
#name, OPT_INT, AT(name), "BYTE", "where it stands in a trace header",                     \
            .min = 1, .max = SEGY_HEADER + 1 - (bytes)                                             \
    }
static const char *const as_names[] = {"auto", "segy", "su", NULL};
static const char *const order_names[] = {"auto", "big", "little", NULL};
static const char *const unit_names[] = {"auto", "m", "feet", NULL};
static const struct opt words[] = {
    BYTE(sx, 4),
    BYTE(sy, 4),
    BYTE(gx, 4),
    BYTE(gy, 4),
    BYTE(scalco, 2),
    BYTE(scalel, 2),
    BYTE(sdepth, 4),
    BYTE(selev, 4),
    BYTE(gelev, 4),
    {"as", OPT_NAME, AT(as), "segy|su", "what the file is", .names = as_names},
    {"order", OPT_NAME, AT(order), "big|little", "order of bytes", .names = order_names},
    {"unit", OPT_NAME, AT(unit), "m|feet", "of lengths", .names = unit_names},
    OPT_END,
};

enum ek_status segy_options_parse(const char *list, const char *set, struct segy_options *o)
{
    static const struct opt sets[] = {
        {"ns", OPT_INT, AT(set.ns), "N", "samples of every trace", .min = 1, .max = MOST_SAMPLES},
        {"dt", OPT_REAL, AT(set.dt), "US", "interval", .min = 1e-3, .max = 1e9},
        {"delrt", OPT_REAL, AT(set.delrt), "MS", "time of the first sample", .min = -1e6,
         .max = 1e6},
        OPT_END,
    };
    o->set.delrt = NAN;
    TRY(opt_parse_list(words, o, "traces", list ? list : ""));
    TRY(opt_parse_list(sets, o, "--set", set ? set : ""));
    o->set.delayed = !isnan(o->set.delrt);
    return EK_OK;
}

/* Fills in the standard's places of header words that are not given. */
static struct segy_options places(const struct segy_options *given)
{
    static const struct segy_options standard = {.sx = 73,
                                                 .sy = 77,
                                                 .gx = 81,
                                                 .gy = 85,
                                                 .scalco = 71,
                                                 .scalel = 69,
                                                 .sdepth = 49,
                                                 .selev = 45,
                                                 .gelev = 41};
    struct segy_options o = *given;
    for (const struct opt *w = words; w->type == OPT_INT; w++) {
        int *at = (int *)((char *)&o + w->offset);
        if (!*at)
            *at = *(const int *)((const char *)&standard + w->offset);
    }
    return o;
}

/* ---- one header -------------------------------------------------------------------------------*/

struct scan {
    struct segy *s;
    struct segy_options at;
    unsigned char header[SEGY_HEADER];
    off_t here; /* offset of the header in the file */
    long number;
    size_t room;
    bool all;        /* take traces marked as dead, too */
    double interval; /* of the first trace that has one, s */
};

static double coordinate(const struct scan *c, int at, int scalar)
{
    const struct segy_layout *l = &c->s->layout;
    return l->unit * segy_scaled(segy_i32(c->header, at, l->little), scalar);
}

/* Whether the trace is dead, dummy, time break, uphole, sweep, timing, water break, or a near-field
 * or far-field gun signature: nothing to image. */
static bool is_dead(const struct scan *c)
{
    const int id = segy_i16(c->header, 29, c->s->layout.little);
    return id >= 2 && id <= 10;
}

static long samples_of(const struct scan *c)
{
    const struct segy_layout *l = &c->s->layout;
    if (c->at.set.ns)
        return c->at.set.ns;
    const long own = segy_i16(c->header, 115, l->little) & 0xffff;
    return l->ns && (l->fixed || !own || l->ns > 0xffff) ? l->ns : own;
}

static double interval_of(const struct scan *c)
{
    return 1e-6 * (segy_i16(c->header, 117, c->s->layout.little) & 0xffff);
}

/* Number of the trace's further headers: bytes 157-158 of revision 2's extension 1, unless 0 or
 * more than the binary header says. */
static enum ek_status further_headers(const struct scan *c, long *extra)
{
    unsigned char word[2];
    *extra = c->s->layout.extra;
    if (!*extra)
        return EK_OK;
    TRY(segy_pread(c->s->file, c->s->path, word, 2, c->here + SEGY_HEADER + 156,
                   "a further trace header"));
    const long own = (long)segy_unsigned(word, 2, c->s->layout.little);
    if (own && own < *extra)
        *extra = own;
    return EK_OK;
}

/* Notes why the file cannot be migrated; the first reason is kept. */
static void set_unusable(struct segy *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!*s->unusable)
        vsnprintf(s->unusable, sizeof s->unusable, fmt, ap);
    va_end(ap);
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-3 * b + 0.6e-6;
}

static void check_header(struct scan *c)
{
    const double dt = interval_of(c);
    const int unit = segy_i16(c->header, 89, c->s->layout.little);
    if (unit > 1 && unit < 5 && !c->at.geometry)
        set_unusable(
            c->s,
            "trace %ld: coordinates are angles (bytes 89-90 are %d); project them to metres first",
            c->number, unit);
    if (!(c->interval > 0))
        c->interval = dt;
    if (dt > 0 && !close_to(dt, c->interval) && !(c->at.set.dt > 0))
        set_unusable(
            c->s, "trace %ld is sampled at %g ms, those before it at %g ms; --set dt=… settles it",
            c->number, 1e3 * dt, 1e3 * c->interval);
}

/* The file's interval, unless the traces say another one that differs by more than rounding. */
static void settle_interval(struct segy *s, const struct scan *c)
{
    const double file = s->layout.dt;
    if (c->at.set.dt > 0)
        s->dt = 1e-6 * c->at.set.dt;
    else if (*s->unusable || !(c->interval > 0) || (file > 0 && close_to(c->interval, file)))
        s->dt = file > 0 ? file : c->interval;
    else
        s->dt = c->interval;
    if (!(s->dt > 0))
        set_unusable(
            s, "no sample interval, neither in bytes 3217-3218 nor in bytes 117-118 of trace 1; "
               "--set dt=…");
}

/* Counts offset words and those that contradict the positions; they may be in whole units or scaled
 * like coordinates. */
static void note_offset(struct scan *c, const struct segy_trace *t, int scalar)
{
    const double said =
        c->s->layout.unit * fabs((double)segy_i32(c->header, 37, c->s->layout.little));
    const double is = segy_offset(t), near = 1 + 0.01 * is;
    c->s->offsets += said > 0;
    c->s->odd_offset +=
        said > 0 && fabs(said - is) > near && fabs(segy_scaled(said, scalar) - is) > near;
}

static void read_header(struct scan *c, struct segy_trace *t)
{
    const bool little = c->s->layout.little;
    const int scalco = segy_i16(c->header, c->at.scalco, little);
    const int scalel = segy_i16(c->header, c->at.scalel, little);
    const int scalar = c->s->layout.revision > 0 ? segy_i16(c->header, 215, little) : 0;
    t->sx = coordinate(c, c->at.sx, scalco);
    t->sy = coordinate(c, c->at.sy, scalco);
    t->gx = coordinate(c, c->at.gx, scalco);
    t->gy = coordinate(c, c->at.gy, scalco);
    t->sz = coordinate(c, c->at.sdepth, scalel) - coordinate(c, c->at.selev, scalel);
    t->gz = 0 - coordinate(c, c->at.gelev, scalel);
    t->delay =
        (float)(1e-3 * (c->at.set.delayed ? c->at.set.delrt
                                          : segy_scaled(segy_i16(c->header, 109, little), scalar)));
    t->record = segy_i32(c->header, 9, little);
    t->number = c->number;
    t->shot = 0;
    note_offset(c, t, scalco);
}

/* ---- the scan ---------------------------------------------------------------------------------*/

static enum ek_status add_trace(struct scan *c, off_t at, long ns)
{
    struct segy *s = c->s;
    TRY(arena_grow(&s->trace, &c->room, s->n, sizeof *s->trace, "traces of an index"));
    struct segy_trace *t = &s->trace[s->n++];
    read_header(c, t);
    t->at = at;
    t->ns = (uint32_t)ns;
    s->ns = ns > s->ns ? ns : s->ns;
    return EK_OK;
}

static enum ek_status scan_trace(struct scan *c)
{
    struct segy *s = c->s;
    char what[64];
    long extra;
    c->number++;
    snprintf(what, sizeof what, "the header of trace %ld", c->number);
    TRY(segy_pread(s->file, s->path, c->header, SEGY_HEADER, c->here, what));
    TRY(further_headers(c, &extra));
    const long ns = samples_of(c);
    if (ns < 1 || ns > MOST_SAMPLES)
        FAIL(EK_USAGE, "%s: trace %ld has %ld samples; bytes 115-116 make no sense", s->path,
             c->number, ns);
    const off_t samples = c->here + SEGY_HEADER * (1 + extra);
    const off_t end = samples + (off_t)ns * segy_format_find(s->layout.format)->bytes;
    if (end > s->layout.size)
        FAIL(EK_USAGE, "%s: trace %ld is cut off: %lld bytes of the file's %lld are missing",
             s->path, c->number, (long long)(end - s->layout.size), (long long)s->layout.size);
    if (is_dead(c) && !c->all)
        s->dead++;
    else {
        check_header(c);
        TRY(add_trace(c, samples, ns));
    }
    c->here = end;
    return EK_OK;
}

/* Scans all traces with the layout in s. */
static enum ek_status scan_as(struct segy *s, const struct segy_options *o, bool all)
{
    struct scan c = {.s = s, .at = places(o), .here = s->layout.first, .all = all};
    free(s->trace);
    s->trace = NULL;
    s->n = 0;
    s->ns = s->dead = s->offsets = s->odd_offset = 0;
    s->unusable[0] = '\0';
    s->raised = false;
    while (c.here < s->layout.size)
        TRY(scan_trace(&c));
    if (!s->n && s->dead) { /* the identification means something else here */
        TRY(scan_as(s, o, true));
        s->raised = true;
        return EK_OK;
    }
    if (!s->n)
        FAIL(EK_USAGE, "%s: no traces", s->path);
    settle_interval(s, &c);
    return EK_OK;
}

/* Whether traces of ns samples fill the file exactly. */
static bool fills(const struct segy_layout *l, long ns)
{
    const off_t trace =
        SEGY_HEADER * (1 + l->extra) + (off_t)ns * segy_format_find(l->format)->bytes;
    return ns > 0 && (l->size - l->first) % trace == 0 && l->size > l->first;
}

static enum ek_status scan(struct segy *s, const struct segy_options *o)
{
    unsigned char header[SEGY_HEADER];
    TRY(segy_layout_find(s->file, s->path, o, &s->layout));
    const struct segy_layout found = s->layout;
    status_mute(1);
    enum ek_status st = scan_as(s, o, false);
    if (st == EK_USAGE &&
        !segy_pread(s->file, s->path, header, SEGY_HEADER, found.first, "trace 1")) {
        const long ns[] = {found.ns, segy_i16(header, 115, found.little) & 0xffff};
        for (int i = 0; i < 2 && st == EK_USAGE; i++)
            if (fills(&found, ns[i])) {
                s->layout.ns = ns[i];
                s->layout.fixed = true;
                st = scan_as(s, o, false);
            }
    }
    status_mute(-1);
    if (st) { /* again, for the error message */
        s->layout = found;
        return scan_as(s, o, false);
    }
    if (found.dt > 0 && s->dt > 0 && !close_to(s->dt, found.dt))
        status_warn("%s: traces are sampled every %g ms, bytes 3217-3218 say %g ms", s->path,
                    1e3 * s->dt, 1e3 * found.dt);
    if (s->raised)
        status_warn(
            "%s: bytes 29-30 call all traces dead or auxiliary; they are taken for live ones",
            s->path);
    if (found.unit < 1 && !o->unit)
        status_warn("%s: its lengths are feet (bytes 3255-3256), a foot is taken for 0.3048 m; "
                    "--words unit=m if they are metres",
                    s->path);
    return o->geometry ? segy_take_geometry(s, o->geometry) : EK_OK;
}

enum ek_status segy_open(const char *path, const struct segy_options *o, struct segy **s)
{
    struct segy *made = calloc(1, sizeof *made);
    if (!made || !(made->path = strdup(path))) {
        free(made);
        FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
    }
    /* a pipe that nobody writes to is refused at once */
    made->file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    enum ek_status st = made->file < 0 ? file_not_opened(path, errno) : scan(made, o);
    if (!st && !(made->sum = calloc(made->n, sizeof *made->sum)))
        st = status_fail(EK_UNAVAILABLE, "%s: out of memory for %zu traces", path, made->n);
    return HAND_OUT(st, made, s, segy_close);
}

void segy_close(struct segy *s)
{
    if (!s)
        return;
    if (s->file >= 0)
        close(s->file);
    free(s->trace);
    free(s->sum);
    free((char *)s->path);
    free(s);
}

enum ek_status segy_check(const struct segy *s)
{
    if (*s->unusable)
        FAIL(EK_USAGE, "%s: %s", s->path, s->unusable);
    return EK_OK;
}

/* ---- samples ----------------------------------------------------------------------------------*/

static enum ek_status check_finite(const struct segy *s, const struct segy_trace *t, const float *x)
{
    for (uint32_t i = 0; i < t->ns; i++)
        if (!isfinite(x[i]))
            FAIL(EK_USAGE,
                 "%s: sample %u of trace %ld is no finite number; repair or kill the trace",
                 s->path, i + 1, t->number);
    return EK_OK;
}

/* Checksum of trace i's samples. It includes i, so that swapping two traces is noticed. */
static uint64_t sum_of(size_t i, const float *x, size_t n)
{
    const uint64_t number = i;
    struct checksum c;
    checksum_begin(&c, "samples");
    checksum_add(&c, &number, sizeof number);
    checksum_add(&c, x, n * sizeof *x);
    return checksum_end(&c);
}

enum ek_status segy_read(const struct segy *s, size_t i, float *out)
{
    const struct segy_trace *t = &s->trace[i];
    const struct segy_format *format = segy_format_find(s->layout.format);
    const size_t bytes = (size_t)t->ns * (size_t)format->bytes;
    char what[64];
    OWNED_MEMORY unsigned char *raw = malloc(bytes);
    if (!raw)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for trace %ld", s->path, t->number);
    snprintf(what, sizeof what, "trace %ld", t->number);
    TRY(segy_pread(s->file, s->path, raw, bytes, t->at, what));
    format->decode(raw, t->ns, s->layout.little, out);
    memset(out + t->ns, 0, ((size_t)s->ns - t->ns) * sizeof *out);
    TRY(check_finite(s, t, out));
    s->sum[i] = sum_of(i, out, t->ns);
    return EK_OK;
}
