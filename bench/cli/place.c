/* cli/place.c: see place.h. */
#include "cli/place.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

static int is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

const char *place_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Follows the symbolic links that `path` itself is, one after the other; 0, or an errno. */
static int follow(char path[PLACE_PATH]) {
    for (int links = 0; links < MOST_LINKS; links++) {
        char target[PLACE_PATH];
        const ssize_t length = readlink(path, target, sizeof target);
        if (length < 0) return 0; /* no link, or nothing */
        const size_t folder = target[0] == '/' ? 0 : (size_t)(place_name(path) - path);
        if (folder + (size_t)length >= PLACE_PATH) return ENAMETOOLONG;
        memcpy(path + folder, target, (size_t)length);
        path[folder + (size_t)length] = 0;
    }
    return ELOOP;
}

/* The folder in which a file of this path is to be. */
static int stat_folder(const char *path, struct stat *info) {
    char folder[PLACE_PATH];
    const size_t length = (size_t)(place_name(path) - path);
    memcpy(folder, path, length);
    strcpy(folder + length, ".");
    return stat(folder, info) == 0 ? 0 : errno;
}

static int find_there(place_t *place, const char *path) {
    struct stat out, followed;
    if (S_ISDIR(place->info.st_mode)) return EISDIR;
    if (!S_ISCHR(place->info.st_mode) && fstat(STDOUT_FILENO, &out) == 0 &&
        is_same_file(&place->info, &out))
        place->kind = PLACE_STDOUT;
    else if (!S_ISREG(place->info.st_mode))
        place->kind = PLACE_STREAM;
    else if (stat(place->path, &followed) == 0 && is_same_file(&place->info, &followed))
        place->kind = PLACE_FILE;
    else /* a link that has no text to follow, as those in /proc to deleted files */
        place->kind = PLACE_STREAM;
    if (place->kind == PLACE_STREAM) strcpy(place->path, path);
    return 0;
}

int place_find(place_t *place, const char *path) {
    const size_t length = strlen(path);
    place->kind = PLACE_STDOUT;
    if (strcmp(path, "-") == 0) return 0;
    if (length == 0) return ENOENT;
    if (length >= PLACE_PATH - 1) return ENAMETOOLONG;
    memcpy(place->path, path, length + 1);
    if (path[length - 1] == '/') return EISDIR;
    const int code = follow(place->path);
    if (code) return code;
    if (stat(path, &place->info) == 0) return find_there(place, path);
    if (errno != ENOENT) return errno;
    place->kind = PLACE_FREE;
    return stat_folder(place->path, &place->info);
}

int place_is_same(const place_t *a, const place_t *b) {
    if (a->kind != b->kind) return 0;
    if (a->kind == PLACE_STDOUT) return 1;
    if (!is_same_file(&a->info, &b->info) || S_ISCHR(a->info.st_mode)) return 0;
    return a->kind != PLACE_FREE || strcmp(place_name(a->path), place_name(b->path)) == 0;
}

int place_is_stdout(const char *path) {
    place_t place;
    return path && place_find(&place, path) == 0 && place.kind == PLACE_STDOUT;
}
