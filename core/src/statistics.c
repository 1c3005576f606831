/* What rows of weights are like (attn/statistics.h). */
#include "internal.h"

#include "attn/statistics.h"

#include <float.h>
#include <math.h>

/* Rows of weights at a time: enough that what a call of attn_weights() does once for all keys hardly counts, few enough
 * that they stay in the cache. */
enum { ROWS = 128, COLUMNS = 1024 };

/* ---- one block of rows ----------------------------------------------------------------------- */

typedef struct block {
    const attn_statistics_t *wanted;
    const float *rows; /* [count][keys] */
    int64_t count, keys;
    int64_t done;     /* rows of the call before these */
    int64_t position; /* of the first row's query */
} block_t;

/* Keys of a row from the largest weight on; a later key of the same weight stands behind. */
static void find_top(const float *row, int64_t keys, int32_t top, int64_t *places, float *weights) {
    int32_t found = 0;
    for (int64_t j = 0; j < keys; j++) {
        if (!(row[j] > (found == top ? weights[top - 1] : 0.0f))) continue;
        int32_t at = found < top ? found++ : top - 1;
        for (; at > 0 && weights[at - 1] < row[j]; at--) {
            weights[at] = weights[at - 1];
            places[at] = places[at - 1];
        }
        weights[at] = row[j];
        places[at] = j;
    }
    for (; found < top; found++) {
        weights[found] = 0;
        places[found] = -1;
    }
}

/* With W the row's sum: -sum w/W log2(w/W) = log2 W - (sum w log2 w) / W. */
static void find_spread(const float *row, int64_t keys, int64_t position, double *entropy,
                        double *distance) {
    double total = 0, logs = 0, far = 0;
    bool are_shares = true;
    for (int64_t j = 0; j < keys; j++) {
        const double weight = row[j];
        if (weight == 0) continue;
        are_shares &= weight > 0;
        total += weight;
        logs += weight * (double)log2f(row[j]);
        far += weight * fabs((double)(position - j));
    }
    are_shares &= total > 0 && total <= DBL_MAX;
    *entropy = are_shares ? fmax(log2(total) - logs / total, 0) : NAN;
    *distance = are_shares ? far / total : NAN;
}

static void study_row(void *data, int64_t r, uint32_t worker) {
    const block_t *block = data;
    const attn_statistics_t *wanted = block->wanted;
    const float *row = block->rows + r * block->keys;
    const int64_t at = block->done + r;
    (void)worker;
    if (wanted->top)
        find_top(row, block->keys, wanted->top, wanted->top_keys + at * wanted->top,
                 wanted->top_weights + at * wanted->top);
    if (!wanted->entropy && !wanted->distance) return;
    double entropy, distance;
    find_spread(row, block->keys, block->position + r, &entropy, &distance);
    if (wanted->entropy) wanted->entropy[at] = (float)entropy;
    if (wanted->distance) wanted->distance[at] = (float)distance;
}

/* Rows in their order, whoever adds them. */
static void add_columns(void *data, int64_t number, uint32_t worker) {
    const block_t *block = data;
    double *mass = block->wanted->column_mass;
    const int64_t first = number * COLUMNS, last = attn_min(first + COLUMNS, block->keys);
    (void)worker;
    for (int64_t j = first; !block->done && j < last; j++) mass[j] = 0;
    for (int64_t r = 0; r < block->count; r++)
        for (int64_t j = first; j < last; j++) mass[j] += block->rows[r * block->keys + j];
}

static void study_block(const attn_host_t *host, block_t *block) {
    const attn_statistics_t *wanted = block->wanted;
    if (wanted->top || wanted->entropy || wanted->distance)
        attn_host_parallel_for(host, block->count, study_row, block);
    if (wanted->column_mass)
        attn_host_parallel_for(host, (block->keys + COLUMNS - 1) / COLUMNS, add_columns, block);
}

/* ---- checks ---------------------------------------------------------------------------------- */

enum { RESULTS = 5 };

typedef struct result {
    const char *name;
    void *data;
    int64_t count;
    size_t size;
} result_t;

static void list_results(const attn_statistics_t *wanted, int64_t rows, int64_t keys,
                         result_t results[RESULTS]) {
    const int64_t top = wanted->top * rows;
    results[0] = (result_t){"entropy", wanted->entropy, rows, sizeof *wanted->entropy};
    results[1] = (result_t){"distance", wanted->distance, rows, sizeof *wanted->distance};
    results[2] = (result_t){"column_mass", wanted->column_mass, keys, sizeof *wanted->column_mass};
    results[3] = (result_t){"top_keys", wanted->top_keys, top, sizeof *wanted->top_keys};
    results[4] = (result_t){"top_weights", wanted->top_weights, top, sizeof *wanted->top_weights};
}

