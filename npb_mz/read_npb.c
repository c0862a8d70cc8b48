/* npb_mz/read_npb.c – the input file has a number at the beginning of each of its three lines: time
 * steps, time step, whether times of sections are printed; 0 stands for the class' own value. The
 * load file has lines "rank[:rank] threads group"; what follows "!" and lines that begin with "#"
 * are comments. */
#include "npb_mz/read_npb.h"
#include "src/opt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first word of a line, Fortran's exponents made C's. false: the file ends before. */
static bool next_word(FILE *in, char word[64])
{
    char line[512] = "";
    if (!fgets(line, sizeof line, in))
        return false;
    word[0] = 0;
    sscanf(line, "%63s", word);
    for (char *c = word; *c; c++)
        if (*c == 'd' || *c == 'D')
            *c = 'e';
    return true;
}

static enum ek_status read_lines(FILE *in, const char *path, struct read_npb *found)
{
    char word[64];
    long n;
    if (next_word(in, word)) {
        if (!opt_integer(word, 0, 1000000, &n))
            FAIL(EK_USAGE, "%s:1: '%s' is no number of time steps; give one, or 0", path, word);
        found->steps = (int)n;
    }
    if (next_word(in, word) && (!opt_number(word, &found->dt) || found->dt < 0))
        FAIL(EK_USAGE, "%s:2: '%s' is no time step; give one, or 0", path, word);
    if (next_word(in, word) && opt_integer(word, 0, 1000000, &n))
        found->timers |= n > 0;
    return EK_OK;
}

/* On, true, yes or a number but 0; or a file of that name, as old scripts make it. */
static bool wants_timers(void)
{
    const char *flag = getenv("NPB_TIMER_FLAG");
    if (!flag || !*flag)
        return !access("timer.flag", F_OK);
    return !strcasecmp(flag, "on") || strchr("tTyY123456789", *flag);
}

enum ek_status read_npb(const char *solver, struct read_npb *found)
{
    char path[64];
    struct read_npb read = {.timers = wants_timers()};
    snprintf(path, sizeof path, "input%s.data", solver);
    FILE *in = fopen(path, "r");
    if (in) {
        read.given = true;
        const enum ek_status st = read_lines(in, path, &read);
        fclose(in);
        TRY(st);
    }
    *found = read;
    return EK_OK;
}

/* Threads of `rank`, 0 where the line is of others; false: it is malformed. */
static bool load_of(const char *line, int rank, int *threads)
{
    int first, last, n, group;
    if (sscanf(line, "%d : %d %d %d", &first, &last, &n, &group) != 4) {
        if (sscanf(line, "%d %d %d", &first, &n, &group) != 3)
            return false;
        last = first;
    }
    const bool within = (rank >= first && rank <= last) || (rank >= last && rank <= first);
    *threads = !within ? 0 : n > 1 ? n : 1;
    return true;
}

static enum ek_status read_load(FILE *in, const char *path, int rank, int *threads)
{
    char line[512];
    int said = 0;
    for (int number = 1, n; fgets(line, sizeof line, in); number++) {
        line[strcspn(line, "!\n")] = 0;
        if (*line == '#' || strspn(line, " \t\r") == strlen(line))
            continue;
        if (!load_of(line, rank, &n))
            FAIL(EK_USAGE, "%s:%d: '%s' is no 'rank threads group', nor 'rank:rank threads group'",
                 path, number, line);
        said = n ? n : said;
    }
    if (!said)
        FAIL(EK_USAGE, "%s: it says nothing of rank %d; add '%d 1 1'", path, rank, rank);
    *threads = said;
    return EK_OK;
}

enum ek_status read_npb_threads(const char *solver, int rank, int *threads)
{
    char path[64];
    snprintf(path, sizeof path, "load%s.data", solver);
    FILE *in = fopen(path, "r");
    *threads = 0;
    if (!in)
        return EK_OK;
    const enum ek_status st = read_load(in, path, rank, threads);
    fclose(in);
    return st;
}
