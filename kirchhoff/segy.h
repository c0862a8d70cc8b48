/* kirchhoff/segy.h – seismic traces in files: SEG-Y revisions 0 to 2 and SU.
 *
 * A file is scanned once: each trace's header becomes an entry of an index in metres and seconds
 * (double; the scalars of bytes 69, 71 and 215 are applied trace by trace). Samples are read by
 * pread when they are wanted, from any thread.
 *
 * SEG-Y: 3200 bytes of text, a binary header of 400, extended text headers (a count, or up to the
 * one that says ((SEG: EndText))), then traces of 240 bytes of header, further headers of 240 bytes
 * (revision 2) and samples. SU: traces only, samples are IEEE floats, bytes in the order of some
 * machine. The order of bytes is found by the endian constant of revision 2, else by which order
 * makes sense. Standards: SEG-Y rev 1 (2002), rev 2.0 (2017), of the SEG's technical committee. */
#pragma once

#include "src/status.h"
#include "src/owned.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum segy_as { SEGY_AS_FOUND, SEGY_AS_SEGY, SEGY_AS_SU };
enum segy_unit { SEGY_UNIT_FOUND, SEGY_UNIT_METRES, SEGY_UNIT_FEET };
enum segy_order { SEGY_ORDER_FOUND, SEGY_ORDER_BIG, SEGY_ORDER_LITTLE };

/* Bytes (from 1) of words in a trace header that people put elsewhere; and what a file is. 0
 * means the standard's place, and that it is found out. */
struct segy_options {
    int sx, sy, gx, gy;   /* coordinates, 4 bytes each (73, 77, 81, 85) */
    int scalco, scalel;   /* their scalars, 2 bytes (71, 69) */
    int sdepth, selev;    /* source depth and surface elevation (49, 45) */
    int gelev;            /* receiver elevation (41) */
    int as, order;        /* enum segy_as, segy_order */
    int unit;             /* enum segy_unit */
    const char *geometry; /* a table of places in place of the headers', NULL: none; borrowed */
    struct {              /* in place of what all headers say; 0: as they say */
        int ns;           /* samples */
        double dt, delrt; /* us, ms */
        bool delayed;     /* delrt is given */
    } set;
};

/* Reads "sx=73,sy=77,as=su" and, into o->set, "ns=1500,dt=2000,delrt=-20"; either may be NULL.
 * EK_USAGE: an unknown name, a byte outside the header. */
enum ek_status segy_options_parse(const char *words, const char *set, struct segy_options *o);

/* Whether a file of this name is SU. */
bool segy_called_su(const char *path);

/* What a file is. */
struct segy_layout {
    bool su, little; /* SU; least significant byte first */
    int revision;    /* 0, 1, 2 */
    int format;      /* data sample format code; SU: 5 */
    long ns;         /* samples of a trace, 0: its own header says it */
    bool fixed;      /* all traces have ns samples, whatever their headers say */
    double dt;       /* s; 0: the first trace says it */
    double unit;     /* m in a unit of length: 1, or 0.3048 */
    long extra;      /* further headers of a trace, at most */
    off_t first;     /* byte where the first trace begins, from 0 */
    off_t size;      /* of the file */
};

/* One live trace. z is positive down. */
struct segy_trace {
    double sx, sy, sz, gx, gy, gz; /* m */
    off_t at;                      /* of its first sample */
    uint32_t ns;
    float delay; /* s, time of the first sample */
    int record;  /* number of the field record */
    int shot;    /* number of the source where its place tells no more (line.h), else 0 */
    long number; /* in the file, from 1, dead ones counted */
};

static inline double segy_offset(const struct segy_trace *t)
{
    return hypot(t->gx - t->sx, t->gy - t->sy);
}

struct segy {
    const char *path; /* owned */
    struct segy_layout layout;
    double dt;                /* s */
    long ns;                  /* of the longest trace */
    size_t n;                 /* live traces */
    struct segy_trace *trace; /* [n] in the file's order */
    _Atomic uint64_t *sum; /* [n] of samples that were read, which one byte changes; 0: not yet */
    long dead;             /* trace identification 2 … 10: dead, dummy, time break, … */
    bool raised;           /* all were: they are taken for live ones */
    long offsets, odd_offset; /* traces with an offset word; where it disagrees with coordinates */
    char doubt[256];          /* why it can be read but not migrated; "": it can */
    int file;                 /* descriptor */
};

/* Opens and scans. What headers say against one another is settled by what fills the file: traces
 * of the lengths that they say themselves, else all of the length that the binary header or the
 * first one says. EK_USAGE, naming file and trace: neither SEG-Y nor SU, unknown format, cut off in
 * the middle of a trace, no traces, no or absurd number of samples; EK_UNAVAILABLE: not readable,
 * out of memory. Caller owns *s; close accepts NULL. */
enum ek_status segy_open(const char *path, const struct segy_options *o, struct segy **s);
void segy_close(struct segy *s);
OWNED_POINTER(struct segy, segy_close)

/* EK_USAGE: its interval is not said or changes, or its coordinates are angles. */
enum ek_status segy_check(const struct segy *s);

/* Samples of trace i of the index into out [s->ns], zeros behind a shorter trace. EK_USAGE: a
 * sample is no finite number (file, trace and sample are named); EK_UNAVAILABLE: cannot be read.
 * Any thread. */
enum ek_status segy_read(const struct segy *s, size_t i, float *out);

/* ---- writing ----------------------------------------------------------------------------------*/

/* One trace to write. Coordinates are stored in hundredths of metres. */
struct segy_put {
    double sx, sy, sz, gx, gy, gz; /* m */
    double cdpx, cdpy;             /* m, bytes 181, 185; not in SU files */
    int iline, xline, cdp;         /* bytes 189, 193, 21; the first two not in SU files */
    int shot, channel;             /* bytes 9, 13 */
    double offset;                 /* m */
    double delay;                  /* s, of the first sample */
};

struct segy_new {
    bool su;    /* SU in this machine's byte order, as is a file called .su; else SEG-Y */
    int format; /* SEG-Y: 1 (IBM) or 5 (IEEE) */
    long ns;
    double dt;           /* s; what is sampled in depth: m / 1000 */
    const char *text[8]; /* lines of the text header, up to 76 characters; NULL ends them */
};

struct segy_writer;

/* Writes beside `path`; segy_finish() puts the file in its place. Revision 1, or 2 where ns is over
 * 32767. EK_USAGE: more samples than the format can say; EK_UNAVAILABLE: not writable. */
enum ek_status segy_create(const char *path, const struct segy_new *file, struct segy_writer **w);
/* EK_UNAVAILABLE: the disk is full; EK_USAGE: a coordinate beyond what 32 bits hold. */
enum ek_status segy_put(struct segy_writer *w, const struct segy_put *trace, const float *sample);
enum ek_status segy_finish(struct segy_writer *w); /* closes w in any case */
void segy_abandon(struct segy_writer *w);          /* closes w and leaves nothing; accepts NULL */
