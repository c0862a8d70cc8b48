/* npb_mz/read_npb.c – reads the suite's files. The input file has three lines that begin with a
 * number: of time steps, the time step, whether to print the times of sections; 0 means the class'
 * value. The load file has lines "rank[:rank] threads group"; "!" and lines with "#" begin
 * comments. */
#include "npb_mz/read_npb.h"
#include "src/file.h"
#include "src/opt.h"

#include <errno.h>
#include <unistd.h>

/* Opens a file; *in is NULL if there is none. */
static enum ek_status open_if_there(const char *path, FILE **in)
{
    *in = fopen(path, "r");
    if (!*in && errno != ENOENT)
        return file_not_opened(path, errno);
    return EK_OK;
}

static enum ek_status close_read(const char *path, FILE *in, enum ek_status st)
{
    const bool bad = ferror(in);
    fclose(in);
    if (bad)
        FAIL(EK_USAGE, "%s: cannot be read", path);
    return st;
}

/* The first number of the next line that is not blank, as Fortran reads lists: it ends at a blank,
 * comma or slash, and may have a D exponent. *at counts lines. false: end of file. */
static bool next_word(FILE *in, int *at, char word[64])
{
    OWNED_MEMORY char *line = NULL;
    size_t room = 0;
    bool found = false;
    *word = 0;
    for (; !found && getline(&line, &room, in) >= 0; ++*at)
        found = line[strspn(line, " \t\r\n")] != 0;
    if (found)
        sscanf(line, " %63[^,/! \t\r\n]", word);
    for (char *c = word; *c; c++)
        if (*c == 'd' || *c == 'D')
            *c = 'e';
    return found;
}

static enum ek_status read_lines(FILE *in, const char *path, struct read_npb *found)
{
    char word[64];
    long n;
    int at = 0;
    if (next_word(in, &at, word)) {
        if (!opt_integer(word, 0, 1000000, &n))
            FAIL(EK_USAGE, "%s:%d: '%s' is not a number of time steps; give one, or 0", path, at,
                 word);
        found->steps = (int)n;
    }
    if (next_word(in, &at, word) && (!opt_number(word, &found->dt) || found->dt < 0))
        FAIL(EK_USAGE, "%s:%d: '%s' is not a time step; give one, or 0", path, at, word);
    if (next_word(in, &at, word) && opt_integer(word, 0, 1000000, &n))
        found->timers |= n > 0;
    return EK_OK;
}

/* NPB_TIMER_FLAG is on, true, yes or a number other than 0; or there is a file timer.flag, as in
 * older releases. */
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
    FILE *in;
    TRY(open_if_there(path, &in));
    read.given = in;
    if (in)
        TRY(close_read(path, in, read_lines(in, path, &read)));
    *found = read;
    return EK_OK;
}

/* *threads = threads of `rank`, 0 if the line is about others; false: the line is malformed. */
static bool load_of(char *line, int rank, int *threads)
{
    long first, last, n, group;
    for (char *c = line; (c = strchr(c, ',')); *c = ' ')
        ;
    if (sscanf(line, "%ld : %ld %ld %ld", &first, &last, &n, &group) != 4) {
        if (sscanf(line, "%ld %ld %ld", &first, &n, &group) != 3)
            return false;
        last = first;
    }
    const bool within = (rank >= first && rank <= last) || (rank >= last && rank <= first);
    *threads = !within ? 0 : n > 1 ? (int)n : 1;
    return n <= 1000000;
}

static enum ek_status read_load(FILE *in, const char *path, int rank, int *threads)
{
    OWNED_MEMORY char *line = NULL;
    size_t room = 0;
    int said = 0;
    for (int number = 1, n; getline(&line, &room, in) >= 0; number++) {
        line[strcspn(line, "!\r\n")] = 0;
        if (*line == '#' || strspn(line, " \t") == strlen(line))
            continue;
        if (!load_of(line, rank, &n))
            FAIL(EK_USAGE,
                 "%s:%d: '%.100s' is neither 'rank threads group' nor 'rank:rank threads group'",
                 path, number, line);
        said = n ? n : said;
    }
    if (!said)
        FAIL(EK_USAGE, "%s: no line for rank %d; add '%d 1 1'", path, rank, rank);
    *threads = said;
    return EK_OK;
}

enum ek_status read_npb_threads(const char *solver, int rank, int *threads)
{
    char path[64];
    snprintf(path, sizeof path, "load%s.data", solver);
    FILE *in;
    TRY(open_if_there(path, &in));
    *threads = 0;
    return in ? close_read(path, in, read_load(in, path, rank, threads)) : EK_OK;
}
