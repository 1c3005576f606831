/* cli/rows.c: see rows.h. */
#include "cli/rows.h"

#include "cli/cli.h"
#include "cli/container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 1 << 17 /* longer ones are nobody's */ };

static int complain(const rows_file_t *file, const char *what) {
    return cli_complain(CLI_USAGE, "%s: %s: %s", file->path, what, strerror(errno));
}

/* ---- the header -------------------------------------------------------------------------------- */

static int read_all(const rows_file_t *file, char *bytes, size_t size, uint64_t at) {
    while (size) {
        const ssize_t got = pread(file->descriptor, bytes, size, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return complain(file, "cannot be read");
        if (got == 0) return cli_complain(CLI_USAGE, "%s: became shorter meanwhile", file->path);
        bytes += got, at += (uint64_t)got, size -= (size_t)got;
    }
    return CLI_OK;
}

static int read_header(rows_file_t *file, uint64_t size) {
    const size_t taken = size < HEADER ? (size_t)size : HEADER;
    attn_error_t error;
    char *bytes = malloc(taken + 1);
    if (!bytes) return cli_complain(CLI_USAGE, "%s: no memory for its header", file->path);
    int status = read_all(file, bytes, taken, 0);
    if (!status && npy_dict_read(bytes, taken, &file->dict, &file->data, &error))
        status = cli_complain(CLI_USAGE, "%s %s", file->path, error.message);
    free(bytes);
    if (status) return status;
    if (npy_check(&file->dict, &file->wanted, size - file->data, &file->item, &error))
        return cli_complain(CLI_USAGE, "%s %s", file->path, error.message);
    if (!file->dict.fortran_order || file->dict.rank < 2) return CLI_OK;
    return cli_complain(CLI_USAGE,
                        "%s: is in Fortran order, whose rows are all over the file: save it as "
                        "numpy.ascontiguousarray(x)",
                        file->path);
}

int rows_open(rows_file_t *file, const char *path, const npy_wanted_t *wanted) {
    struct stat info;
    *file = (rows_file_t){.path = path, .descriptor = -1, .wanted = *wanted};
    if (strcmp(path, "-") == 0 || container_is_named(path))
        return cli_complain(CLI_USAGE,
                            "%s: rows are read of .npy files, one array each, not of others", path);
    file->descriptor = open(path, O_RDONLY);
    if (file->descriptor < 0) return complain(file, "cannot be opened");
    if (fstat(file->descriptor, &info) != 0) return complain(file, "cannot be read");
    if (!S_ISREG(info.st_mode)) return cli_complain(CLI_USAGE, "%s: is no regular file", path);
    return read_header(file, (uint64_t)info.st_size);
}

void rows_close(rows_file_t *file) {
    if (file->path && file->descriptor >= 0) close(file->descriptor);
    *file = (rows_file_t){.descriptor = -1};
}

/* ---- rows ---------------------------------------------------------------------------------------- */

void rows_describe(const rows_file_t *file, array_t *array) {
    const npy_dict_t *dict = &file->dict;
    *array = (array_t){.rank = dict->rank};
    array->tensor.dtype = npy_dtype(dict, &file->wanted);
    for (int32_t axis = 0; axis < 4; axis++) {
        const int32_t own = axis - (4 - dict->rank);
        array->tensor.shape[axis] = own < 0 ? 1 : dict->shape[own];
    }
}

/* Rows of a head lie side by side, heads behind each other. */
static int read_ranges(const rows_file_t *file, const rows_range_t *ranges, const int64_t shape[4],
                       char *bytes) {
    const size_t row = (size_t)shape[AXIS_COLUMNS] * file->item;
    for (int64_t head = 0; head < shape[AXIS_BATCH] * shape[AXIS_HEADS]; head++)
        for (int r = 0; r < ROWS_RANGES; r++) {
            const uint64_t first = (uint64_t)(head * shape[AXIS_ROWS] + ranges[r].first);
            const size_t size = (size_t)ranges[r].count * row;
            if (size && read_all(file, bytes, size, file->data + first * row)) return CLI_USAGE;
            bytes += size;
        }
    return CLI_OK;
}

int rows_read(const rows_file_t *file, const rows_range_t ranges[ROWS_RANGES], array_t *array) {
    array_t whole;
    attn_error_t error;
    npy_dict_t taken = file->dict;
    const int64_t rows = ranges[0].count + ranges[1].count;
    *array = (array_t){.rank = file->dict.rank};
    if (!rows) return CLI_OK;
    rows_describe(file, &whole);
    const int64_t *shape = whole.tensor.shape;
    if (taken.rank > 1) taken.shape[taken.rank - 2] = rows;
    const size_t size = (size_t)(shape[AXIS_BATCH] * shape[AXIS_HEADS] * rows) *
                        (size_t)shape[AXIS_COLUMNS] * file->item;
    array->memory = malloc(size);
    if (!array->memory)
        return cli_complain(CLI_USAGE,
                            "%s: no memory for %lld of its rows, %.0f MB: take more ranks",
                            file->path, (long long)rows, (double)size / 1e6);
    if (read_ranges(file, ranges, shape, array->memory)) return CLI_USAGE;
    if (npy_take(array->memory, size, 0, &taken, &file->wanted, &array->tensor, &array->rank,
                 &error))
        return cli_complain(CLI_USAGE, "%s %s", file->path, error.message);
    return CLI_OK;
}
