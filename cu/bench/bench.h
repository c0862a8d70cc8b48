/* cu/bench/bench.h – the shared main of all programs: one command line, environment, warm-up,
 * repeats, comparison table, JSON, trace, report, progress and exit codes. */
#ifndef CU_BENCH_H
#define CU_BENCH_H

#include "cu/unit/cu.h"
#include "cu/sched/sched.h"
#include "cu/team/team.h"
#include "src/json.h"
#include "src/opt.h"

/* What check() finds of a result. */
enum bench_verdict {
    BENCH_WRONG,        /* judged, and failed */
    BENCH_VERIFIED,     /* judged, and passed */
    BENCH_UNVERIFIABLE, /* there is nothing to judge it by */
};

/* Who else runs under mpirun. */
enum bench_ranks {
    BENCH_ALONE,  /* nobody: a launch of several ranks is refused */
    BENCH_RANKS,  /* ranks that share the tasks through MPI, cu/rank/cluster.h */
    BENCH_FAMILY, /* ranks that find one another through cu/rank/family.h and outlive one another;
                   * those above rank 0 do their runs as all do, but say nothing */
};

/* A program that works in steps on tasks. `st` is its zeroed state of identity.size bytes. What is
 * not called required may be NULL or 0. */
struct bench_program {
    /* Required. */
    struct bench_identity {
        const char *name, *summary; /* "bt-mz", one line */
        const char *unit;           /* of the rate: "Mop/s" */
        size_t size;                /* of the state, bytes */
    } identity;

    struct bench_command {
        const struct opt *table; /* the program's own options, offsets into the state */
        const char *operand;     /* what --help calls the one word beside the options */
        size_t operand_at;       /* offset of the const char * that gets it, NULL where not given */
        /* Offset of a const struct bench_settings * (bench_options.h) for answer(), which heeds
         * some of the common options itself. */
        size_t settings_at;
        void (*defaults)(void *st, const struct bench_program *self);
        /* Answers options that ask for something other than a run: *done = true where one did.
         * After the options are read, before plan(). */
        enum ek_status (*answer)(void *st, bool *done);
    } command;

    struct bench_problem {
        /* Checks the options and states the problem: a text for people, and the bytes that open()
         * will take on the host. EK_USAGE. Before anything is allocated. */
        enum ek_status (*plan)(void *st, char *problem, size_t room, size_t *bytes);
        /* Required. Allocates and describes the tasks in *job (arrays stay the program's). One
         * thread; the units are open. *job stays where it is: reset() may describe other tasks
         * there. */
        enum ek_status (*open)(void *st, struct cu_set *set, struct sched_job *job);
        /* After open(), untimed, on each unit's own thread, all at once: what belongs to the unit,
         * such as its scratch memory (first touch), buffers and kernels. */
        enum ek_status (*prepare)(void *st, const struct cu *cu);
        /* Before close(), likewise, also where prepare() failed or was never reached. */
        void (*release)(void *st, const struct cu *cu);
        /* After a run that went well: *more = true where the program has another problem for the
         * same units. It is closed then, and goes on with plan(); its state stays as close() left
         * it. */
        enum ek_status (*again)(void *st, bool *more);
        void (*close)(void *st); /* also after a failed plan() or open() */
    } problem;

    struct bench_run {
        enum bench_ranks ranks;
        bool cold;                    /* runs are not preceded by a run that warms up */
        const struct team_ops *verbs; /* required */
        int (*steps)(const void *st); /* still to do, after reset(); NULL: one */
        /* Steps between two saves of a run's state, 0: none. A program that saves runs once. */
        int (*save_every)(const void *st);
        /* Says which policy the next run is of, before reset(). */
        void (*schedule)(void *st, const char *spec);
        /* Puts the initial state in place, or the saved one, untimed; every task is on the host. */
        enum ek_status (*reset)(void *st);
        /* Units of work in steps() steps, for the rate; NULL: the tasks of all steps. */
        double (*work)(const void *st);
        /* What work() counts, for the progress line, which the program moves on itself by
         * progress_at(), over all runs. NULL: steps are counted. */
        const char *progress;
        /* The run was interrupted: keeps what is finished of it. */
        enum ek_status (*interrupted)(void *st);
    } run;

    struct bench_output {
        /* Judges the result; every task is on the host. *detail: new reference, goes into the JSON.
         * NULL: there is nothing to judge by. */
        enum ek_status (*check)(void *st, enum bench_verdict *verified, json_t **detail);
        /* What else a run is to say in the JSON, as members beside the usual ones; after check().
         * New reference, NULL: out of memory. */
        json_t *(*facts)(const void *st);
        /* Prints below the table what people should know of the best run, whose object in the JSON
         * `result` is. */
        void (*remark)(FILE *out, const void *st, const json_t *result);
        /* The program's part of --report's page: the name of an embedded text, and what it draws,
         * of the last run; a new reference. Both or none. */
        const char *page;
        enum ek_status (*view)(const void *st, json_t **view);
        /* The result is not wrong, and stands everywhere it was asked for: what a run saves on its
         * way may go. Where several ranks compute, on the first of them. */
        void (*written)(void *st);
    } output;
};

/* Runs the program as its command line says; what people should read goes to `out`. */
enum ek_status bench_run(const struct bench_program *program, int argc, char **argv, FILE *out);
/* main() of every program: the exit code. */
#define bench_main(program, argc, argv)                                                            \
    (status_begin((program)->identity.name),                                                       \
     status_end(bench_run((program), (argc), (argv), stdout)))

#endif
