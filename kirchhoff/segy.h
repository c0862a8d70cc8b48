/* kirchhoff/segy.h – seismic traces in files: SEG-Y revisions 0 to 2 and SU.
 *
 * A file is scanned once: each trace header becomes an index entry in metres and seconds (double;
 * the scalars of bytes 69, 71 and 215 are applied per trace). Samples are read on demand with
 * pread, from any thread.
 *
 * SEG-Y: a text header of 3200 bytes, a binary header of 400, extended text headers (a given
 * number, or up to the one that says ((SEG: EndText))), then traces: a header of 240 bytes, further
 * headers of 240 bytes (revision 2) and samples. SU: traces only, IEEE floats in the byte order of
 * the machine that wrote them. The byte order is given by revision 2's endian constant; without
 * one, it is the order in which the headers make sense. Standards: SEG-Y rev 1 (2002) and rev 2.0
 * (2017), SEG Technical Standards Committee. */
#pragma once

#include "src/base.h"
#include <sys/types.h>

enum segy_as { SEGY_AS_FOUND, SEGY_AS_SEGY, SEGY_AS_SU };
enum segy_unit { SEGY_UNIT_FOUND, SEGY_UNIT_METRES, SEGY_UNIT_FEET };
enum segy_order { SEGY_ORDER_FOUND, SEGY_ORDER_BIG, SEGY_ORDER_LITTLE };

/* How to read a file. Header words that people put elsewhere: their first byte in the trace header,
 * counted from 1, or 0 for the standard's place (in parentheses). */
struct segy_options {
    int sx, sy, gx, gy;   /* coordinates, 4 bytes each (73, 77, 81, 85) */
    int scalco, scalel;   /* their scalars, 2 bytes (71, 69) */
    int sdepth, selev;    /* source depth and surface elevation (49, 45) */
    int gelev;            /* receiver elevation (41) */
    int as, order;        /* enum segy_as, segy_order; 0: detected */
    int unit;             /* enum segy_unit */
    const char *geometry; /* table of positions that replace the headers', or NULL; borrowed */
    struct {              /* values that override all headers; 0: no override */
        int ns;           /* samples */
        double dt, delrt; /* us, ms */
        bool delayed;     /* delrt is given */
    } set;
};

/* Reads "sx=73,sy=77,as=su" and, into o->set, "ns=1500,dt=2000,delrt=-20"; either may be NULL.
 * EK_USAGE: an unknown name, a byte outside the header. */
enum ek_status segy_options_parse(const char *words, const char *set, struct segy_options *o);

struct segy_layout {
    bool su, little; /* little: least significant byte first */
    int revision;    /* 0, 1, 2 */
    int format;      /* data sample format code; SU: 5 */
    long ns;         /* samples per trace; 0: see each trace's header */
    bool fixed;      /* all traces have ns samples, whatever their headers say */
    double dt;       /* s; 0: see the first trace's header */
    double unit;     /* length of a unit in m: 1 or 0.3048 */
    long extra;      /* largest number of further headers per trace */
    off_t first;     /* offset of the first trace, bytes */
    off_t size;      /* of the file without trailing texts, bytes */
};

/* One live trace. z is positive down. */
struct segy_trace {
    double sx, sy, sz, gx, gy, gz; /* m */
    off_t at;                      /* file offset of its first sample, bytes */
    uint32_t ns;
    float delay; /* time of the first sample, s */
    int record;  /* field record number */
    int shot;    /* source number when positions no longer identify sources (line.c), else 0 */
    long number; /* in the file from 1, dead traces included */
};

static inline double segy_offset(const struct segy_trace *t)
{
    return hypot(t->gx - t->sx, t->gy - t->sy);
}

struct segy {
    const char *path; /* owned */
    struct segy_layout layout;
    double dt;                /* s */
    long ns;                  /* samples of the longest trace */
    size_t n;                 /* live traces */
    struct segy_trace *trace; /* [n] in file order */
    _Atomic uint64_t *sum;    /* [n] checksums of the traces' samples; 0: not read yet */
    long dead;   /* traces left out: identification 2 … 10, dead, dummy, time break, … */
    bool raised; /* all traces had such an identification, so it is ignored */
    long offsets, odd_offset; /* traces with an offset word; with one that contradicts positions */
    char unusable[256];       /* why the file can be read but not migrated; "": it can */
    int file;                 /* descriptor */
};

/* Opens and scans a file. If headers disagree about trace lengths, the reading that fills the file
 * exactly wins: each trace as long as its own header says, else all as long as the binary header or
 * the first trace header says. EK_USAGE, naming file and trace: cannot be opened, neither SEG-Y nor
 * SU, unknown format, cut off within a trace, no traces, no or absurd number of samples;
 * EK_UNAVAILABLE: a read failed, memory. Caller owns *s; close accepts NULL. */
enum ek_status segy_open(const char *path, const struct segy_options *o, struct segy **s);
void segy_close(struct segy *s);
OWNED_POINTER(struct segy, segy_close)

/* Whether the file can be migrated. EK_USAGE: the sample interval is missing or changes, or
 * coordinates are angles. */
enum ek_status segy_check(const struct segy *s);

/* Reads the samples of trace i of the index into out [s->ns], padded with zeros. EK_USAGE: a sample
 * is not finite (the message names file, trace and sample); EK_UNAVAILABLE: a read failed. Any
 * thread. */
enum ek_status segy_read(const struct segy *s, size_t i, float *out);

/* ---- writing ----------------------------------------------------------------------------------*/

/* A trace to write. Coordinates are stored in centimetres. */
struct segy_put {
    double sx, sy, sz, gx, gy, gz; /* m */
    double cdpx, cdpy;             /* m, bytes 181, 185; not in SU files */
    int iline, xline, cdp;         /* bytes 189, 193 (not in SU files) and 21 */
    int shot, channel;             /* bytes 9, 13 */
    double offset;                 /* m */
    double delay;                  /* time of the first sample, s */
};

struct segy_new {
    bool su;    /* SU in this machine's byte order (also if the name ends in .su); else SEG-Y */
    bool depth; /* of samples; SU files then have step and first depth, m, as floats, too */
    int format; /* SEG-Y: 1 (IBM) or 5 (IEEE) */
    long ns;
    double dt;           /* s; in depth: m / 1000 */
    const char *text[8]; /* lines of the text header, up to 76 characters each, NULL at the end */
};

struct segy_writer;

/* Writes a temporary file beside `path`, which segy_finish() renames. Revision 1, or 2 if ns is
 * over 32767. EK_USAGE: more samples than the format can store; EK_UNAVAILABLE: not writable. */
enum ek_status segy_create(const char *path, const struct segy_new *file, struct segy_writer **w);
/* EK_UNAVAILABLE: the disk is full; EK_USAGE: a coordinate does not fit 32 bits. */
enum ek_status segy_put(struct segy_writer *w, const struct segy_put *trace, const float *sample);
enum ek_status segy_finish(struct segy_writer *w); /* closes w even if it fails */
void segy_abandon(struct segy_writer *w);          /* closes w and deletes its file; accepts NULL */
