/* cli/beside.c: see beside.h. */
#include "cli/beside.h"

#include "cli/files.h"
#include "cli/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SWEPT = 16, /* names that are looked at for what a killed run left */
    NAMES = 10000,
};

/* ---- when a signal ends the program ---------------------------------------------------------- */

/* Those that are there now. A file is listed after it was made and unlisted before it is renamed:
 * a signal in between leaves it to the next run, and never takes what is another run's by then. */
static const char *volatile listed[BESIDE_MOST];

static void remove_listed(void) {
    for (int i = 0; i < BESIDE_MOST; i++) {
        const char *path = listed[i];
        if (path) unlink(path);
    }
}

static void replace_listed(const char *from, const char *to) {
    for (int i = 0; i < BESIDE_MOST; i++)
        if (listed[i] == from) {
            listed[i] = to;
            return;
        }
}

void beside_begin(void) { platform_before_end(remove_listed); }

/* ---- names ----------------------------------------------------------------------------------- */

/* FNV-1a (RFC 9923): names stay short, and of one length, whatever the target is called. */
static uint64_t hash(const char *text) {
    uint64_t value = 0xCBF29CE484222325u;
    for (; *text; text++) value = (value ^ (unsigned char)*text) * 0x100000001B3u;
    return value;
}

static void name(beside_t *beside, const place_t *place, int number) {
    const char *target = place_name(place->path);
    snprintf(beside->path, sizeof beside->path, "%.*s.attn-%016llx-%d", (int)(target - place->path),
             place->path, (unsigned long long)hash(target), number);
}

static int is_at(int descriptor, const char *path) {
    struct stat opened, there;
    return fstat(descriptor, &opened) == 0 && lstat(path, &there) == 0 && S_ISREG(there.st_mode) &&
           opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

/* A file without a lock belongs to no running process. */
static void sweep(const char *path) {
    const int descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return;
    if (is_at(descriptor, path) && platform_lock(descriptor) == PLATFORM_LOCKED &&
        is_at(descriptor, path))
        unlink(path);
    close(descriptor);
}

/* ---- one file -------------------------------------------------------------------------------- */

/* Makes the file beside->path; -1 and errno, EEXIST also when another run swept it meanwhile. */
static int create(const beside_t *beside, mode_t mode) {
    const int descriptor = open(beside->path, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (descriptor < 0) return -1;
    if (platform_lock(descriptor) != PLATFORM_HELD && is_at(descriptor, beside->path))
        return descriptor;
    close(descriptor);
    errno = EEXIST;
    return -1;
}

int beside_open(beside_t *beside, const place_t *place) {
    const mode_t mode = place->kind == PLACE_FILE ? 0600 : 0666;
    for (int number = 0; number < SWEPT; number++) {
        name(beside, place, number);
        sweep(beside->path);
    }
    beside->descriptor = -1;
    for (int number = 0; number < NAMES && beside->descriptor < 0; number++) {
        name(beside, place, number);
        beside->descriptor = create(beside, mode);
        if (beside->descriptor < 0 && errno != EEXIST) break;
    }
    if (beside->descriptor < 0) {
        beside->path[0] = 0;
        return errno;
    }
    replace_listed(NULL, beside->path);
    return 0;
}

int beside_finish(beside_t *beside, const place_t *place) {
    const int code =
        place->kind == PLACE_FILE ? platform_dress(beside->descriptor, &place->info) : 0;
    return code ? code : file_flush(beside->descriptor);
}

/* The folder has the new name on the disk, too. The file is in its place: there is no way back. */
static void flush_folder(const char *path) {
    char folder[PLACE_PATH + 1];
    snprintf(folder, sizeof folder, "%.*s.", (int)(place_name(path) - path), path);
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY);
    if (descriptor < 0) return;
    file_flush(descriptor);
    close(descriptor);
}

int beside_put(beside_t *beside, const place_t *place) {
    replace_listed(beside->path, NULL);
    if (rename(beside->path, place->path) != 0) return errno;
    beside->path[0] = 0;
    close(beside->descriptor);
    flush_folder(place->path);
    return 0;
}

void beside_leave(beside_t *beside) {
    if (!beside->path[0]) return;
    replace_listed(beside->path, NULL);
    close(beside->descriptor);
    beside->path[0] = 0;
}

void beside_drop(beside_t *beside) {
    if (!beside->path[0]) return;
    replace_listed(beside->path, NULL);
    unlink(beside->path);
    beside_leave(beside);
}
