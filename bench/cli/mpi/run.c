/* cli/mpi/run.c: a run over ranks, of files of which each rank reads its rows (see ranks.h). */
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/mpi/alike.h"
#include "cli/mpi/back.h"
#include "cli/mpi/over.h"
#include "cli/mpi/report.h"
#include "cli/mpi/settle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_settled;
int ranks_have_settled(void) { return has_settled; }

/* ---- headers ----------------------------------------------------------------------------------------- */

static int open_files(over_t *over) {
    inputs_t *inputs = over->run->inputs;
    array_t pasts[INPUT_COUNT] = {0};
    if (inputs_check_pasts(inputs)) return CLI_USAGE;
    for (int which = 0; which < INPUT_COUNT; which++) {
        const npy_wanted_t wanted = inputs_wanted(which);
        if (rows_open(&over->files[which], inputs->paths[which], &wanted)) return CLI_USAGE;
        rows_describe(&over->files[which], &inputs->arrays[which]);
        if (!inputs->pasts[which]) continue;
        if (rows_open(&over->pasts[which], inputs->pasts[which], &wanted)) return CLI_USAGE;
        rows_describe(&over->pasts[which], &pasts[which]);
    }
    return inputs_make_problem(inputs, pasts);
}

/* Outputs that every rank has rows of, and states, which are whole. */
static int is_written(uint32_t number, const attn_array_info_t *info) {
    return number == ATTN_ARRAY_OUT || number == ATTN_ARRAY_LSE || number == ATTN_ARRAY_SCORES ||
           (number >= ATTN_ARRAY_OWN && info->axes[2] == ATTN_AXIS_PLAN);
}

static int check_outputs(const over_t *over) {
    attn_array_info_t info = {.struct_size = sizeof info};
    for (uint32_t number = 0; attn_backend_array(over->run->backend, number, &info); number++)
        if (info.role == ATTN_ROLE_OUTPUT && !is_written(number, &info) &&
            arguments_value(&over->run->inputs->arguments, number, &info, NULL))
            return cli_complain(CLI_USAGE, "--mpi has no output '%s'", info.name);
    return CLI_OK;
}

static int prepare(over_t *over) {
    ranks_run_t *run = over->run;
    if (open_files(over) || check_outputs(over)) return CLI_USAGE;
    if (runner_plan(&over->runner, run->context, run->backend, &run->inputs->problem, run->settings,
                    &run->inputs->arguments))
        return cli_reject(NULL, &over->runner.error);
    return CLI_OK;
}

