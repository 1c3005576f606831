/* cli/mpi/back.c: see back.h. */
#include "cli/mpi/back.h"

#include "cli/cli.h"
#include "cli/mpi/settle.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays ------------------------------------------------------------------------------------------ */

static attn_io_t *io_of(const over_t *over) { return &over->run->gradients->io; }

/* The rank's rows, of a file that holds the gradient of the whole. */
static int read_loss(const over_t *over, array_t *array, const char *path) {
    rows_file_t file;
    rows_range_t ranges[ROWS_RANGES];
    attn_tensor_t out;
    array_t whole;
    attn_plan_array(over->runner.plan, ATTN_ARRAY_OUT, &out);
    over_ranges(&over->query_rows, ranges);
    int status = rows_open(&file, path, &gradients_loss);
    if (!status) rows_describe(&file, &whole);
    if (!status) status = gradients_check_loss(&whole, out.shape, path);
    if (!status) status = rows_read(&file, ranges, array);
    if (!status && array->memory) status = gradients_round_loss(array, out.dtype, path);
    rows_close(&file);
    return status;
}

/* Whether the run has such an array, on whatever rank. */
static int is_given(const over_t *over, uint32_t number, const attn_array_info_t *info) {
    return number <= ATTN_ARRAY_VALUE ||
           arguments_value(&over->run->inputs->arguments, number, info, NULL) != NULL;
}

/* Its file says whether rows of queries differ. */
static int describe_bias(over_t *over, const attn_array_info_t *info) {
    static const npy_wanted_t wanted = {
        .types = NPY_FLOATS | NPY_BFLOAT16, .low = 1, .high = 4, .ranks = "1 to 4"};
    rows_file_t file;
    const char *path = arguments_value(&over->run->inputs->arguments, ATTN_ARRAY_BIAS, info, NULL);
    const int status = rows_open(&file, path, &wanted);
    if (!status) rows_describe(&file, &over->bias);
    rows_close(&file);
    return status;
}

static int prepare(over_t *over, uint32_t number, const attn_array_info_t *info) {
    gradients_t *gradients = over->run->gradients;
    const char *path = gradients_file(gradients, info);
    const attn_tensor_t *of = number < ATTN_ARRAY_OWN ? attn_io_array(&over->io, number)
                                                      : over->own[number - ATTN_ARRAY_OWN];
    array_t *array = &gradients->arrays[number];
    int status = CLI_OK;
    if (!path) return CLI_OK;
    if (number == ATTN_ARRAY_OUT) {
        status = read_loss(over, array, path);
    } else {
        if (!is_given(over, number, info))
            return cli_complain(CLI_USAGE, "--grad: the run has no %s", info->name);
        if (number == ATTN_ARRAY_BIAS) status = describe_bias(over, info);
        if (!status && of && of->data) status = array_make(array, of->dtype, of->shape, 4, path);
    }
    if (!status && array->memory && number < ATTN_ARRAY_OWN)
        *attn_io_array(&gradients->io, number) = array->tensor;
    else if (!status && array->memory)
        gradients->own[number - ATTN_ARRAY_OWN] = &array->tensor;
    return status;
}

/* A run that is to be gone back through has lse, where its backend has one. */
static int make_lse(over_t *over) {
    const int64_t rows = over->query_rows.total;
    array_t *lse = &over->run->gradients->lse;
    attn_tensor_t tensor;
    if (over->io.lse.data || !rows || !(over->run->backend->features & ATTN_FEATURE_LSE))
        return CLI_OK;
    attn_plan_array(over->runner.plan, ATTN_ARRAY_LSE, &tensor);
    tensor.shape[AXIS_ROWS] = rows;
    const int status = array_make(lse, tensor.dtype, tensor.shape, 4, "lse");
    over->io.lse = lse->tensor;
    return status;
}

int back_prepare(over_t *over) {
    gradients_t *gradients = over->run->gradients;
    attn_array_info_t info = {.struct_size = sizeof info};
    if (!gradients->files.count) return CLI_OK;
    if (gradients_check_names(gradients, &over->runner)) return CLI_USAGE;
    attn_io_init(&gradients->io);
    gradients->io.own = gradients->own;
    gradients->io.own_count = ATTN_MOST_OWN_ARRAYS;
    for (uint32_t number = 0; attn_backend_array(over->run->backend, number, &info); number++)
        if (prepare(over, number, &info)) return CLI_USAGE;
    return make_lse(over);
}

