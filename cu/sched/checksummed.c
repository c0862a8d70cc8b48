/* cu/sched/checksummed.c – writes JSON files with a checksum, and refuses damaged ones. */
#include "cu/sched/checksummed.h"
#include "src/arena.h"
#include "src/cachedir.h"
#include "src/checksum.h"
#include "src/json.h"
#include "src/owned.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- places -----------------------------------------------------------------------------------*/
enum ek_status checksummed_folder(char *path, size_t room)
{
    const char *own = getenv("CU_PROFILE_DIR");
    if (own && *own)
        snprintf(path, room, "%s", own);
    else if (!cachedir_find("evenkeel", path, room))
        FAIL(EK_UNAVAILABLE, "profiles have no folder: set CU_PROFILE_DIR, XDG_CACHE_HOME or HOME");
    return EK_OK;
}

enum ek_status checksummed_path(const char *name, unsigned long long key, char *path)
{
    TRY(checksummed_folder(path, CHECKSUMMED_PATH));
    size_t used = strlen(path);
    if (snprintf(path + used, CHECKSUMMED_PATH - used, "/%s-%016llx.json", name, key) >=
        (int)(CHECKSUMMED_PATH - used))
        FAIL(EK_USAGE, "profiles: the folder's name is too long; set CU_PROFILE_DIR");
    return EK_OK;
}

/* ---- the sum ----------------------------------------------------------------------------------*/
/* Checksum of everything but the checksum itself: a changed digit shows. */
static void add_up(json_t *root, char sum[17])
{
    json_auto_t *without = json_copy(root);
    json_object_del(without, "check");
    OWNED_MEMORY char *text =
        json_dumps(without, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    snprintf(sum, 17, "%016" PRIx64, text ? checksum_of("sealed", text, strlen(text)) : 0);
}

enum ek_status checksummed_write(const char *path, json_t *root)
{
    char sum[17];
    add_up(root, sum);
    json_object_set_new(root, "check", json_string(sum));
    file_make_folders(path);
    return json_write_exact(path, root);
}

/* ---- reading ----------------------------------------------------------------------------------*/
/* Checks format, version and checksum. */
static enum ek_status check(const char *path, const char *format, int version, json_t *root)
{
    char sum[17];
    const char *found = json_string_value(json_object_get(root, "format"));
    const char *said = json_string_value(json_object_get(root, "check"));
    const int number = (int)json_integer_value(json_object_get(root, "version"));
    if (!found || strcmp(found, format))
        FAIL(EK_USAGE, "%s: is not an %s", path, format);
    if (number != version)
        FAIL(EK_USAGE, "%s: has version %d, this program reads %d; delete it to start afresh", path,
             number, version);
    add_up(root, sum);
    if (!said || strcmp(said, sum))
        FAIL(EK_USAGE, "%s: was changed after it was written; delete it to start afresh", path);
    return EK_OK;
}

enum ek_status checksummed_read(const char *path, const char *format, int version, json_t **root)
{
    json_error_t error;
    if (access(path, R_OK))
        FAIL(EK_USAGE, "%s: %s", path, strerror(errno));
    json_t *read = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!read)
        FAIL(EK_USAGE, "%s:%d: %s; delete it to start afresh", path, error.line, error.text);
    enum ek_status st = check(path, format, version, read);
    return HAND_OUT(st, read, root, json_decref);
}
