/* kirchhoff/read_segy_layout.c – finds out whether a file is SEG-Y or SU, its revision and its byte
 * order. */
#include "kirchhoff/segy_internal.h"
#include "src/file.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ENDIAN_CONSTANT = 0x01020304,
    PAIRS_SWAPPED = 0x02010403,
    MANY_TEXTS = 10000,
    MANY_HEADERS = 1000
};

enum ek_status segy_pread(int file, const char *path, void *to, size_t bytes, off_t at,
                          const char *what)
{
    char *p = to;
    while (bytes) {
        const ssize_t got = pread(file, p, bytes, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            FAIL(EK_UNAVAILABLE, "%s: %s cannot be read: %s", path, what, strerror(errno));
        if (got == 0)
            FAIL(EK_USAGE, "%s: the file ends inside %s; it was cut off, get a whole one", path,
                 what);
        p += got;
        at += got;
        bytes -= (size_t)got;
    }
    return EK_OK;
}

static const double FOOT = 0.3048; /* m */

/* A word of the binary header; `at`: its byte in the file, counted from 1 as in the standard. */
static int64_t word(const unsigned char *binary, int at, int bytes, bool little)
{
    return segy_signed(binary + at - SEGY_TEXT - 1, bytes, little);
}

/* ---- SEG-Y ------------------------------------------------------------------------------------*/

static bool plausible_binary(const unsigned char *b, bool little)
{
    return segy_format_find((int)word(b, 3225, 2, little)) && word(b, 3217, 2, little) >= 0;
}

static enum ek_status find_order(const char *path, const unsigned char *b,
                                 const struct segy_options *o, bool *little)
{
    const int64_t constant = word(b, 3297, 4, false);
    *little = constant == (int64_t)__builtin_bswap32(ENDIAN_CONSTANT);
    if (o->order) {
        *little = o->order == SEGY_ORDER_LITTLE;
        return EK_OK;
    }
    if (constant == PAIRS_SWAPPED)
        FAIL(EK_USAGE, "%s: bytes are swapped in pairs; undo that first (dd conv=swab)", path);
    if (constant == ENDIAN_CONSTANT || *little)
        return EK_OK;
    *little = !plausible_binary(b, false) && plausible_binary(b, true);
    return EK_OK;
}

/* Whether the text contains ((SEG: EndText)) in ASCII, ignoring blanks and case. */
static bool ends_texts(const unsigned char *text)
{
    static const char mark[] = "((seg:endtext))";
    size_t found = 0;
    for (int i = 0; i < SEGY_TEXT && mark[found]; i++) {
        const int c = tolower(text[i]);
        if (c == ' ')
            continue;
        found = c == mark[found] ? found + 1 : c == '(' ? (found == 2 ? 2 : 1) : 0;
    }
    return !mark[found];
}

/* Skips `count` extended text headers of 3200 bytes each, or if that is negative, all up to the one
 * with the end mark in ASCII or EBCDIC. */
static enum ek_status skip_texts(int file, const char *path, long count, off_t *at)
{
    static const unsigned char ebcdic[] =
        "\x4d\x4d\xe2\xc5\xc7\x7a\x40\xc5\x95\x84\xe3\x85\xa7\xa3\x5d\x5d";
    unsigned char text[SEGY_TEXT];
    if (count >= 0) {
        *at += (off_t)count * SEGY_TEXT;
        return EK_OK;
    }
    for (int i = 0; i < MANY_TEXTS; i++) {
        TRY(segy_pread(file, path, text, sizeof text, *at, "an extended text header"));
        *at += SEGY_TEXT;
        if (ends_texts(text) || memmem(text, sizeof text, ebcdic, 16))
            return EK_OK;
    }
    FAIL(EK_USAGE, "%s: %d extended text headers and no ((SEG: EndText)) among them", path,
         MANY_TEXTS);
}

/* Revision 1 stores 0x0100 as one number, revision 2 as two bytes. In little-endian files, and in
 * some that store 1 or 2, the revision is in the second byte. Other values count as revision 0, or
 * 2 if the endian constant is there. */
static int revision_of(const unsigned char *b)
{
    const int first = (int)word(b, 3501, 1, false), second = (int)word(b, 3502, 1, false);
    const int64_t constant = word(b, 3297, 4, false);
    const bool new =
        constant == ENDIAN_CONSTANT || constant == (int64_t)__builtin_bswap32(ENDIAN_CONSTANT);
    const int revision = first == 0 ? second : first;
    return revision >= 0 && revision <= 2 ? revision : new ? 2 : 0;
}

/* Number of further trace headers: a 32-bit word in revision 2.0, a 16-bit one followed by the kind
 * of survey in 2.1. */
static long further_headers(const unsigned char *b, bool little)
{
    const long wide = (long)word(b, 3507, 4, little);
    return wide >= 0 && wide <= MANY_HEADERS ? wide : (long)(word(b, 3507, 2, little) & 0xffff);
}

/* Whether traces as long as the binary header says fill the file from `first` exactly. */
static bool fills_from(const struct segy_layout *l, off_t first)
{
    const off_t trace = SEGY_HEADER + (off_t)l->ns * segy_format_find(l->format)->bytes;
    return l->ns > 0 && first < l->size && (l->size - first) % trace == 0;
}

/* Whether the 3200 bytes from `at` are text in ASCII or EBCDIC. */
static bool is_text(int file, const char *path, off_t at)
{
    unsigned char text[SEGY_TEXT];
    int ascii = 0, ebcdic = 0;
    const enum ek_status st = MUTED(segy_pread(file, path, text, sizeof text, at, "a text"));
    for (int i = 0; i < SEGY_TEXT && !st; i++) {
        ascii += (text[i] >= ' ' && text[i] <= '~') || text[i] == '\n' || text[i] == '\r';
        ebcdic += text[i] == 0x40 || (text[i] >= 0x4a && text[i] <= 0xf9) || text[i] == 0x15;
    }
    return ascii > SEGY_TEXT * 9 / 10 || ebcdic > SEGY_TEXT * 9 / 10;
}

/* Whether there are extended text headers. Revision 0 has none by the standard; they are believed
 * nevertheless if they read as text, or if traces fill the file only from behind them. */
static bool has_texts(int file, const char *path, const struct segy_layout *l, long texts)
{
    return l->revision > 0 || (texts && is_text(file, path, l->first)) ||
           (texts > 0 && !fills_from(l, l->first) &&
            fills_from(l, l->first + (off_t)texts * SEGY_TEXT));
}

/* Number of samples and interval. Revision 2 has wider words, for values that do not fit. */
static void read_sampling(const unsigned char *b, struct segy_layout *l)
{
    const int64_t bits = word(b, 3273, 8, l->little);
    double dt;
    memcpy(&dt, &bits, sizeof dt);
    l->ns = (long)(word(b, 3221, 2, l->little) & 0xffff);
    l->dt = 1e-6 * (double)(word(b, 3217, 2, l->little) & 0xffff);
    if (l->revision < 2)
        return;
    if (word(b, 3269, 4, l->little))
        l->ns = (long)(word(b, 3269, 4, l->little) & 0xffffffff);
    if (isfinite(dt) && dt > 0 && dt < 1e9)
        l->dt = 1e-6 * dt;
    l->extra = further_headers(b, l->little);
}

/* Takes revision 2's trailing texts off l->size: a given number, or -1 for as many as there are. */
static void leave_trailers(int file, const char *path, const unsigned char *b,
                           struct segy_layout *l)
{
    const int64_t count = l->revision == 2 ? word(b, 3529, 4, l->little) : 0;
    const off_t least = SEGY_TEXT + SEGY_BINARY;
    if (count > 0 && count * SEGY_TEXT < l->size - least)
        l->size -= (off_t)(count * SEGY_TEXT);
    while (count == -1 && l->size - SEGY_TEXT > least && is_text(file, path, l->size - SEGY_TEXT))
        l->size -= SEGY_TEXT;
}

static enum ek_status find_segy(int file, const char *path, const struct segy_options *o,
                                struct segy_layout *l)
{
    unsigned char b[SEGY_BINARY];
    if (l->size < SEGY_TEXT + SEGY_BINARY)
        FAIL(EK_USAGE,
             "%s: %lld bytes are too few for SEG-Y; an SU file has to be called .su, or say so: "
             "as=su",
             path, (long long)l->size);
    TRY(segy_pread(file, path, b, sizeof b, SEGY_TEXT, "the binary header"));
    TRY(find_order(path, b, o, &l->little));
    l->format = (int)word(b, 3225, 2, l->little);
    l->revision = revision_of(b);
    if (l->format == 4)
        FAIL(EK_USAGE,
             "%s: sample format 4, fixed point with gain, is not read: revisions 0 and 1 of SEG-Y "
             "multiply by 2^gain, 2 and 2.1 by 2^-gain; convert the file to IEEE floats first",
             path);
    if (!segy_format_find(l->format))
        FAIL(EK_USAGE,
             "%s: no SEG-Y: sample format %d in bytes 3225-3226 is none of 1-3, 5-12, 15, 16", path,
             l->format);
    read_sampling(b, l);
    leave_trailers(file, path, b, l);
    if (!o->unit && word(b, 3255, 2, l->little) == 2)
        l->unit = FOOT;
    l->fixed = l->revision > 0 && word(b, 3503, 2, l->little) == 1;
    if (l->extra > MANY_HEADERS)
        FAIL(EK_USAGE, "%s: %ld further trace headers in bytes 3507-3510 make no sense", path,
             l->extra);
    l->first = SEGY_TEXT + SEGY_BINARY;
    const long texts = (long)word(b, 3505, 2, l->little);
    if (has_texts(file, path, l, texts))
        TRY(skip_texts(file, path, texts, &l->first));
    const int64_t first = word(b, 3521, 8, l->little);
    if (l->revision == 2 && first)
        l->first = (off_t)first;
    if (l->first < SEGY_TEXT + SEGY_BINARY || l->first > l->size)
        FAIL(EK_USAGE, "%s: traces begin at byte %lld of %lld", path, (long long)l->first,
             (long long)l->size);
    return EK_OK;
}

/* ---- SU ---------------------------------------------------------------------------------------*/

static bool plausible_su(const unsigned char *h, off_t size, bool little)
{
    const long ns = segy_i16(h, 115, little) & 0xffff;
    const int id = segy_i16(h, 29, little);
    return ns > 0 && id >= -1 && id < 200 && SEGY_HEADER + 4 * ns <= size;
}

static enum ek_status find_su(int file, const char *path, const struct segy_options *o,
                              struct segy_layout *l)
{
    const bool native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    unsigned char h[SEGY_HEADER];
    TRY(segy_pread(file, path, h, sizeof h, 0, "the first trace header"));
    l->little = o->order                           ? o->order == SEGY_ORDER_LITTLE
                : plausible_su(h, l->size, native) ? native
                                                   : !native;
    if (!plausible_su(h, l->size, l->little))
        FAIL(EK_USAGE,
             "%s: no SU file: its first trace would have %d samples and identification %d", path,
             segy_i16(h, 115, l->little) & 0xffff, segy_i16(h, 29, l->little));
    l->format = 5;
    return EK_OK;
}

/* Whether a file not called .su is SU: its binary header makes no sense as SEG-Y's, and its first
 * trace header makes sense as SU's. */
static bool is_su(int file, const char *path, const struct segy_options *o, off_t size)
{
    unsigned char b[SEGY_BINARY], h[SEGY_HEADER];
    status_mute(1);
    const enum ek_status st =
        segy_pread(file, path, h, sizeof h, 0, "a header") ||
        (size >= SEGY_TEXT + SEGY_BINARY && segy_pread(file, path, b, sizeof b, SEGY_TEXT, "b"));
    status_mute(-1);
    if (st || o->as ||
        (size >= SEGY_TEXT + SEGY_BINARY &&
         (plausible_binary(b, false) || plausible_binary(b, true))))
        return false;
    for (int little = 0; little < 2; little++)
        if (plausible_su(h, size, little) &&
            size % (SEGY_HEADER + 4 * (segy_i16(h, 115, little) & 0xffff)) == 0)
            return true;
    return false;
}

enum ek_status segy_layout_find(int file, const char *path, const struct segy_options *o,
                                struct segy_layout *layout)
{
    struct segy_layout l = {.unit = o->unit == SEGY_UNIT_FEET ? FOOT : 1,
                            .su = o->as ? o->as == SEGY_AS_SU : file_ends_in(path, ".su")};
    struct stat stat;
    if (fstat(file, &stat))
        FAIL(EK_UNAVAILABLE, "%s: %s", path, strerror(errno));
    if (!S_ISREG(stat.st_mode))
        FAIL(EK_USAGE, "%s: no regular file; traces are read in any order", path);
    l.size = stat.st_size;
    l.su = l.su || is_su(file, path, o, l.size);
    TRY(l.su ? find_su(file, path, o, &l) : find_segy(file, path, o, &l));
    *layout = l;
    return EK_OK;
}
