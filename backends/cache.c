/* backends/cache.c – one file per entry: a header with key, size and checksum, then the code. */
#include "backends/cache.h"
#include "src/cachedir.h"
#include "src/checksum.h"
#include "src/file.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The checksum protects drivers, which trust a binary and would crash on a damaged one. The header
 * has no padding, so that headers can be compared bytewise. */
struct header {
    char magic[8];
    struct cache_key key;
    uint64_t size, sum;
};

_Static_assert(sizeof(struct header) == 64, "a header has padding");

static const char magic[8] = "ekcode2";

struct cache_key cache_key(const char *const parts[], int n)
{
    struct checksum c;
    struct cache_key key = {""};
    checksum_begin(&c, magic);
    for (int i = 0; i < n; i++)
        checksum_add_text(&c, parts[i]);
    checksum_hex(&c, key.hex);
    return key;
}

static struct header header_of(const struct cache_key *key, const void *data, size_t size)
{
    struct header h = {.key = *key, .size = size, .sum = checksum_of(key->hex, data, size)};
    memcpy(h.magic, magic, sizeof magic);
    return h;
}

bool cache_on(void)
{
    const char *set = getenv("CU_KERNEL_CACHE");
    return !set || strcmp(set, "0");
}

/* Path of the entry; false if there is no folder for it. */
static bool entry_path(const struct cache_key *key, char path[PATH_MAX])
{
    char folder[PATH_MAX - 64];
    if (!cache_on() || !cachedir_find("evenkeel", folder, sizeof folder))
        return false;
    snprintf(path, PATH_MAX, "%s/%s", folder, key->hex);
    return true;
}

static bool is_whole(const struct cache_key *key, const char *bytes, size_t n)
{
    if (n < sizeof(struct header))
        return false;
    const struct header whole = header_of(key, bytes + sizeof whole, n - sizeof whole);
    return !memcmp(bytes, &whole, sizeof whole);
}

static bool load(const char *path, const struct cache_key *key, unsigned char **data, size_t *size)
{
    char *bytes;
    size_t n;
    if (access(path, R_OK) || file_read(path, &bytes, &n))
        return false;
    if (!is_whole(key, bytes, n)) {
        free(bytes);
        return false;
    }
    *size = n - sizeof(struct header);
    *data = memmove(bytes, bytes + sizeof(struct header), *size + 1);
    return true;
}

bool cache_load(const struct cache_key *key, unsigned char **data, size_t *size)
{
    char path[PATH_MAX];
    return entry_path(key, path) && load(path, key, data, size);
}

bool cache_load_from(const char *folder, const struct cache_key *key, unsigned char **data,
                     size_t *size)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, key->hex) < (int)sizeof path &&
           load(path, key, data, size);
}

static enum ek_status save(const char *path, const struct header *h, const unsigned char *data)
{
    struct file *f;
    TRY(file_create(path, &f));
    enum ek_status st = file_write(f, h, sizeof *h);
    THEN(st, file_write(f, data, h->size));
    return file_end(f, st);
}

void cache_save(const struct cache_key *key, const unsigned char *data, size_t size)
{
    char path[PATH_MAX];
    if (!entry_path(key, path))
        return;
    const struct header h = header_of(key, data, size);
    status_mute(+1); /* an entry that is lost is compiled again */
    file_make_folders(path);
    save(path, &h, data);
    status_mute(-1);
}

enum ek_status cache_save_to(const char *folder, const struct cache_key *key,
                             const unsigned char *data, size_t size)
{
    char path[PATH_MAX];
    const struct header h = header_of(key, data, size);
    if (snprintf(path, sizeof path, "%s/%s", folder, key->hex) >= (int)sizeof path)
        FAIL(EK_USAGE, "%.60s…: the folder's name is too long", folder);
    file_make_folders(path);
    return save(path, &h, data);
}
