/* kirchhoff/write_segy.c – writes SEG-Y and SU files; an existing file is replaced only once the
 * new one is complete. */
#include "kirchhoff/segy_internal.h"
#include "src/file.h"

enum { SCALAR = -100, LINE = 80, LINES = 40, LONG_TRACE = 32767, LONG_INTERVAL = 32767 };

struct segy_writer {
    struct segy_new file;
    char *path;
    struct file *out;
    bool little;
    long written;         /* traces so far */
    unsigned char *trace; /* header and samples */
};

/* ---- file header ------------------------------------------------------------------------------*/

static bool is_rev2(const struct segy_new *file)
{
    return file->ns > LONG_TRACE || 1e6 * file->dt >= LONG_INTERVAL;
}

/* The text header: forty lines of eighty characters, "C 1 …", in ASCII, which all programs read
 * today. */
static void fill_text(const struct segy_new *file, char *text)
{
    const char *standard = is_rev2(file) ? "C39 SEG-Y REV2.0" : "C39 SEG Y REV1";
    memset(text, ' ', SEGY_TEXT);
    for (int i = 0, given = 1; i < LINES; i++) {
        char line[LINE + 1];
        given = given && i < 8 && file->text[i];
        snprintf(line, sizeof line, "C%2d %.76s", i + 1, given ? file->text[i] : "");
        memcpy(text + i * LINE, line, strlen(line));
    }
    memcpy(text + 38 * LINE, standard, strlen(standard));
    memcpy(text + 39 * LINE, "C40 END TEXTUAL HEADER", 22);
}

static void fill_binary(const struct segy_new *file, unsigned char *binary)
{
    const double us = 1e6 * file->dt;
    const bool rev2 = is_rev2(file);
    const int shift = SEGY_TEXT;
    int64_t bits;
    memcpy(&bits, &us, sizeof bits);
    segy_set(binary, 3217 - shift, 2, false, us < 65536 ? lrint(us) : 0);
    segy_set(binary, 3221 - shift, 2, false, file->ns < 65536 ? file->ns : 0);
    segy_set(binary, 3225 - shift, 2, false, file->format);
    segy_set(binary, 3255 - shift, 2, false, 1); /* metres */
    segy_set(binary, 3501 - shift, 1, false, rev2 ? 2 : 1);
    segy_set(binary, 3503 - shift, 2, false, 1); /* all traces have the same length */
    if (!rev2)
        return;
    segy_set(binary, 3269 - shift, 4, false, file->ns);
    segy_set(binary, 3273 - shift, 8, false, bits);
    segy_set(binary, 3297 - shift, 4, false, 0x01020304);
}

static enum ek_status write_head(struct segy_writer *w)
{
    char text[SEGY_TEXT];
    unsigned char binary[SEGY_BINARY] = {0};
    if (w->file.su)
        return EK_OK;
    fill_text(&w->file, text);
    fill_binary(&w->file, binary);
    TRY(file_write(w->out, text, sizeof text));
    return file_write(w->out, binary, sizeof binary);
}

/* ---- traces -----------------------------------------------------------------------------------*/

static enum ek_status set_length(struct segy_writer *w, int at, double metres)
{
    const double stored = nearbyint(metres * -SCALAR);
    if (!(fabs(stored) < 2147483648.0))
        FAIL(EK_USAGE, "%s: trace %ld: %g m does not fit byte %d of a trace header", w->path,
             w->written + 1, metres, at);
    segy_set(w->trace, at, 4, w->little, (int64_t)stored);
    return EK_OK;
}

static enum ek_status set_lengths(struct segy_writer *w, const struct segy_put *t)
{
    const struct {
        int at;
        double metres;
    } lengths[] = {{41, -t->gz}, {49, t->sz}, {73, t->sx},    {77, t->sy},
                   {81, t->gx},  {85, t->gy}, {181, t->cdpx}, {185, t->cdpy}};
    const int n = w->file.su ? 6 : 8; /* SU has other words from byte 181 on */
    for (int i = 0; i < n; i++)
        TRY(set_length(w, lengths[i].at, lengths[i].metres));
    return EK_OK;
}