/* The library compares all that the ranks have, and says the same on each. */
static int make_plan(over_t *over) {
    const ranks_run_t *run = over->run;
    parameters_t parameters;
    attn_error_t error;
    attn_array_info_t scores = {.struct_size = sizeof scores};
    attn_mpi_options_t options = {.struct_size = sizeof options};
    attn_backend_array(run->backend, ATTN_ARRAY_SCORES, &scores);
    if (arguments_value(&run->inputs->arguments, ATTN_ARRAY_SCORES, &scores, NULL))
        options.way = ATTN_MPI_WAY_RING;
    settings_parameters(run->settings, run->backend, &parameters);
    if (attn_mpi_plan_create(run->context, MPI_COMM_WORLD, run->backend->id,
                             attn_plan_problem(over->runner.plan), parameters.params,
                             parameters.count, &options, &over->plan, &error))
        return cli_reject(NULL, &error);
    attn_mpi_query_rows(over->plan, settle_rank(), &over->query_rows);
    attn_mpi_key_rows(over->plan, settle_rank(), &over->key_rows);
    return CLI_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

/* What of ranges lies in rows [first, end), counted from there. */
static void cut(const rows_range_t *ranges, int64_t first, int64_t end,
                rows_range_t cut_ranges[ROWS_RANGES]) {
    for (int r = 0; r < ROWS_RANGES; r++) {
        const int64_t from = ranges[r].first > first ? ranges[r].first : first;
        const int64_t last = ranges[r].first + ranges[r].count;
        const int64_t to = last < end ? last : end;
        cut_ranges[r] = from < to ? (rows_range_t){from - first, to - from} : (rows_range_t){0, 0};
    }
}

/* Rows of a past stand before the others in any layout. */
static int read_tokens(over_t *over, int which, array_t *array) {
    const attn_problem_t *problem = &over->run->inputs->problem;
    const char *path = over->run->inputs->paths[which];
    const int64_t past = which == INPUT_QUERY ? 0 : problem->past;
    const attn_dtype_t dtype = which == INPUT_QUERY ? problem->dtype : problem->kv_dtype;
    rows_range_t ranges[ROWS_RANGES], own[ROWS_RANGES];
    array_t before = {.rank = 0};
    over_ranges(which == INPUT_QUERY ? &over->query_rows : &over->key_rows, ranges);
    cut(ranges, past, INT64_MAX, own);
    int status = rows_read(&over->files[which], own, array);
    cut(ranges, 0, past, own);
    if (!status && past) status = rows_read(&over->pasts[which], own, &before);
    if (!status && !array->memory) {
        *array = before;
        before = (array_t){.rank = 0};
    }
    if (!status && array->memory && (before.memory || array->tensor.dtype != dtype))
        status = array_copy(array, before.memory ? &before : NULL, dtype, path);
    array_free(&before);
    return status;
}

/* Of files of rows those of its queries or of its keys; others are whole on every rank. */
static int read_rows(over_t *over) {
    inputs_t *inputs = over->run->inputs;
    load_rows_t rows;
    for (int which = 0; which < INPUT_COUNT; which++)
        if (read_tokens(over, which, &inputs->arrays[which])) return CLI_USAGE;
    over_ranges(&over->query_rows, rows.queries);
    over_ranges(&over->key_rows, rows.keys);
    return load_inputs(&inputs->arguments, over->runner.plan, INPUT_COUNT, DECLARED_MOST, &rows,
                       &over->arrays[INPUT_COUNT]);
}

/* ---- the run ------------------------------------------------------------------------------------------- */

/* A written output of the whole, without data; 0 where it is not asked for. */
static int describe_output(const over_t *over, uint32_t number, const attn_array_info_t *info,
                           attn_tensor_t *tensor) {
    return info->role == ATTN_ROLE_OUTPUT && is_written(number, info) &&
           arguments_value(&over->run->inputs->arguments, number, info, NULL) &&
           attn_plan_array(over->runner.plan, number, tensor);
}

static int make_outputs(over_t *over) {
    attn_array_info_t info = {.struct_size = sizeof info};
    attn_tensor_t tensor;
    for (uint32_t number = 0; attn_backend_array(over->run->backend, number, &info); number++) {
        if (!describe_output(over, number, &info, &tensor)) continue;
        if (number < ATTN_ARRAY_OWN) tensor.shape[AXIS_ROWS] = over->query_rows.total;
        if (tensor.shape[AXIS_ROWS] &&
            array_make(&over->arrays[number], tensor.dtype, tensor.shape, 4, info.name))
            return CLI_USAGE;
    }
    return CLI_OK;
}

static void collect(over_t *over) {
    inputs_t *inputs = over->run->inputs;
    attn_io_init(&over->io);
    for (uint32_t number = 0; number < ATTN_ARRAY_OWN; number++) {
        const array_t *array =
            number <= ATTN_ARRAY_VALUE ? &inputs->arrays[number] : &over->arrays[number];
        if (array->memory) *attn_io_array(&over->io, number) = array->tensor;
    }
    for (int i = 0; i < ATTN_MOST_OWN_ARRAYS; i++) {
        const array_t *array = &over->arrays[ATTN_ARRAY_OWN + i];
        over->own[i] = array->memory ? &array->tensor : NULL;
    }
    over->io.own = over->own;
    over->io.own_count = ATTN_MOST_OWN_ARRAYS;
}

static void count_nonfinite(over_t *over) {
    inputs_t *inputs = over->run->inputs;
    for (int which = 0; which < INPUT_COUNT; which++)
        if (inputs->arrays[which].memory)
            inputs->nonfinite[which] = array_nonfinite(&inputs->arrays[which]);
    MPI_Allreduce(MPI_IN_PLACE, inputs->nonfinite, INPUT_COUNT, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    const int64_t *count = inputs->nonfinite;
    if (count[INPUT_QUERY] || count[INPUT_KEY] || count[INPUT_VALUE])
        cli_warn("NaN or infinite elements: %lld in Q, %lld in K, %lld in V; computed with as "
                 "IEEE 754 says",
                 (long long)count[INPUT_QUERY], (long long)count[INPUT_KEY],
                 (long long)count[INPUT_VALUE]);
}

static int compute(over_t *over) {
    attn_error_t error;
    count_nonfinite(over);
    const double start = measure_clock();
    if (attn_mpi_run(over->plan, &over->io, &error)) return cli_reject(NULL, &error);
    over->run_times = over_times(over, start);
    return back_compute(over);
}

/* States are the same on every rank: the first one writes them. */
static write_file_t file_of(const over_t *over, uint32_t number, const attn_array_info_t *info,
                            const attn_tensor_t *whole) {
    const attn_dtype_t dtype = whole->dtype == ATTN_BF16 ? ATTN_F32 : whole->dtype;
    write_file_t file = {.path = arguments_value(&over->run->inputs->arguments, number, info, NULL),
                         .rows = over->arrays[number].tensor,
                         .dtype = dtype};
    memcpy(file.shape, whole->shape, sizeof file.shape);
    file.rank = declared_rank(info, file.shape, 4 - inputs_rank(over->run->inputs), &file.left_out);
    if (number < ATTN_ARRAY_OWN)
        over_ranges(&over->query_rows, file.ranges);
    else if (settle_rank() == 0)
        file.ranges[0] = (rows_range_t){0, file.shape[AXIS_ROWS]};
    return file;
}

static int write_outputs(over_t *over) {
    attn_array_info_t info = {.struct_size = sizeof info};
    array_t *out = &over->arrays[ATTN_ARRAY_OUT];
    attn_tensor_t whole;
    write_file_t files[BESIDE_MOST];
    int count = 0, status = back_finish(over);
    if (status) return status;
    if (out->memory && out->tensor.dtype == ATTN_BF16)
        status = array_copy(out, NULL, ATTN_F32, "the output");
    status = settle(status);
    for (uint32_t number = 0;
         count < BESIDE_MOST && attn_backend_array(over->run->backend, number, &info); number++)
        if (describe_output(over, number, &info, &whole))
            files[count++] = file_of(over, number, &info, &whole);
    count = back_add_files(over, files, count);
    return status ? status : write_files(files, count);
}

/* ---- all together -------------------------------------------------------------------------------------- */

static void release(over_t *over) {
    attn_mpi_plan_destroy(over->plan);
    for (int which = 0; which < INPUT_COUNT; which++) {
        rows_close(&over->files[which]);
        rows_close(&over->pasts[which]);
    }
    for (int number = 0; number < DECLARED_MOST; number++) array_free(&over->arrays[number]);
    array_free(&over->bias);
    runner_free(&over->runner);
}

int ranks_run(ranks_run_t *run) {
    over_t over = {.run = run};
    has_settled = 1;
    int status = settle(prepare(&over));
    if (!status) status = settle(make_plan(&over));
    if (!status) status = alike_inputs(&over);
    if (!status) status = alike_outputs(&over);
    if (!status) status = settle(read_rows(&over));
    if (!status) status = settle(make_outputs(&over));
    if (!status) collect(&over);
    if (!status) status = settle(back_prepare(&over));
    if (!status) status = settle(compute(&over));
    if (!status) status = write_outputs(&over);
    if (!status) report_print(&over);
    release(&over);
    return status;
}
