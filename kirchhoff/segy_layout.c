/* kirchhoff/segy_layout.c – SEG-Y or SU, which revision, in which byte order. */
#include "kirchhoff/segy_layout.h"
#include "kirchhoff/segy_words.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENDIAN_CONSTANT = 0x01020304, PAIRS_SWAPPED = 0x02010403, MANY_TEXTS = 10000 };

enum ek_status segy_pread(int file, const char *path, void *to, size_t bytes, off_t at,
                          const char *what)
{
    char *p = to;
    while (bytes) {
        const ssize_t got = pread(file, p, bytes, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            FAIL(EK_LACK, "%s: %s cannot be read: %s", path, what, strerror(errno));
        if (got == 0)
            FAIL(EK_USAGE, "%s: the file ends inside %s; it was cut off, get a whole one", path,
                 what);
        p += got;
        at += got;
        bytes -= (size_t)got;
    }
    return EK_OK;
}

/* A word of the binary header by its byte in the file, as the standard counts. */
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
        *little = !strcmp(o->order, "little");
        return EK_OK;
    }
    if (constant == PAIRS_SWAPPED)
        FAIL(EK_USAGE, "%s: bytes are swapped in pairs; undo that first (dd conv=swab)", path);
    if (constant == ENDIAN_CONSTANT || *little)
        return EK_OK;
    *little = !plausible_binary(b, false) && plausible_binary(b, true);
    return EK_OK;
}

/* Extended text headers, each of 3200 bytes: a count, or up to the one that says that it is the
 * last, in ASCII or EBCDIC. */
static enum ek_status skip_texts(int file, const char *path, long count, off_t *at)
{
    static const unsigned char ascii[] = "((SEG: EndText))";
    static const unsigned char ebcdic[] = "\x4d\x4d\xe2\xc5\xc7\x7a\x40\xc5\x95\x84\xe3\x85\xa7"
                                          "\xa3\x5d\x5d";
    unsigned char text[SEGY_TEXT];
    if (count >= 0) {
        *at += (off_t)count * SEGY_TEXT;
        return EK_OK;
    }
    for (int i = 0; i < MANY_TEXTS; i++) {
        TRY(segy_pread(file, path, text, sizeof text, *at, "an extended text header"));
        *at += SEGY_TEXT;
        if (memmem(text, sizeof text, ascii, 16) || memmem(text, sizeof text, ebcdic, 16))
            return EK_OK;
    }
    FAIL(EK_USAGE, "%s: %d extended text headers and no ((SEG: EndText)) among them", path,
         MANY_TEXTS);
}

/* Revision 1 stores 0x0100 as one number, revision 2 as two bytes: in a little-endian file the
 * former has its bytes the other way round. */
static int revision_of(const unsigned char *b, bool little)
{
    const int first = (int)word(b, 3501, 1, false), second = (int)word(b, 3502, 1, false);
    return little && first == 0 ? second : first;
}

/* Revision 2 has larger words for what the first ones cannot say. */
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
    l->extra = (long)word(b, 3507, 4, l->little);
}

static enum ek_status find_segy(int file, const char *path, const struct segy_options *o,
                                struct segy_layout *l)
{
    unsigned char b[SEGY_BINARY];
    if (l->size < SEGY_TEXT + SEGY_BINARY)
        FAIL(EK_USAGE,
             "%s: %lld bytes are too few for SEG-Y; an SU file has to be called .su, or "
             "say so: as=su",
             path, (long long)l->size);
    TRY(segy_pread(file, path, b, sizeof b, SEGY_TEXT, "the binary header"));
    TRY(find_order(path, b, o, &l->little));
    l->format = (int)word(b, 3225, 2, l->little);
    l->revision = revision_of(b, l->little);
    if (!segy_format_find(l->format))
        FAIL(EK_USAGE,
             "%s: no SEG-Y: sample format %d in bytes 3225-3226 is none of 1-3, 5-12, "
             "15, 16",
             path, l->format);
    if (l->revision < 0 || l->revision > 2)
        FAIL(EK_USAGE, "%s: SEG-Y of revision %d in byte 3501; 0, 1 and 2 are known", path,
             l->revision);
    read_sampling(b, l);
    l->fixed = l->revision > 0 && word(b, 3503, 2, l->little) == 1;
    if (l->extra < 0 || l->extra > 1000)
        FAIL(EK_USAGE, "%s: %ld further trace headers in bytes 3507-3510 make no sense", path,
             l->extra);
    l->first = SEGY_TEXT + SEGY_BINARY;
    if (l->revision > 0)
        TRY(skip_texts(file, path, (long)word(b, 3505, 2, l->little), &l->first));
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
    l->little = o->order                           ? !strcmp(o->order, "little")
                : plausible_su(h, l->size, native) ? native
                                                   : !native;
    if (!plausible_su(h, l->size, l->little))
        FAIL(EK_USAGE,
             "%s: no SU file: its first trace would have %d samples and identification %d", path,
             segy_i16(h, 115, l->little) & 0xffff, segy_i16(h, 29, l->little));
    l->format = 5;
    return EK_OK;
}

enum ek_status segy_layout_find(int file, const char *path, const struct segy_options *o,
                                struct segy_layout *layout)
{
    const size_t length = strlen(path);
    struct segy_layout l = {.su = o->as ? !strcmp(o->as, "su")
                                        : length > 3 && !strcmp(path + length - 3, ".su")};
    struct stat stat;
    if (fstat(file, &stat))
        FAIL(EK_LACK, "%s: %s", path, strerror(errno));
    if (!S_ISREG(stat.st_mode))
        FAIL(EK_USAGE, "%s: no regular file; traces are read in any order", path);
    l.size = stat.st_size;
    TRY(l.su ? find_su(file, path, o, &l) : find_segy(file, path, o, &l));
    *layout = l;
    return EK_OK;
}
