/* cli/files.c: see files.h. */
#include "cli/files.h"

#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- in -------------------------------------------------------------------------------------- */

/* Bytes that a regular file has; else -1. */
static intmax_t size_of(FILE *stream) {
    struct stat info;
    const int is_regular = fstat(fileno(stream), &info) == 0 && S_ISREG(info.st_mode);
    return is_regular && (uintmax_t)info.st_size < SIZE_MAX / 2 ? (intmax_t)info.st_size : -1;
}

/* All that the stream has, with room for one byte more, so that the end is seen without growing. */
static int read_stream(FILE *stream, const char *path, size_t most, char **bytes, size_t *size) {
    const intmax_t known = size_of(stream);
    size_t capacity = known >= 0 ? (size_t)known + 1 : 1 << 16, used = 0;
    if (known >= 0) most = SIZE_MAX;
    char *memory = malloc(capacity);
    while (memory) {
        used += fread(memory + used, 1, capacity - used, stream);
        if (used < capacity || used > most) break;
        char *larger = capacity <= SIZE_MAX / 2 ? realloc(memory, 2 * capacity) : NULL;
        if (!larger) free(memory);
        memory = larger;
        capacity *= 2;
    }
    if (!memory)
        return cli_complain(CLI_USAGE, "%s: no memory to read more than %zu bytes of it", path,
                            used);
    if (ferror(stream)) {
        free(memory);
        return cli_complain(CLI_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    }
    if (used > most) {
        free(memory);
        return cli_complain(CLI_USAGE, "%s: is no regular file, and has more than %zu bytes", path,
                            most);
    }
    *bytes = memory;
    *size = used;
    return CLI_OK;
}

static int read_standard_input(size_t most, char **bytes, size_t *size) {
    if (feof(stdin))
        return cli_complain(CLI_USAGE, "-: standard input has been read already: give a file");
    return read_stream(stdin, "standard input", most, bytes, size);
}

int file_read_bounded(const char *path, size_t most, char **bytes, size_t *size) {
    if (strcmp(path, "-") == 0) return read_standard_input(most, bytes, size);
    FILE *stream = fopen(path, "rb");
    if (!stream) return cli_complain(CLI_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    const int status = read_stream(stream, path, most, bytes, size);
    fclose(stream);
    return status;
}

int file_read(const char *path, char **bytes, size_t *size) {
    return file_read_bounded(path, SIZE_MAX, bytes, size);
}

/* ---- out ------------------------------------------------------------------------------------- */

/* A path that cannot be, and no memory, are the user's mistake; a device that fails is not. */
static int status_of(int code) {
    switch (code) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY:
    case ENAMETOOLONG:
    case ELOOP:
    case ENOMEM:
        return CLI_USAGE;
    default:
        return CLI_FAILED;
    }
}

int file_not_written(const char *path, int code) {
    return cli_complain(status_of(code), "%s: cannot be written: %s", path, strerror(code));
}

int file_write(int descriptor, const char *bytes, size_t size) {
    while (size > 0) {
        const size_t piece = size < 1u << 30 ? size : 1u << 30;
        const ssize_t written = write(descriptor, bytes, piece);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

int file_flush(int descriptor) {
    if (fsync(descriptor) == 0) return 0;
    return errno == EINVAL || errno == ENOSYS || errno == ENOTSUP ? 0 : errno;
}
