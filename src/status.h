/* src/status.h – how every function of Evenkeel says that it failed.
 *
 * Whoever notices a fault says so once, with EK_FAIL(), in this tree FAIL(); everyone above passes
 * the status on with EK_TRY(), TRY(), or by `goto` to the label that undoes what was done so far.
 * Out arguments are written only on success. Libraries never exit. */
#ifndef SRC_STATUS_H
#define SRC_STATUS_H

enum ek_status {
    EK_OK = 0,
    EK_UNVERIFIED = 1,  /* a result failed its verification */
    EK_USAGE = 2,       /* bad usage or bad input */
    EK_UNAVAILABLE = 3, /* the machine lacks something: device, memory, library */
    EK_STOPPED = 4,     /* interrupted; what was finished is kept */
    EK_LOST = 5,        /* a unit or device failed while it worked; others may take over */
};

/* Exit code of a program that ends with `st`: the value itself, EK_LOST as 3. */
int status_exit_code(enum ek_status st);

/* Records one line "what, where, why, what to do" for the calling thread, prints it on stderr
 * behind the program's name unless this thread is muted, and returns `st`. Any thread. */
enum ek_status status_fail(enum ek_status st, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A line on stderr that is no failure ("warning: …"); muted likewise. Any thread. */
void status_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The calling thread's last recorded line, "" if none. Owned by the library, valid until this
 * thread's next status_fail(). */
const char *status_message(void);

/* While the depth is above 0 this thread records but does not print: for probing what may be
 * absent and for tests. delta = +1 or -1. */
void status_mute(int delta);
/* Warnings alone, of the whole process: where another process has said them. One thread. */
void status_mute_warnings(int delta);
/* For EK_MUTED(call), in this tree MUTED(): what the call returns, without a word of it. */
enum ek_status status_unmute(enum ek_status st);
#define EK_MUTED(call) (status_mute(+1), status_unmute(call))

/* Name that precedes every line; borrowed, default "evenkeel". One thread, at start. */
void status_program(const char *name);

/* The first and the last thing that main() does. The first names the program, and sees to it that
 * no file takes the number of a standard stream that was closed. The last is the exit code:
 * EK_UNAVAILABLE, and a line that says so, where `st` is EK_OK but standard output did not take all
 * that was said. */
void status_begin(const char *name);
int status_end(enum ek_status st);

#define EK_FAIL(code, ...) return status_fail((code), __VA_ARGS__)
#define EK_TRY(call)       EK_TRY_OR(call, (void)0)
/* The same where something is to be undone first. */
#define EK_TRY_OR(call, undo)                                                                      \
    do {                                                                                           \
        enum ek_status try_st_ = (call);                                                           \
        if (try_st_) {                                                                             \
            undo;                                                                                  \
            return try_st_;                                                                        \
        }                                                                                          \
    } while (0)
/* Between a first call and the end that undoes them all: calls only if `st` is EK_OK so far. */
#define EK_THEN(st, call) ((void)((st) ? (st) : ((st) = (call))))

#ifndef EVENKEEL_H /* outside of this tree only names with a prefix are taken */
#define FAIL   EK_FAIL
#define MUTED  EK_MUTED
#define THEN   EK_THEN
#define TRY    EK_TRY
#define TRY_OR EK_TRY_OR
#endif

#endif
