/* cli/csr.c: see csr.h. */
#include "cli/csr.h"

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/container.h"
#include "cli/files.h"
#include "cli/npz.h"
#include "sketching/x.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const npy_wanted_t elements = {NPY_FLOAT32 | NPY_FLOAT64, 1, 1, "1 (elements)", 1};
static const npy_wanted_t columns = {NPY_INTEGERS, 1, 1, "1 (elements)", 1};
static const npy_wanted_t numbers = {NPY_INTEGERS, 1, 1, "1", 0};
static const char *const inputs[] = {"x_indptr", "x_indices", "x_data"}; /* of a backend */

/* What is no regular file can be read once, and has to have a name that tells. */
int csr_is_archive(const char *path) {
    const size_t length = strlen(path);
    struct stat info;
    char bytes[NPZ_MARK];
    if (length > 4 && strcasecmp(path + length - 4, ".npz") == 0) return 1;
    FILE *stream = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    if (!stream) return 0;
    const size_t size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    return npz_is_one(bytes, size);
}

int csr_is_packed(const char *bytes, size_t size) {
    const npz_t archive = {"", (const unsigned char *)bytes, size};
    return npz_has(&archive, "indptr.npy") || npz_has(&archive, "format.npy");
}

static const char *name_of(const csr_t *csr) { return csr->archive ? csr->archive : csr->data; }

int csr_check(const csr_t *csr) {
    if (!csr->indptr != !csr->indices)
        return cli_complain(CLI_USAGE, "--x-indptr and --x-indices come together");
    if (csr->archive && csr->indptr)
        return cli_complain(CLI_USAGE, "%s has its --x-indptr and --x-indices in it", csr->archive);
    if (csr->columns && !csr->indptr)
        return cli_complain(CLI_USAGE, "--columns is for --x-indptr and --x-indices");
    return CLI_OK;
}