/* Results share no memory with each other, the rows of weights, or what the plan reads and writes. */
static attn_status_t check_results(const attn_plan_t *plan, const attn_io_t *io, uint64_t workspace,
                                   const result_t results[RESULTS], attn_error_t *error) {
    attn_tensor_t memory[RESULTS + 1] = {attn_tensor_bytes(io->workspace, workspace)};
    const char *names[RESULTS + 1] = {"workspace"};
    int count = 1;
    for (int i = 0; i < RESULTS; i++) {
        const result_t *result = &results[i];
        if (!result->data || !result->count) continue;
        if ((uintptr_t)result->data % result->size != 0)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "statistics: %s is not aligned to its %zu bytes", result->name,
                             result->size);
        memory[count] = attn_tensor_bytes(result->data, (uint64_t)result->count * result->size);
        for (int k = 0; k < count; k++)
            if (attn_tensors_overlap(&memory[k], &memory[count]))
                return attn_fail(error, ATTN_ERROR_ARGUMENT,
                                 "statistics: %s shares memory with %s: give it its own",
                                 result->name, names[k]);
        const attn_written_t written = {"statistics: ", result->name, &memory[count],
                                        ATTN_NO_NUMBER};
        attn_status_t status =
            attn_written_check(attn_plan_scope(plan), &written, io, ATTN_UNREAD_BY_WEIGHTS, error);
        if (status != ATTN_OK) return status;
        names[count++] = result->name;
    }
    return ATTN_OK;
}

static attn_status_t check_top(const attn_statistics_t *wanted, int64_t count,
                               attn_error_t *error) {
    const bool has_keys = wanted->top_keys, has_weights = wanted->top_weights;
    if (wanted->top < 0)
        return attn_fail(error, ATTN_ERROR_RANGE, "statistics: top is %d, below 0", wanted->top);
    if (wanted->top && count > INT64_MAX / 16 / wanted->top)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "statistics: %d keys of %lld rows would not fit in memory", wanted->top,
                         (long long)count);
    if (has_keys == (wanted->top > 0) && has_weights == has_keys) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_RANGE,
                     "statistics: top is %d, top_keys %s and top_weights %s: give all or none",
                     wanted->top, has_keys ? "given" : "NULL", has_weights ? "given" : "NULL");
}

static attn_status_t check(const attn_plan_t *plan, const attn_io_t *io, int64_t count,
                           const attn_statistics_t *wanted, attn_error_t *error) {
    const uint64_t needed = attn_statistics_workspace_size(plan);
    const int64_t keys = attn_plan_problem(plan)->keys;
    result_t results[RESULTS];
    attn_status_t status = check_top(wanted, count, error);
    if (status != ATTN_OK) return status;
    if (!io->workspace || io->workspace_size < needed)
        return attn_fail(error, ATTN_ERROR_WORKSPACE,
                         "workspace: %llu bytes, statistics of this plan need %llu",
                         (unsigned long long)(io->workspace ? io->workspace_size : 0),
                         (unsigned long long)needed);
    status = attn_io_check(attn_plan_scope(plan), io, ATTN_UNREAD_BY_WEIGHTS, error);
    if (status != ATTN_OK) return status;
    list_results(wanted, count, keys, results);
    return check_results(plan, io, needed, results, error);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* What lies before the rows of weights in the workspace. */
static uint64_t workspace_of_plan(const attn_plan_t *plan) {
    const uint64_t size = attn_plan_workspace_size(plan);
    return size + (ATTN_ALIGNMENT - size % ATTN_ALIGNMENT) % ATTN_ALIGNMENT;
}

uint64_t attn_statistics_workspace_size(const attn_plan_t *plan) {
    if (!plan) return 0;
    const attn_problem_t *problem = attn_plan_problem(plan);
    attn_arena_t arena = {.used = workspace_of_plan(plan)};
    attn_arena_take(&arena, problem->keys,
                    (uint64_t)attn_min(ROWS, problem->queries) * sizeof(float));
    const uint64_t size =
        arena.used + (ATTN_ALIGNMENT - arena.used % ATTN_ALIGNMENT) % ATTN_ALIGNMENT;
    return arena.overflow ? UINT64_MAX : size;
}

/* Of a batch; the array has been checked. */
static int64_t keys_of(const attn_problem_t *problem, const attn_io_t *io, int64_t batch) {
    const attn_tensor_t *lengths = &io->kv_lengths;
    if (!(problem->inputs & ATTN_INPUT_KV_LENGTHS)) return problem->keys;
    return ((const int64_t *)lengths->data)[batch * lengths->stride[0]];
}

attn_status_t attn_plan_statistics(const attn_plan_t *plan, const attn_io_t *given, int64_t batch,
                                   int64_t head, int64_t first, int64_t count,
                                   const attn_statistics_t *given_wanted, attn_error_t *error) {
    attn_statistics_t wanted;
    attn_io_t io;
    if (!plan || !given_wanted)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "statistics: the plan or `wanted` is null");
    const attn_problem_t *problem = attn_plan_problem(plan);
    attn_status_t status =
        attn_struct_take(&wanted, sizeof wanted, given_wanted, sizeof wanted, "statistics", error);
    if (status == ATTN_OK)
        status = attn_rows_check(problem, batch, head, first, count, "statistics", error);
    if (status == ATTN_OK) status = attn_io_read(&io, given, "io", error);
    if (status == ATTN_OK) status = check(plan, &io, count, &wanted, error);
    if (status != ATTN_OK) return status;
    float *rows = (float *)(void *)((char *)io.workspace + workspace_of_plan(plan));
    block_t block = {.wanted = &wanted, .rows = rows, .keys = problem->keys};
    /* Also where there are no rows: it checks all arguments. */
    for (int64_t done = 0; done == 0 || done < count; done += ROWS) {
        block.done = done;
        block.count = attn_min(count - done, ROWS);
        status = attn_weights(plan, &io, batch, head, first + done, block.count, rows,
                              problem->keys, error);
        if (status != ATTN_OK) return status;
        block.position = attn_query_position(problem, keys_of(problem, &io, batch), first + done);
        study_block(attn_plan_host(plan), &block);
    }
    return ATTN_OK;
}