/* Scalar for bytes 215-216: the least power of ten up to 1000 that makes the delay a whole number,
 * as long as it fits 16 bits; SU has no such field. */
static int delay_scalar(const struct segy_writer *w, double ms)
{
    int scalar = 1;
    while (!w->file.su && scalar < 1000 && fabs(ms * scalar - rint(ms * scalar)) > 1e-3 &&
           fabs(10 * ms * scalar) < 32767)
        scalar *= 10;
    return scalar;
}

static void set_words(struct segy_writer *w, const struct segy_put *t)
{
    const int scalar = delay_scalar(w, 1e3 * t->delay);
    const struct {
        int at, bytes;
        int64_t value;
    } word[] = {
        {1, 4, w->written + 1},
        {5, 4, w->written + 1},
        {9, 4, t->shot},
        {13, 4, t->channel},
        {21, 4, t->cdp},
        {29, 2, 1},
        {37, 4, lrint(t->offset)},
        {69, 2, SCALAR},
        {71, 2, SCALAR},
        {89, 2, 1},
        {109, 2, lrint(fmax(fmin(1e3 * t->delay * scalar, 32767), -32768))},
        {115, 2, w->file.ns < 65536 ? w->file.ns : 0},
        {117, 2, w->file.dt < 0.065536 ? lrint(1e6 * w->file.dt) : 0},
        {189, 4, t->iline},
        {193, 4, t->xline},
        {215, 2, scalar > 1 ? -scalar : 0},
    };
    const int n = (int)(sizeof word / sizeof *word) - (w->file.su ? 3 : 0);
    for (int i = 0; i < n; i++)
        segy_set(w->trace, word[i].at, word[i].bytes, w->little, word[i].value);
}

static void set_number(struct segy_writer *w, int at, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (w->file.format == 1)
        bits = segy_to_ibm(x);
    segy_set(w->trace, at, 4, w->little, bits);
}

enum ek_status segy_put(struct segy_writer *w, const struct segy_put *trace, const float *sample)
{
    memset(w->trace, 0, SEGY_HEADER);
    set_words(w, trace);
    TRY(set_lengths(w, trace));
    if (w->file.su && w->file.depth) { /* d1, f1: dt and delrt may not hold them */
        set_number(w, 181, (float)(1e3 * w->file.dt));
        set_number(w, 185, (float)(1e3 * trace->delay));
    }
    for (long i = 0; i < w->file.ns; i++)
        set_number(w, (int)(SEGY_HEADER + 4 * i + 1), sample[i]);
    TRY(file_write(w->out, w->trace, SEGY_HEADER + 4 * (size_t)w->file.ns));
    w->written++;
    return EK_OK;
}

/* ---- opening and closing ----------------------------------------------------------------------*/

static void close_writer(struct segy_writer *w)
{
    free(w->trace);
    free(w->path);
    free(w);
}

enum ek_status segy_create(const char *path, const struct segy_new *file, struct segy_writer **out)
{
    const bool su = file->su || file_ends_in(path, ".su");
    if (file->ns < 1 || file->ns > (su ? 65535 : 1 << 24))
        FAIL(EK_USAGE, "%s: %ld samples do not fit a trace header%s", path, file->ns,
             su ? " of SU; write SEG-Y" : "");
    NEW(struct segy_writer, w, 1, "%s: out of memory", path);
    w->file = *file;
    w->file.su = su;
    w->file.format = su || !file->format ? 5 : file->format;
    w->little = su && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    w->path = strdup(path);
    w->trace = malloc(SEGY_HEADER + 4 * (size_t)file->ns);
    enum ek_status st = w->path && w->trace
                            ? file_create(path, &w->out)
                            : status_fail(EK_UNAVAILABLE, "%s: out of memory", path);
    THEN(st, write_head(w));
    return HAND_OUT(st, w, out, segy_abandon);
}

enum ek_status segy_finish(struct segy_writer *w)
{
    const enum ek_status st = file_finish(w->out);
    close_writer(w);
    return st;
}

void segy_abandon(struct segy_writer *w)
{
    if (!w)
        return;
    file_abandon(w->out);
    close_writer(w);
}
