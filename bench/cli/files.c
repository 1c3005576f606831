/* cli/files.c: see files.h. */
#include "cli/files.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- in -------------------------------------------------------------------------------------- */

/* All that the stream has, with room for one byte more, so that the end is seen without growing. */
static int read_stream(FILE *stream, const char *path, size_t hint, char **bytes, size_t *size) {
    size_t capacity = hint + 1, used = 0;
    char *memory = malloc(capacity);
    while (memory) {
        used += fread(memory + used, 1, capacity - used, stream);
        if (used < capacity) break;
        char *larger = capacity <= SIZE_MAX / 2 ? realloc(memory, 2 * capacity) : NULL;
        if (!larger) free(memory);
        memory = larger;
        capacity *= 2;
    }
    if (!memory)
        return cli_complain(CLI_USAGE, "%s: no memory for its %zu bytes or more", path, used);
    if (ferror(stream)) {
        free(memory);
        return cli_complain(CLI_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    }
    *bytes = memory;
    *size = used;
    return CLI_OK;
}

int file_read(const char *path, char **bytes, size_t *size) {
    if (strcmp(path, "-") == 0) return read_stream(stdin, "standard input", 1 << 16, bytes, size);
    FILE *stream = fopen(path, "rb");
    if (!stream) return cli_complain(CLI_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    struct stat info;
    size_t hint = 1 << 16;
    if (fstat(fileno(stream), &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= 0 &&
        (uintmax_t)info.st_size < SIZE_MAX / 2)
        hint = (size_t)info.st_size;
    const int status = read_stream(stream, path, hint, bytes, size);
    fclose(stream);
    return status;
}

/* ---- out ------------------------------------------------------------------------------------- */

typedef struct output_file output_file_t;

void output_add(output_t *output, const char *path, const void *head, size_t head_size,
                const void *body, size_t body_size) {
    if (output->count == OUTPUT_FILES) return;
    output->files[output->count++] = (output_file_t){
        .path = path, .head = head, .head_size = head_size, .body = body, .body_size = body_size};
}

/* A path that cannot be is the user's mistake; a device that fails is not. */
static int status_of(int code) {
    switch (code) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ENAMETOOLONG:
    case ELOOP:
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

static int write_and_close(int descriptor, const output_file_t *file) {
    int code = file_write(descriptor, file->head, file->head_size);
    if (!code) code = file_write(descriptor, file->body, file->body_size);
    if (close(descriptor) != 0 && !code) code = errno;
    return code;
}

/* Creates "<folder>/.attn-<number>" under the first number that is free; -1 and errno. */
static int create_temporary(output_file_t *file) {
    const char *slash = strrchr(file->path, '/');
    const size_t folder = slash ? (size_t)(slash - file->path) + 1 : 0;
    file->temporary = malloc(folder + 24);
    if (!file->temporary) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(file->temporary, file->path, folder);
    int descriptor = -1;
    for (int number = 0; number < 10000 && descriptor < 0; number++) {
        snprintf(file->temporary + folder, 24, ".attn-%d", number);
        descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (descriptor < 0 && errno != EEXIST) break;
    }
    if (descriptor < 0) {
        const int code = errno;
        free(file->temporary);
        file->temporary = NULL;
        errno = code;
    }
    return descriptor;
}

/* 1: a regular file, or none yet; 0: something else to write into; -1: no place for a file. */
static int is_replaceable(const char *path) {
    struct stat info;
    const size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/') return -1;
    if (stat(path, &info) != 0) return 1;
    return S_ISDIR(info.st_mode) ? -1 : S_ISREG(info.st_mode);
}

static int stage(output_file_t *file) {
    const int replaceable = is_replaceable(file->path);
    if (replaceable < 0)
        return cli_complain(CLI_USAGE, "%s: cannot be written: it names a folder", file->path);
    if (!replaceable) return CLI_OK;
    const int descriptor = create_temporary(file);
    if (descriptor < 0) return file_not_written(file->path, errno);
    const int code = write_and_close(descriptor, file);
    return code ? file_not_written(file->path, code) : CLI_OK;
}

static int put_in_place(output_file_t *file) {
    if (!file->temporary) {
        const int descriptor = open(file->path, O_WRONLY);
        const int code = descriptor < 0 ? errno : write_and_close(descriptor, file);
        return code ? file_not_written(file->path, code) : CLI_OK;
    }
    if (rename(file->temporary, file->path) != 0) return file_not_written(file->path, errno);
    free(file->temporary);
    file->temporary = NULL;
    return CLI_OK;
}

static int check_distinct(const output_t *output) {
    for (int i = 0; i < output->count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(output->files[i].path, output->files[j].path) == 0)
                return cli_complain(CLI_USAGE, "%s: is named for two outputs",
                                    output->files[i].path);
    return CLI_OK;
}

int output_write(output_t *output) {
    int status = check_distinct(output);
    for (int i = 0; !status && i < output->count; i++) status = stage(&output->files[i]);
    for (int i = 0; !status && i < output->count; i++) status = put_in_place(&output->files[i]);
    for (int i = 0; i < output->count; i++) {
        if (output->files[i].temporary) unlink(output->files[i].temporary);
        free(output->files[i].temporary);
    }
    output->count = 0;
    return status;
}
