/* src/status.h – how every function of Evenkeel reports failure.
 *
 * The function that detects a fault reports it once with EK_FAIL() (FAIL() in this tree); its
 * callers pass the status on with EK_TRY() (TRY()), or `goto` the label that undoes the work so
 * far. Out arguments are written only on success. Libraries never exit. */
#ifndef SRC_STATUS_H
#define SRC_STATUS_H

#include <stdbool.h>

enum ek_status {
    EK_OK = 0,
    EK_UNVERIFIED = 1,  /* a result failed its verification */
    EK_USAGE = 2,       /* bad usage or bad input */
    EK_UNAVAILABLE = 3, /* the machine lacks something: device, memory, library */
    EK_STOPPED = 4,     /* interrupted; what was finished is kept */
    EK_LOST = 5,        /* a unit or device failed during work; others may take over */
};

/* Exit code of a program that ends with `st`: the value itself, but 3 for EK_LOST. */
int status_exit_code(enum ek_status st);

/* Records one line "what, where, why, what to do" for the calling thread, prints it on stderr after
 * the program's name unless this thread is muted, and returns `st`. Any thread. */
enum ek_status status_fail(enum ek_status st, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "warning: …" on stderr unless muted. Any thread. */
void status_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The calling thread's last recorded line, "" if none. Owned by the library, valid until this
 * thread's next status_fail(). */
const char *status_message(void);

/* While the depth is above 0, this thread records messages but does not print them: for tests and
 * for probing what may be absent. delta = +1 or -1. */
void status_mute(int delta);
/* Mutes only warnings, in the whole process, if another process prints them already. One thread. */
void status_mute_warnings(int delta);
/* While on, another process most likely fails for the same reason and says so: this one says it
 * only if the launcher has not ended it by SIGTERM 5 s later. One thread. */
void status_echo(bool on);
/* EK_MUTED(call) (MUTED() in this tree) gives the status of a call without printing its message. */
enum ek_status status_unmute(enum ek_status st);
#define EK_MUTED(call) (status_mute(+1), status_unmute(call))
/* Fails again with the last recorded line: where only the caller knows whether a muted call's
 * failure counts. Returns `st`. */
enum ek_status status_repeat(enum ek_status st);

/* Sets the name before every line; borrowed, default "evenkeel". One thread, at start. */
void status_program(const char *name);

/* Called first and last in main(). The first sets the program's name, and makes sure that no file
 * gets the descriptor of a standard stream that was closed. The second returns the exit code, which
 * is that of EK_UNAVAILABLE, with a message, if st is EK_OK but standard output could not be
 * written completely. */
void status_begin(const char *name);
int status_end(enum ek_status st);
/* Whether standard output is a pipe that nobody reads any more. Writing to it is then no error of
 * the run, which completes its files; status_end() ends it by SIGPIPE. */
bool status_reader_left(void);

#define EK_FAIL(code, ...) return status_fail((code), __VA_ARGS__)
#define EK_TRY(call)       EK_TRY_OR(call, (void)0)
/* The same, with `undo` executed before returning. */
#define EK_TRY_OR(call, undo)                                                                      \
    do {                                                                                           \
        enum ek_status try_st_ = (call);                                                           \
        if (try_st_) {                                                                             \
            undo;                                                                                  \
            return try_st_;                                                                        \
        }                                                                                          \
    } while (0)
/* Executes the call only if `st` is still EK_OK: for sequences with one common clean-up at the end.
 */
#define EK_THEN(st, call) ((void)((st) ? (st) : ((st) = (call))))

#ifndef EVENKEEL_H /* installed headers define only prefixed names */
#define FAIL   EK_FAIL
#define MUTED  EK_MUTED
#define THEN   EK_THEN
#define TRY    EK_TRY
#define TRY_OR EK_TRY_OR
#endif

#endif
