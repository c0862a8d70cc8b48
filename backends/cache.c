/* backends/cache.c – one file per entry: a header with key, size and checksum, then the code. */
#include "backends/cache.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The checksum is there because drivers trust a binary: a torn file would crash them. No member
 * leaves padding, so that headers compare as bytes. */
struct header {
    char magic[8];
    struct cache_key key;
    uint64_t size, sum;
};

_Static_assert(sizeof(struct header) == 64, "a header has padding");

static const char magic[8] = "ekcode1";

/* FNV-1a with 128 bits (Fowler, Noll, Vo; offset basis and prime from their definition). */
static unsigned __int128 fnv(unsigned __int128 h, const void *data, size_t size)
{
    const unsigned __int128 prime = ((unsigned __int128)1 << 88) + 0x13b;
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ byte[i]) * prime;
    return h;
}

static unsigned __int128 fnv_basis(void)
{
    return (unsigned __int128)0x6c62272e07bb0142u << 64 | 0x62b821756295c58du;
}

struct cache_key cache_key(const char *const parts[], int n)
{
    unsigned __int128 h = fnv_basis();
    for (int i = 0; i < n; i++)
        h = fnv(h, parts[i], strlen(parts[i]) + 1); /* with the NUL, so that "ab","c" != "a","bc" */
    struct cache_key key = {""};
    snprintf(key.hex, sizeof key.hex, "%016llx%016llx", (unsigned long long)(h >> 64),
             (unsigned long long)h);
    return key;
}

static struct header header_of(const struct cache_key *key, const unsigned char *data, size_t size)
{
    struct header h = {.key = *key, .size = size, .sum = (uint64_t)fnv(fnv_basis(), data, size)};
    memcpy(h.magic, magic, sizeof magic);
    return h;
}

bool cache_on(void)
{
    const char *set = getenv("CU_KERNEL_CACHE");
    return !set || strcmp(set, "0");
}

/* Path of the entry, "" when there is no place for it; makes the folder if asked. */
static void entry_path(const struct cache_key *key, char path[PATH_MAX], bool make)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    path[0] = '\0';
    if (!cache_on())
        return;
    char base[PATH_MAX - 64];
    if (xdg && xdg[0] == '/')
        snprintf(base, sizeof base, "%s", xdg);
    else if (home && home[0] == '/')
        snprintf(base, sizeof base, "%s/.cache", home);
    else
        return;
    if (make) {
        mkdir(base, 0700);
        snprintf(path, PATH_MAX, "%s/evenkeel", base);
        mkdir(path, 0700);
    }
    snprintf(path, PATH_MAX, "%s/evenkeel/%s", base, key->hex);
}

/* Reads the entry behind an open file; the caller compares key and checksum. */
static unsigned char *read_entry(FILE *f, struct header *h)
{
    struct stat st;
    if (fread(h, sizeof *h, 1, f) != 1 || fstat(fileno(f), &st) ||
        (uint64_t)st.st_size != sizeof *h + h->size)
        return NULL;
    unsigned char *data = malloc(h->size + 1);
    if (data && fread(data, 1, h->size, f) == h->size)
        return data;
    free(data);
    return NULL;
}

bool cache_load(const struct cache_key *key, unsigned char **data, size_t *size)
{
    char path[PATH_MAX];
    entry_path(key, path, false);
    FILE *f = path[0] ? fopen(path, "rb") : NULL;
    if (!f)
        return false;
    struct header h = {0};
    unsigned char *found = read_entry(f, &h);
    fclose(f);
    if (!found)
        return false;
    struct header whole = header_of(key, found, h.size);
    if (memcmp(&h, &whole, sizeof h)) {
        free(found);
        return false;
    }
    *data = found;
    *size = h.size;
    return true;
}

void cache_save(const struct cache_key *key, const unsigned char *data, size_t size)
{
    char path[PATH_MAX], beside[PATH_MAX + 8];
    entry_path(key, path, true);
    if (!path[0])
        return;
    snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    int fd = mkstemp(beside);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f)
        return;
    struct header h = header_of(key, data, size);
    bool written = fwrite(&h, sizeof h, 1, f) == 1 && fwrite(data, 1, size, f) == size &&
                   !fflush(f) && !fsync(fd);
    if (fclose(f) || !written || rename(beside, path))
        unlink(beside);
}