int back_compute(over_t *over) {
    attn_error_t error;
    if (!over->run->gradients->files.count) return CLI_OK;
    const double start = measure_clock();
    if (attn_mpi_backward(over->plan, &over->io, io_of(over), &error))
        return cli_reject(NULL, &error);
    over->back_times = over_times(over, start);
    return CLI_OK;
}

/* ---- what is written --------------------------------------------------------------------------------- */

static int64_t size_of(const int64_t shape[4]) { return shape[0] * shape[1] * shape[2] * shape[3]; }

static void bias_shape(const over_t *over, int64_t shape[4]) {
    memcpy(shape, over->bias.tensor.shape, 4 * sizeof *shape);
    shape[AXIS_COLUMNS] = over->run->inputs->problem.keys;
}

/* A row that is the same for all queries gets the sum of all ranks, in their order. */
static int add_ranks(over_t *over, array_t *bias) {
    int64_t shape[4];
    bias_shape(over, shape);
    const int64_t count = size_of(shape);
    enum { MOST = 1 << 26 };
    float *others = malloc((size_t)(count < MOST ? count : MOST) * sizeof *others);
    int status = others ? CLI_OK : cli_complain(CLI_USAGE, "no memory for the gradient of bias");
    if (!status && !bias->memory)
        status = array_make(bias, ATTN_F32, shape, 4, "the gradient of bias");
    status = settle(status);
    float *sums = bias->memory;
    if (!status && !io_of(over)->bias.data) memset(sums, 0, (size_t)count * sizeof *sums);
    for (int64_t first = 0; !status && first < count; first += MOST) {
        const int part = (int)(count - first < MOST ? count - first : MOST);
        if (settle_rank()) MPI_Send(sums + first, part, MPI_FLOAT, 0, 0, MPI_COMM_WORLD);
        for (int rank = 1; !settle_rank() && rank < settle_size(); rank++) {
            MPI_Recv(others, part, MPI_FLOAT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < part; i++) sums[first + i] += others[i];
        }
    }
    free(others);
    return status;
}

static int is_shared_bias(const over_t *over) {
    return over->bias.rank && over->bias.tensor.shape[AXIS_ROWS] == 1;
}

int back_finish(over_t *over) {
    gradients_t *gradients = over->run->gradients;
    int status = CLI_OK;
    for (int number = 0; !status && number <= ATTN_ARRAY_VALUE; number++)
        if (gradients->arrays[number].memory && gradients->arrays[number].tensor.dtype == ATTN_BF16)
            status = array_copy(&gradients->arrays[number], NULL, ATTN_F32, "a gradient");
    status = settle(status);
    if (status || !is_shared_bias(over)) return status;
    return add_ranks(over, &gradients->arrays[ATTN_ARRAY_BIAS]);
}

/* Its rows, and the shape of the whole, which is that of its array's file. */
static write_file_t file_of(const over_t *over, uint32_t number, const char *path) {
    const inputs_t *inputs = over->run->inputs;
    const array_t *rows = &over->run->gradients->arrays[number];
    attn_tensor_t whole;
    attn_plan_array(over->runner.plan, number, &whole);
    const attn_dtype_t dtype = whole.dtype == ATTN_BF16 ? ATTN_F32 : whole.dtype;
    write_file_t file = {.path = path, .rows = rows->tensor, .dtype = dtype};
    memcpy(file.shape, whole.shape, sizeof file.shape);
    file.rank = over->arrays[number].rank;
    file.left_out = over->arrays[number].left_out;
    if (number <= ATTN_ARRAY_VALUE) file.rank = inputs->arrays[number].rank;
    if (number == ATTN_ARRAY_BIAS) file.rank = over->bias.rank, bias_shape(over, file.shape);
    if (number == ATTN_ARRAY_KEY || number == ATTN_ARRAY_VALUE)
        over_ranges(&over->key_rows, file.ranges);
    else if (number == ATTN_ARRAY_QUERY || (number == ATTN_ARRAY_BIAS && !is_shared_bias(over)))
        over_ranges(&over->query_rows, file.ranges);
    else if (settle_rank() == 0)
        file.ranges[0] = (rows_range_t){0, file.shape[AXIS_ROWS]};
    return file;
}

int back_add_files(const over_t *over, write_file_t *files, int count) {
    attn_array_info_t info = {.struct_size = sizeof info};
    for (uint32_t number = 0; attn_backend_array(over->run->backend, number, &info); number++) {
        if (number == ATTN_ARRAY_OUT) continue;
        const char *path = gradients_file(over->run->gradients, &info);
        if (path && count < BESIDE_MOST) files[count++] = file_of(over, number, path);
    }
    return count;
}
