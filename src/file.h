/* src/file.h – whole files: read in one go; written under a temporary name, synced, then renamed,
 * so that no reader, crash or full disk ever leaves half a file. Where the file system supports
 * unnamed files, a killed process leaves nothing behind. Nothing else in the tree replaces files.
 */
#ifndef SRC_FILE_H
#define SRC_FILE_H

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- writing ----------------------------------------------------------------------------------*/

/* A file being written. One thread at a time. */
struct file;

/* Begins a file that will replace `path` ("-" = standard output). Standard output, pipes and
 * devices are written directly. If `path` is a symbolic link, its target is replaced; the new file
 * keeps the old one's permissions. EK_USAGE: `path` is an input of this process, see file_input();
 * EK_UNAVAILABLE: it cannot be written. */
enum ek_status file_create(const char *path, struct file **f);
/* The stream to write to. No need to check its errors: file_finish() does. */
FILE *file_stream(struct file *f);
/* Like fwrite() to the stream. EK_UNAVAILABLE: the disk is full. */
enum ek_status file_write(struct file *f, const void *bytes, size_t n);
/* Syncs the file, moves it into place and syncs the folder; always frees f. EK_UNAVAILABLE:
 * something could not be written; the old file is untouched. */
enum ek_status file_finish(struct file *f);
/* Discards what was written; accepts NULL. */
void file_abandon(struct file *f);
/* Finishes the file if `st`, the status of writing it, is EK_OK; otherwise abandons it. Returns the
 * first failure. */
enum ek_status file_end(struct file *f, enum ek_status st);

/* Writes a whole file: `n` bytes, or a string without its NUL. */
enum ek_status file_replace(const char *path, const void *bytes, size_t n);
enum ek_status file_replace_text(const char *path, const char *text);

/* file_create() of a pipe waits for its reader until stopped() is true; NULL: for ever. Before
 * threads are started. */
void file_wait_until(bool (*stopped)(void));

/* Checks that file_create() will succeed, before hours of work. NULL: no file is wanted. */
enum ek_status file_try(const char *path);

/* fsync(), but a file system that does not support it is no failure; returns 0 or the errno. */
int file_sync(int fd);

/* Renames `beside`, which its writers have synced, to `path` and syncs the folder: for files
 * written by several processes together. One process calls it. If that fails, `beside` is removed.
 */
enum ek_status file_place(const char *beside, const char *path);

/* Claims `path` for this process by locking "`path`.lock", which file_unlock() removes; the lock of
 * a process that dies is released. *lock: pass it to file_unlock(). EK_USAGE: another process holds
 * it (the message says which); EK_UNAVAILABLE: no lock file can be made there. */
enum ek_status file_lock(const char *path, int *lock);
void file_unlock(const char *path, int lock);

/* Removes what killed processes were writing: "NAME.part-…" for every NAME that begins with
 * `start`, a path. Those that a living process is writing by file_create() stay, also of other
 * nodes. */
void file_clean(const char *start);

/* Whether `path` is a regular file, existing or not: neither "-" nor a pipe nor a device. */
bool file_replaceable(const char *path);

/* Creates the folders above `path`. Failures show when the file is written. */
void file_make_folders(const char *path);

/* ---- reading ----------------------------------------------------------------------------------*/

/* Reads the whole file ("-" = standard input) into *bytes [*n], followed by a NUL; the caller frees
 * it. file_not_opened(); EK_UNAVAILABLE: read error or out of memory. */
enum ek_status file_read(const char *path, char **bytes, size_t *n);
/* The same for a text; skips a byte-order mark. EK_USAGE also if it contains a zero byte (the
 * message gives the line) or exceeds 1 GiB, at which reading stops: devices never end. */
enum ek_status file_read_text(const char *path, char **text);
/* Start of the text, after its byte-order mark if it has one. */
char *file_text_start(char *text);

/* Reports that an input could not be opened: EK_USAGE, or EK_UNAVAILABLE if `why` (errno) is the
 * machine's fault: no more descriptors or memory, or a failing device. */
enum ek_status file_not_opened(const char *path, int why);

/* Whether the path ends in `end`, such as ".csv", after at least one more letter. */
bool file_ends_in(const char *path, const char *end);

/* Resolves `name` as written in the file at `path`: relative to that file's folder unless absolute;
 * an empty name stays empty. EK_USAGE: longer than `room`. */
enum ek_status file_beside(const char *path, const char *name, char *to, size_t room);

/* Marks the file as an input of this process, so that file_create() never overwrites it, under
 * whatever name or link. Done for every OPT_FILE option. Missing files are ignored. Any thread. */
void file_input(const char *path);

#endif
