/* cu/bench/bench.h – the main() shared by all programs: command line, environment, warm-up,
 * repeats, comparison table, JSON, trace, report, progress and exit codes. */
#ifndef CU_BENCH_H
#define CU_BENCH_H

#include "cu/unit/cu.h"
#include "cu/sched/sched.h"
#include "cu/team/team.h"
#include "src/json.h"
#include "src/opt.h"

/* The result of check(). */
enum bench_verdict {
    BENCH_WRONG,        /* checked, and failed */
    BENCH_VERIFIED,     /* checked, and passed */
    BENCH_UNVERIFIABLE, /* there is nothing to check it against */
};

/* What a program does under mpirun. */
enum bench_ranks {
    BENCH_ALONE,  /* refuses a launch of several ranks */
    BENCH_RANKS,  /* its ranks divide the tasks and use MPI (cu/rank/cluster.h) */
    BENCH_FAMILY, /* its ranks connect through cu/rank/family.h and survive one another; those above
                   * 0 run like it, but print nothing */
};

/* A program that works in steps on tasks. `st` is its zeroed state of identity.size bytes. Members
 * not marked as required may be NULL or 0. */
struct bench_program {
    /* Required. */
    struct bench_identity {
        const char *name, *summary; /* "bt-mz", one line */
        const char *unit;           /* of the rate: "Mop/s" */
        size_t size;                /* of the state, bytes */
    } identity;

    struct bench_command {
        const struct opt *table; /* the program's own options, offsets into the state */
        const char *operand;     /* name, in --help, of the one argument that is no option */
        size_t operand_at;       /* offset of its const char *, NULL if not given */
        /* Offset of a const struct bench_settings * (bench_options.h) that gets the common options,
         * for answer(). */
        size_t settings_at;
        void (*defaults)(void *st, const struct bench_program *self);
        /* Handles options that ask for something other than a run: sets *done if one did. After the
         * options are read, before plan(). */
        enum ek_status (*answer)(void *st, bool *done);
    } command;

    struct bench_problem {
        /* Checks the options and describes the problem: `problem` [room] is a text for people,
         * *bytes the host memory that open() will take. EK_USAGE. Before anything is allocated. */
        enum ek_status (*plan)(void *st, char *problem, size_t room, size_t *bytes);
        /* Required. Allocates, and describes the tasks in *job, whose arrays belong to the program.
         * One thread; the units are open. *job stays valid: reset() may describe other tasks
         * there. */
        enum ek_status (*open)(void *st, struct cu_set *set, struct sched_job *job);
        /* After open(), untimed, on all units' own threads at once: prepares what belongs to the
         * unit, such as scratch memory (first touch), buffers and kernels. */
        enum ek_status (*prepare)(void *st, const struct cu *cu);
        /* Before close(), likewise; also if prepare() failed or was not called. */
        void (*release)(void *st, const struct cu *cu);
        /* After a successful run: sets *more if the program has another problem for the same units.
         * Then close() and plan() follow; the state stays as close() leaves it. */
        enum ek_status (*again)(void *st, bool *more);
        void (*close)(void *st); /* also after a failed plan() or open() */
    } problem;

    struct bench_run {
        enum bench_ranks ranks;
        bool cold;                    /* skip the warm-up run */
        const struct team_ops *verbs; /* required */
        int (*steps)(const void *st); /* steps left to do, after reset(); NULL: one */
        /* Steps between two saves of the state, 0: none. A program that saves runs only once. */
        int (*save_every)(const void *st);
        /* Tells the program the policy of the next run, before reset(). */
        void (*schedule)(void *st, const char *spec);
        /* Sets the initial state, or a saved one, on the host; untimed. */
        enum ek_status (*reset)(void *st);
        /* Units of work in steps() steps, for the rate; NULL: the tasks of all steps. */
        double (*work)(const void *st);
        /* The unit of work() on the progress line, which the program then advances itself by
         * progress_at(), counting over all runs. NULL: the line counts steps. */
        const char *progress;
        /* After an interrupted run: keeps what is finished. */
        enum ek_status (*interrupted)(void *st);
    } run;

    struct bench_output {
        /* Checks the result; every task is on the host. *detail: new reference, for the JSON. NULL:
         * there is nothing to check it against. */
        enum ek_status (*check)(void *st, enum bench_verdict *verified, json_t **detail);
        /* Further members of the run's JSON object; after check(). New reference, NULL: out of
         * memory. */
        json_t *(*facts)(const void *st);
        /* Prints remarks on the best run below the table; `result` is its JSON object. */
        void (*remark)(FILE *out, const void *st, const json_t *result);
        /* The program's part of --report's page: name of an embedded text, and the data of the last
         * run that it draws (a new reference). Both or none. */
        const char *page;
        enum ek_status (*view)(void *st, json_t **view);
        /* The result is not wrong and has been written everywhere, so that saved states may be
         * deleted. On the first rank only. */
        void (*written)(void *st);
    } output;
};

/* Runs the program as its command line asks; text for people goes to `out`. */
enum ek_status bench_run(const struct bench_program *program, int argc, char **argv, FILE *out);
/* The body of every program's main(): returns the exit code. */
#define bench_main(program, argc, argv)                                                            \
    (status_begin((program)->identity.name),                                                       \
     status_end(bench_run((program), (argc), (argv), stdout)))

#endif