const char *csr_given(const option_texts_t *given) {
    size_t length;
    for (int i = 0; i < given->count; i++)
        for (int j = 0; j < 3; j++)
            if (arguments_split(given->items[i], &length) &&
                arguments_is(given->items[i], length, inputs[j]))
                return inputs[j];
    return NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* An array of an archive or, where that is NULL, of a file. */
static int read_array(const npz_t *archive, const char *name, const npy_wanted_t *wanted,
                      char **memory, attn_tensor_t *tensor) {
    size_t size;
    int32_t rank;
    attn_error_t error;
    if (!archive) {
        array_t array = {.memory = NULL};
        const int status = container_load(&array, name, wanted);
        *memory = array.memory;
        *tensor = array.tensor;
        return status;
    }
    const int status = npz_file(archive, name, memory, &size);
    if (status) return status;
    if (npy_read(*memory, size, wanted, tensor, &rank, &error))
        return cli_complain(CLI_USAGE, "%s: %s %s", archive->path, name, error.message);
    return CLI_OK;
}

static int64_t whole(const attn_tensor_t *tensor, int64_t at) {
    return tensor->dtype == NPY_I32 ? ((const int32_t *)tensor->data)[at]
                                    : ((const int64_t *)tensor->data)[at];
}

static int64_t *whole_list(const attn_tensor_t *tensor) {
    const int64_t count = tensor->shape[3];
    int64_t *list = malloc(((size_t)count + 1) * sizeof *list);
    for (int64_t i = 0; list && i < count; i++) list[i] = whole(tensor, i);
    return list;
}

static int take(csr_t *csr, const attn_tensor_t *data, const attn_tensor_t *indptr,
                const attn_tensor_t *indices) {
    csr->stored = data->shape[3];
    csr->values = data->data;
    csr->rows = indptr->shape[3] - 1;
    if (indices->shape[3] != csr->stored)
        return cli_complain(CLI_USAGE, "%s: %lld indices for %lld elements", name_of(csr),
                            (long long)indices->shape[3], (long long)csr->stored);
    csr->starts = whole_list(indptr);
    csr->places = whole_list(indices);
    if (!csr->starts || !csr->places)
        return cli_complain(CLI_USAGE, "%s: no memory for X", name_of(csr));
    if (csr->stored == 0)
        return cli_complain(CLI_USAGE,
                            "%s: X has no elements: it has rank 0, and there is nothing to sketch",
                            name_of(csr));
    int64_t last = csr->places[0];
    for (int64_t at = 1; at < csr->stored; at++)
        if (csr->places[at] > last) last = csr->places[at];
    if (csr->columns) return CLI_OK;
    if (last < 0 || last >= CSR_MOST_COLUMNS)
        return cli_complain(CLI_USAGE, "%s: indices go up to column %lld, must be 0 to 2^31 - 1",
                            name_of(csr), (long long)last);
    csr->columns = last + 1;
    return CLI_OK;
}

static int load_arrays(csr_t *csr, const npz_t *archive, const char *const names[3]) {
    attn_tensor_t data, indptr, indices;
    int status = read_array(archive, names[0], &elements, &csr->files[0], &data);
    if (!status) status = read_array(archive, names[1], &numbers, &csr->files[1], &indptr);
    if (!status) status = read_array(archive, names[2], &columns, &csr->files[2], &indices);
    return status ? status : take(csr, &data, &indptr, &indices);
}

/* The file "format" is 0-dimensional, bytes or letters of four bytes, the last of which say which form it is. */
static int says_csr(const char *memory, size_t size) {
    static const char letters[] = {'c', 0, 0, 0, 's', 0, 0, 0, 'r', 0, 0, 0};
    return (size >= 3 && memcmp(memory + size - 3, "csr", 3) == 0) ||
           (size >= sizeof letters &&
            memcmp(memory + size - sizeof letters, letters, sizeof letters) == 0);
}

static int check_form(const npz_t *archive) {
    char *memory = NULL;
    size_t size = 0;
    int status = npz_file(archive, "format.npy", &memory, &size);
    if (!status && !says_csr(memory, size))
        status = cli_complain(CLI_USAGE, "%s: is a sparse matrix of another form than CSR",
                              archive->path);
    free(memory);
    return status;
}

static int load_members(csr_t *csr, const npz_t *archive) {
    static const char *const names[] = {"data.npy", "indptr.npy", "indices.npy"};
    attn_tensor_t shape;
    char *memory = NULL;
    int64_t rows = 0;
    int status = check_form(archive);
    if (!status) status = read_array(archive, "shape.npy", &numbers, &memory, &shape);
    if (!status && shape.shape[3] != 2)
        status = cli_complain(CLI_USAGE, "%s: has %lld axes, not 2", csr->archive,
                              (long long)shape.shape[3]);
    if (!status) {
        rows = whole(&shape, 0);
        csr->columns = whole(&shape, 1);
    }
    free(memory);
    if (!status && (csr->columns < 1 || csr->columns > CSR_MOST_COLUMNS))
        status = cli_complain(CLI_USAGE, "%s: %lld features, must be 1 to 2^31", csr->archive,
                              (long long)csr->columns);
    if (!status) status = load_arrays(csr, archive, names);
    if (!status && rows != csr->rows)
        status = cli_complain(CLI_USAGE, "%s: indptr is of %lld rows, not %lld", csr->archive,
                              (long long)csr->rows, (long long)rows);
    return status;
}

int csr_unpack(csr_t *csr, const char *bytes, size_t size) {
    const npz_t archive = {csr->archive, (const unsigned char *)bytes, size};
    if (!npz_is_one(bytes, size) && !npz_is_behind(bytes, size))
        return cli_complain(CLI_USAGE, "%s: is no .npz file", csr->archive);
    if (csr_is_packed(bytes, size)) return load_members(csr, &archive);
    char names[2]; /* of an archive that is cut off this says so */
    int count;
    if (npz_names(&archive, names, sizeof names, &count)) return CLI_USAGE;
    return cli_complain(CLI_USAGE,
                        "%s: has no matrix of SciPy's save_npz(); name a dense one as %s:NAME",
                        csr->archive, csr->archive);
}

static int load_archive(csr_t *csr) {
    char *bytes = NULL;
    size_t size = 0;
    int status = file_read(csr->archive, &bytes, &size);
    if (!status) status = csr_unpack(csr, bytes, size);
    free(bytes);
    return status;
}

int csr_load(csr_t *csr) {
    const char *const names[] = {csr->data, csr->indptr, csr->indices};
    return csr->archive ? load_archive(csr) : load_arrays(csr, NULL, names);
}

void csr_free(csr_t *csr) {
    free(csr->starts);
    free(csr->places);
    for (int i = 0; i < 3; i++) free(csr->files[i]);
    *csr = (csr_t){.archive = NULL};
}

/* ---- written out ----------------------------------------------------------------------------- */

/* NaN stays. */
static double longest_row(const csr_t *csr) {
    double longest = 0;
    for (int64_t i = 0; i < csr->rows; i++) {
        double square = 0;
        for (int64_t at = csr->starts[i]; at < csr->starts[i + 1]; at++)
            square += (double)csr->values[at] * (double)csr->values[at];
        if (square > longest || isnan(square)) longest = square;
    }
    return longest;
}

int csr_verify(csr_t *csr) {
    const sketching_x_t x = {
        .rows = csr->rows, .columns = csr->columns, .starts = csr->starts, .data = csr->values};
    attn_error_t error;
    if (sketching_check_places(&x, csr->places, csr->stored, &error))
        return cli_reject(name_of(csr), &error);
    csr->longest = longest_row(csr);
    return CLI_OK;
}

void csr_write(const csr_t *csr, float *dense) {
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t at = csr->starts[i]; at < csr->starts[i + 1]; at++)
            dense[i * csr->columns + csr->places[at]] = csr->values[at];
}

