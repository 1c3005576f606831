/* cli/output.c: see output.h. */
#include "cli/output.h"

#include "cli/cli.h"
#include "cli/container.h"
#include "cli/files.h"
#include "cli/inplace.h"
#include "cli/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

typedef struct output_file output_file_t;

void output_add(output_t *output, const char *path, const void *head, size_t head_size,
                const void *body, size_t body_size) {
    if (output->count == BESIDE_MOST) return;
    output_file_t *file = &output->files[output->count++];
    file->path = path;
    file->beside.path[0] = 0;
    file->head = head;
    file->head_size = head_size;
    file->body = body;
    file->body_size = body_size;
}

static int not_written(const output_file_t *file, int code) {
    if (code == EISDIR)
        return cli_complain(CLI_USAGE, "%s: cannot be written: it names a folder", file->path);
    return file_not_written(strcmp(file->path, "-") ? file->path : "standard output", code);
}

/* ---- where to -------------------------------------------------------------------------------- */

/* What begins with a header is an array. */
static int check_name(const output_file_t *file) {
    if (!file->head || !container_is_named(file->path)) return CLI_OK;
    return cli_complain(CLI_USAGE,
                        "%s: arrays are written as .npy files, one each: give a name that ends in "
                        ".npy",
                        file->path);
}

static int find(output_t *output) {
    for (int i = 0; i < output->count; i++) {
        output_file_t *file = &output->files[i];
        if (check_name(file)) return CLI_USAGE;
        const int code = place_find(&file->place, file->path);
        if (code) return not_written(file, code);
        for (int j = 0; j < i; j++)
            if (place_is_same(&file->place, &output->files[j].place))
                return cli_complain(
                    CLI_USAGE, "%s is named for two outputs%s%s", file->path,
                    strcmp(file->path, output->files[j].path) ? ", also as " : "",
                    strcmp(file->path, output->files[j].path) ? output->files[j].path : "");
    }
    return CLI_OK;
}

int output_spare(const char *path, const char *kept, const char *what) {
    place_t to, from;
    if (!path || !kept) return CLI_OK;
    const char *source = strcmp(kept, "-") ? kept : "/dev/stdin"; /* "-" is standard output here */
    if (place_find(&from, source) || !S_ISREG(from.info.st_mode) || place_find(&to, path) ||
        !place_is_same(&from, &to))
        return CLI_OK;
    return cli_complain(CLI_USAGE, "%s: is %s: what is written needs a name of its own",
                        strcmp(path, "-") ? path : kept, what);
}

/* ---- one file -------------------------------------------------------------------------------- */

static int is_stream(const output_file_t *file) {
    return file->place.kind == PLACE_STREAM || file->place.kind == PLACE_STDOUT;
}

/* Whether it is overwritten where it is, as far as can be told beforehand. */
static int stays(const output_file_t *file) {
    return file->place.kind == PLACE_FILE &&
           (!platform_has_modes() || platform_is_bound(&file->place.info));
}

static inplace_t content_of(const output_file_t *file) {
    return (inplace_t){file->head, file->head_size, file->body, file->body_size};
}

static int write_parts(int descriptor, const output_file_t *file) {
    const int code = file_write(descriptor, file->head, file->head_size);
    return code ? code : file_write(descriptor, file->body, file->body_size);
}

static int write_stream(const output_file_t *file) {
    if (file->place.kind == PLACE_STDOUT) return write_parts(STDOUT_FILENO, file);
    const int descriptor = open(file->place.path, O_WRONLY);
    if (descriptor < 0) return errno;
    int code = write_parts(descriptor, file);
    if (close(descriptor) != 0 && !code) code = errno;
    return code;
}

/* A file that this user may not write to is not replaced either, though its folder would let them. */
static int check_writable(const output_file_t *file) {
    if (file->place.kind != PLACE_FILE) return 0;
    const int descriptor = open(file->place.path, O_WRONLY);
    return descriptor < 0 || close(descriptor) != 0 ? errno : 0;
}

/*
 * Whether the folder, or what is mounted there, is why a file cannot be replaced: it can still be
 * overwritten.
 */
static int is_folders_fault(const output_file_t *file, int code) {
    return file->place.kind == PLACE_FILE &&
           (code == EACCES || code == EPERM || code == EBUSY || code == EROFS);
}

/* ---- its stages ------------------------------------------------------------------------------ */

static int stage_beside(output_file_t *file) {
    int code = beside_open(&file->beside, &file->place);
    if (is_folders_fault(file, code)) return 0;
    if (!code) code = write_parts(file->beside.descriptor, file);
    if (code) return code;
    return stays(file) ? file_flush(file->beside.descriptor)
                       : beside_finish(&file->beside, &file->place);
}

/* All of it is on the disk beside it, or has room there. */
static int stage(output_file_t *file) {
    const inplace_t content = content_of(file);
    int code = check_writable(file);
    if (code || is_stream(file)) return code ? not_written(file, code) : CLI_OK;
    code = stage_beside(file);
    if (!code && (stays(file) || !file->beside.path[0]))
        code = inplace_reserve(file->place.path, &content);
    return code ? not_written(file, code) : CLI_OK;
}

/* The copy beside is all there is of what a failed device has cut off. */
static int not_overwritten(output_file_t *file, int code, int is_damaged) {
    if (!is_damaged || !file->beside.path[0]) return not_written(file, code);
    cli_complain(CLI_FAILED, "%s: is damaged: %s; what it was to hold is in %s", file->path,
                 strerror(code), file->beside.path);
    beside_leave(&file->beside);
    return CLI_FAILED;
}

static int put(output_file_t *file) {
    const inplace_t content = content_of(file);
    int is_damaged = 0, code = 0;
    if (is_stream(file)) return CLI_OK;
    if (file->beside.path[0] && !stays(file)) {
        code = beside_put(&file->beside, &file->place);
        if (!is_folders_fault(file, code)) return code ? not_written(file, code) : CLI_OK;
    }
    code = inplace_write(file->place.path, &content, &is_damaged);
    return code ? not_overwritten(file, code, is_damaged) : CLI_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* What may wait, or be cut off, comes before anything is replaced. */
int output_write(output_t *output) {
    int status = find(output), code = 0;
    beside_begin();
    for (int i = 0; !status && i < output->count; i++) status = stage(&output->files[i]);
    for (int i = 0; !status && i < output->count; i++)
        if (is_stream(&output->files[i]) && (code = write_stream(&output->files[i])))
            status = not_written(&output->files[i], code);
    for (int i = 0; !status && i < output->count; i++) status = put(&output->files[i]);
    for (int i = 0; i < output->count; i++) beside_drop(&output->files[i].beside);
    output->count = 0;
    return status;
}
