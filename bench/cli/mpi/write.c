/* cli/mpi/write.c: see write.h. The first rank makes the files, each writes its rows, the first puts them in place. */
#include "cli/mpi/write.h"

#include "cli/cli.h"
#include "cli/container.h"
#include "cli/files.h"
#include "cli/mpi/settle.h"
#include "cli/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static int not_written(const write_file_t *file, int code) {
    if (code == EISDIR)
        return cli_complain(CLI_USAGE, "%s: cannot be written: it names a folder", file->path);
    return file_not_written(file->path, code);
}

static size_t row_size(const write_file_t *file) {
    return (size_t)file->shape[AXIS_COLUMNS] * npy_element_size(file->dtype);
}

static size_t header_of(const write_file_t *file, char header[NPY_HEADER_SIZE]) {
    int64_t shape[4];
    for (int axis = 3; axis >= 0; axis--)
        shape[axis] = axis >= file->left_out ? file->shape[axis - file->left_out] : 1;
    return npy_header(header, file->dtype, file->rank, shape);
}

/* ---- the first rank ------------------------------------------------------------------------------ */

static int check_place(write_file_t *files, int number) {
    write_file_t *file = &files[number];
    if (container_is_named(file->path))
        return cli_complain(CLI_USAGE, "%s: arrays are written as .npy files, one each",
                            file->path);
    const int code = place_find(&file->place, file->path);
    if (code) return not_written(file, code);
    if (file->place.kind == PLACE_STREAM || file->place.kind == PLACE_STDOUT)
        return cli_complain(CLI_USAGE, "%s: ranks write their rows to a file, not to a pipe",
                            file->path);
    if (file->place.kind == PLACE_FILE && platform_is_bound(&file->place.info))
        return cli_complain(CLI_USAGE,
                            "%s: has other names (hard links) or another owner, so that no other "
                            "file can take its place: name a new one",
                            file->path);
    for (int i = 0; i < number; i++)
        if (place_is_same(&file->place, &files[i].place))
            return cli_complain(CLI_USAGE, "%s is named for two outputs", file->path);
    return CLI_OK;
}

/* Header and room: what other ranks write cannot find the disk full. */
static int make(write_file_t *file) {
    char header[NPY_HEADER_SIZE];
    const size_t head = header_of(file, header);
    const size_t size =
        head + (size_t)(file->shape[0] * file->shape[1] * file->shape[2]) * row_size(file);
    int code = beside_open(&file->beside, &file->place);
    if (!code) code = file_write(file->beside.descriptor, header, head);
    if (!code && ftruncate(file->beside.descriptor, (off_t)size) != 0) code = errno;
    if (!code) code = platform_reserve(file->beside.descriptor, size);
    return code ? not_written(file, code) : CLI_OK;
}

static int make_all(write_file_t *files, int count) {
    int status = CLI_OK;
    beside_begin();
    for (int i = 0; !status && i < count; i++) status = check_place(files, i);
    for (int i = 0; !status && i < count; i++) status = make(&files[i]);
    return status;
}

static int put_all(write_file_t *files, int count) {
    int code = 0;
    for (int i = 0; i < count; i++)
        if ((code = beside_finish(&files[i].beside, &files[i].place)))
            return not_written(&files[i], code);
    for (int i = 0; i < count; i++)
        if ((code = beside_put(&files[i].beside, &files[i].place)))
            return not_written(&files[i], code);
    return CLI_OK;
}

/* ---- every rank ------------------------------------------------------------------------------------ */

static int write_at(int descriptor, const char *bytes, size_t size, size_t at) {
    while (size) {
        const ssize_t done = pwrite(descriptor, bytes, size, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        bytes += done, at += (size_t)done, size -= (size_t)done;
    }
    return 0;
}

static int write_rows(const write_file_t *file, int descriptor) {
    const rows_range_t *ranges = file->ranges;
    char header[NPY_HEADER_SIZE];
    const size_t head = header_of(file, header), row = row_size(file);
    const char *bytes = file->rows.data;
    for (int64_t h = 0; h < file->shape[0] * file->shape[1]; h++)
        for (int r = 0; r < ROWS_RANGES; r++) {
            const size_t at = (size_t)(h * file->shape[2] + ranges[r].first) * row;
            const size_t size = (size_t)ranges[r].count * row;
            const int code = size ? write_at(descriptor, bytes, size, head + at) : 0;
            if (code) return code;
            bytes += size;
        }
    return 0;
}

/* `path`: that of the first rank's file. */
static int write_own(const write_file_t *file, const char *path) {
    if (!file->rows.data) return CLI_OK;
    const int descriptor = open(path, O_WRONLY);
    if (descriptor < 0) return not_written(file, errno);
    int code = write_rows(file, descriptor);
    if (!code) code = file_flush(descriptor);
    if (close(descriptor) != 0 && !code) code = errno;
    return code ? not_written(file, code) : CLI_OK;
}

int write_files(write_file_t *files, int count) {
    const int is_first = settle_rank() == 0;
    int status = settle(is_first ? make_all(files, count) : CLI_OK);
    for (int i = 0; !status && i < count; i++) {
        beside_t there = files[i].beside;
        MPI_Bcast(there.path, (int)sizeof there.path, MPI_CHAR, 0, MPI_COMM_WORLD);
        status = settle(write_own(&files[i], there.path));
    }
    if (!status) status = settle(is_first ? put_all(files, count) : CLI_OK);
    for (int i = 0; is_first && i < count; i++) beside_drop(&files[i].beside);
    return status;
}