/* ---- runs ------------------------------------------------------------------------------------ */

int csr_fits(const attn_backend_t *backend) {
    attn_array_info_t info = {.struct_size = sizeof info};
    for (uint32_t number = ATTN_ARRAY_OWN; attn_backend_array(backend, number, &info); number++)
        if (strcmp(info.name, inputs[0]) == 0) return 1;
    return 0;
}

attn_status_t csr_apply(csr_t *csr, const attn_backend_t *backend, attn_problem_t *problem,
                        settings_t *settings, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    for (int i = 0; i < 3 && !status; i++)
        status = attn_problem_add_input(problem, backend, inputs[i], error);
    snprintf(csr->setting, sizeof csr->setting, "elements=%lld", (long long)csr->stored);
    option_texts_t *list = &settings->assignments;
    if (!status && list->count == OPTION_LIST_SIZE)
        status = attn_fail(error, ATTN_ERROR_ARGUMENT, "--set: too many parameters");
    if (status) return status;
    memmove(list->items + 1, list->items, (size_t)list->count++ * sizeof *list->items);
    list->items[0] = csr->setting; /* the command line's come after it, and are checked */
    return ATTN_OK;
}

static array_t list(attn_dtype_t dtype, int64_t count, void *data, void *memory) {
    return (array_t){.tensor = {.data = data,
                                .dtype = dtype,
                                .shape = {1, 1, 1, count},
                                .stride = {count, count, count, 1}},
                     .rank = 1,
                     .memory = memory};
}

void csr_place(csr_t *csr, const attn_backend_t *backend, array_t *arrays) {
    const array_t lists[] = {list(ATTN_I64, csr->rows + 1, csr->starts, csr->starts),
                             list(ATTN_I64, csr->stored, csr->places, csr->places),
                             list(ATTN_F32, csr->stored, csr->values, csr->files[0])};
    attn_array_info_t info = {.struct_size = sizeof info};
    for (uint32_t number = ATTN_ARRAY_OWN; attn_backend_array(backend, number, &info); number++)
        for (int i = 0; i < 3; i++)
            if (strcmp(info.name, inputs[i]) == 0) arrays[number] = lists[i];
    csr->starts = csr->places = NULL;
    csr->values = NULL;
    csr->files[0] = NULL;
}
