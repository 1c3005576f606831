/* Sparse and sketched attention over ranks (split.h). */
#include "split.h"

#include "attn/ext/facts.h"
#include "attn/ext/inputs.h"
#include "attn/ext/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_backend(const char *backend, const char *id) { return strcmp(backend, id) == 0; }

attn_status_t attn_mpi_split_check(const char *backend, const attn_problem_t *problem,
                                   attn_error_t *error) {
    if (!is_backend(backend, "softmax") && !is_backend(backend, "sparse") &&
        !is_backend(backend, "sketch"))
        return attn_fail(
            error, ATTN_ERROR_UNSUPPORTED,
            "mpi: backend '%.60s' is not split over ranks: softmax, linear, sparse and "
            "sketch are",
            backend);
    if (is_backend(backend, "sketch") && problem->own_inputs)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: a sparse X is not split over ranks: bring dense queries and keys");
    if (is_backend(backend, "softmax") && problem->own_inputs)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: the backend's own inputs (0x%x) are not split over ranks",
                         problem->own_inputs);
    return ATTN_OK;
}

/* ---- parameters -------------------------------------------------------------------------------------- */

enum { FACTS = 8, TEXT = 32 };

static const char *value_of(const attn_mpi_plan_t *plan, const char *name, const char *otherwise) {
    for (uint32_t i = 0; i < plan->param_count; i++)
        if (strcmp(plan->params[i].name, name) == 0) otherwise = plan->params[i].value;
    return otherwise;
}

static void add(method_t *method, const char *name, const char *value) {
    method->params[method->count++] = (attn_param_t){name, value};
}

/* Numbers that a plan of the whole goes by, by the names of their parameters. */
static void add_facts(split_t *split, const attn_plan_t *whole) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    char *text = split->texts;
    for (uint32_t i = 0; i < FACTS && attn_plan_fact(whole, i, &fact); i++) {
        attn_param_info_t info = {.struct_size = sizeof info};
        int is_parameter = 0;
        for (uint32_t p = 0; attn_backend_param(attn_plan_backend(whole), p, &info); p++)
            is_parameter |= strcmp(info.name, fact.name) == 0;
        if (!is_parameter || fact.text) continue;
        snprintf(text, TEXT, "%.0f", fact.number);
        add(&split->own, info.name ? fact.name : "", text);
        if (strcmp(fact.name, "block") == 0) split->block = (int64_t)fact.number;
        if (strcmp(fact.name, "global") == 0) split->global = (int64_t)fact.number;
        text += TEXT;
    }
}

static double fact_of(const attn_plan_t *whole, const char *name) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; attn_plan_fact(whole, i, &fact); i++)
        if (strcmp(fact.name, name) == 0) return fact.number;
    return 0;
}

/* Keys farther than that on either side nobody sees. */
static void narrow(attn_problem_t *problem, double reach) {
    const int64_t far = reach < 0x1p60 ? (int64_t)reach : (int64_t)1 << 60;
    int64_t *const sides[] = {&problem->window_left, &problem->window_right};
    for (int i = 0; i < 2; i++)
        if (*sides[i] < 0 || *sides[i] > far) *sides[i] = far;
}

static attn_status_t refuse(const char *what, const char *why, attn_error_t *error) {
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "mpi: %.40s is not split over ranks: %s", what,
                     why);
}

static void find_arrays(const attn_mpi_plan_t *plan) {
    static const char *const names[LISTS] = {"block_mask", "block_starts", "block_columns",
                                             "block_full"};
    const attn_backend_t *backend = attn_backend_find(plan->context, plan->backend);
    attn_array_info_t info = {.struct_size = sizeof info};
    for (uint32_t i = 0; attn_backend_array(backend, ATTN_ARRAY_OWN + i, &info); i++)
        for (int k = 0; k < LISTS; k++)
            if (strcmp(info.name, names[k]) == 0) plan->split->index[k] = i;
}

static attn_status_t read_lists(attn_mpi_plan_t *plan, const attn_plan_t *whole,
                                const char *pattern, attn_error_t *error) {
    split_t *split = plan->split;
    const attn_problem_t *p = &plan->whole;
    const int has_lengths = p->inputs & ATTN_INPUT_KV_LENGTHS;
    const int is_drawn = strcmp(pattern, "bigbird") == 0;
    attn_tensor_t columns;
    find_arrays(plan);
    attn_plan_array(whole, ATTN_ARRAY_OWN + split->index[BLOCK_COLUMNS], &columns);
    split->entries = columns.shape[3];
    split->is_given = !is_drawn && p->own_inputs >> split->index[BLOCK_MASK] & 1;
    split->is_csr = !is_drawn && !split->is_given;
    split->sequences = split->heads = 1;
    split->kind = SPLIT_LISTED;
    split->unit = split->block;
    split->rows = (p->queries - 1) / split->block + 1;
    split->columns = (p->keys - 1) / split->block + 1;
    if (p->own_inputs >> split->index[BLOCK_FULL] & 1 && p->inputs & ATTN_INPUT_MASK)
        return refuse("block_full beside a mask", "leave out one of them", error);
    if (!is_drawn) return ATTN_OK;
    if (p->causal == ATTN_CAUSAL_BOTTOM_RIGHT && has_lengths)
        return refuse("pattern=bigbird, bottom-right, with lengths",
                      "its blocks of queries would differ from sequence to sequence", error);
    if (start_of(p, p->keys) % split->block)
        return refuse("pattern=bigbird",
                      "the first query must stand at the beginning of a block of keys (past)",
                      error);
    if (split->block > p->keys)
        return refuse("pattern=bigbird", "a block is more than all keys", error);
    return ATTN_OK;
}

static attn_status_t read_pattern(attn_mpi_plan_t *plan, const attn_plan_t *whole,
                                  attn_error_t *error) {
    split_t *split = plan->split;
    const char *pattern = value_of(plan, "pattern", "band");
    const double width = fact_of(whole, "local") * fact_of(whole, "block");
    const int is_near =
        strcmp(pattern, "window") == 0 ||
        ((strcmp(pattern, "band") == 0 || strcmp(pattern, "fixed") == 0) && split->global == 0);
    split->by_position = 1;
    split->unit = split->block;
    if (strcmp(pattern, "topk") == 0 || strcmp(pattern, "topkeys") == 0 ||
        strcmp(pattern, "lsh") == 0)
        return refuse(pattern, "it chooses among all keys, which no rank has", error);
    if (is_near) narrow(&split->bounds, width - 1);
    if (strcmp(pattern, "dilated") == 0)
        narrow(&split->bounds, width * fact_of(whole, "stride") - 1);
    if (strcmp(pattern, "window") == 0 || strcmp(pattern, "dilated") == 0) split->unit = 1;
    if (strcmp(pattern, "longformer") == 0) {
        split->kind = SPLIT_FIRST;
        split->unit = split->global > 0 ? split->global : 1;
        narrow(&split->window, width - 1);
    }
    if (strcmp(pattern, "bigbird") == 0 || strcmp(pattern, "blocks") == 0)
        return read_lists(plan, whole, pattern, error);
    return ATTN_OK;
}

static attn_status_t read_method(attn_mpi_plan_t *plan, attn_error_t *error) {
    static const char *const looking[] = {"leverage", "deterministic", "approximate"};
    const char *method = value_of(plan, "method", "gaussian");
    plan->split->kind = SPLIT_SKETCH;
    for (size_t i = 0; i < sizeof looking / sizeof *looking; i++)
        if (strcmp(method, looking[i]) == 0)
            return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                             "mpi: method=%s is not split over ranks: it looks at all rows, which "
                             "no rank has; gaussian, ams, osnap and srht are",
                             method);
    return ATTN_OK;
}

/* Softmax takes no parameters of a pattern, and lists none but their block. */
static void make_others(attn_mpi_plan_t *plan) {
    split_t *split = plan->split;
    const char *precision = value_of(plan, "precision", NULL);
    split->dense.backend = "softmax";
    split->other.backend = "sparse";
    if (precision) {
        add(&split->dense, "precision", precision);
        add(&split->other, "precision", precision);
    }
    for (uint32_t i = 0; i < split->own.count; i++) {
        const char *name = split->own.params[i].name;
        const int is_local = strcmp(name, "local") == 0 && split->kind == SPLIT_FIRST;
        if (is_local || strcmp(name, "block") == 0)
            add(&split->other, name, split->own.params[i].value);
    }
    add(&split->other, "pattern", split->kind == SPLIT_FIRST ? "window" : "blocks");
}

static attn_status_t read_whole(attn_mpi_plan_t *plan, attn_error_t *error) {
    attn_plan_t *whole = NULL;
    attn_status_t status = attn_plan_create(plan->context, plan->backend, &plan->whole,
                                            plan->params, plan->param_count, &whole, error);
    if (status == ATTN_OK) add_facts(plan->split, whole);
    if (status == ATTN_OK)
        status = is_backend(plan->backend, "sparse") ? read_pattern(plan, whole, error)
                                                     : read_method(plan, error);
    attn_plan_destroy(whole);
    if (status == ATTN_OK && is_backend(plan->backend, "sparse")) make_others(plan);
    return status;
}

attn_status_t attn_mpi_split_prepare(attn_mpi_plan_t *plan, attn_error_t *error) {
    const size_t most = plan->param_count + FACTS + 2;
    split_t *split = plan->split = calloc(1, sizeof *split);
    if (split) split->own.params = calloc(3 * most, sizeof *split->own.params);
    if (split) split->texts = calloc(FACTS, TEXT);
    if (!split || !split->own.params || !split->texts)
        return attn_fail(error, ATTN_ERROR_MEMORY, "mpi: no memory for a plan");
    split->dense.params = split->own.params + most;
    split->other.params = split->dense.params + most;
    split->bounds = split->window = plan->whole;
    split->unit = 1;
    split->own.backend = plan->backend;
    for (uint32_t i = 0; i < plan->param_count; i++)
        add(&split->own, plan->params[i].name, plan->params[i].value);
    return is_backend(plan->backend, "softmax") ? ATTN_OK : read_whole(plan, error);
}

void attn_mpi_split_destroy(attn_mpi_plan_t *plan) {
    split_t *split = plan->split;
    if (!split) return;
    free(split->own.params);
    free(split->texts);
    attn_host_release(NULL, split->lists);
    free(split);
}

/* ---- blocks that are drawn ----------------------------------------------------------------------------- */

/* A sequence with one token for each block, whose weights say which blocks are seen. */
static attn_status_t plan_blocks(const attn_mpi_plan_t *plan, attn_plan_t **blocks,
                                 attn_error_t *error) {
    const split_t *split = plan->split;
    attn_problem_t p;
    attn_param_t *params = calloc(split->own.count + 1, sizeof *params);
    if (!params) return attn_fail(error, ATTN_ERROR_MEMORY, "mpi: no memory for a plan");
    attn_problem_init(&p, 1, 1, split->rows, split->columns, 1, 1);
    p.past = start_of(&plan->whole, plan->whole.keys) / split->block;
    if (plan->whole.causal != ATTN_CAUSAL_NONE) p.causal = ATTN_CAUSAL_TOP_LEFT;
    memcpy(params, split->own.params, split->own.count * sizeof *params);
    params[split->own.count] = (attn_param_t){"block", "1"};
    const attn_status_t status = attn_plan_create(plan->context, plan->backend, &p, params,
                                                  split->own.count + 1, blocks, error);
    free(params);
    return status;
}

/* Blocks of queries [first, first + count) to `lists`. */
static attn_status_t look(const attn_plan_t *blocks, attn_io_t *io, int64_t first, int64_t count,
                          float *row, uint8_t *lists, attn_error_t *error) {
    const int64_t columns = io->key.shape[2];
    attn_status_t status = ATTN_OK;
    for (int64_t i = 0; status == ATTN_OK && i < count; i++, lists += columns) {
        status = attn_weights(blocks, io, 0, 0, first + i, 1, row, columns, error);
        for (int64_t j = 0; status == ATTN_OK && j < columns; j++) lists[j] = row[j] > 0;
    }
    return status;
}

static int64_t blocks_in(const split_t *split, int64_t rows) {
    return (rows + split->block - 1) / split->block;
}

/* Queries that a rank has lists of: those that it computes. */
static attn_mpi_rows_t listed_rows(const attn_mpi_plan_t *plan) {
    const int64_t all = plan->whole.queries;
    if (plan->way != ATTN_MPI_WAY_TREE) return plan->query_rows;
    return (attn_mpi_rows_t){.count = {all}, .total = all};
}

attn_status_t attn_mpi_split_draw(attn_mpi_plan_t *plan, attn_error_t *error) {
    static float zero;
    split_t *split = plan->split;
    attn_plan_t *blocks = NULL;
    if (!split || split->kind != SPLIT_LISTED || split->is_given || split->is_csr) return ATTN_OK;
    const attn_mpi_rows_t own = listed_rows(plan);
    const int64_t rows[CHUNKS] = {blocks_in(split, own.count[0]), blocks_in(split, own.count[1])};
    attn_status_t status = plan_blocks(plan, &blocks, error);
    if (status != ATTN_OK) return status;
    const size_t workspace = (size_t)attn_plan_workspace_size(blocks);
    attn_io_t io;
    attn_io_init(&io);
    io.query = (attn_tensor_t){.data = &zero, .dtype = ATTN_F32, .shape = {1, 1, split->rows, 1}};
    io.key = (attn_tensor_t){.data = &zero, .dtype = ATTN_F32, .shape = {1, 1, split->columns, 1}};
    io.workspace = attn_host_allocate(NULL, workspace + 1);
    io.workspace_size = workspace;
    float *row = malloc((size_t)split->columns * sizeof *row);
    split->lists = attn_host_allocate(NULL, (size_t)((rows[0] + rows[1]) * split->columns) + 1);
    if (!io.workspace || !row || !split->lists)
        status = attn_fail(error, ATTN_ERROR_MEMORY, "mpi: no memory for lists of blocks");
    for (int q = 0; status == ATTN_OK && q < CHUNKS; q++)
        status = look(blocks, &io, own.first[q] / split->block, rows[q], row,
                      split->lists + (q ? rows[0] * split->columns : 0), error);
    free(row);
    attn_host_release(NULL, io.workspace);
    attn_plan_destroy(blocks);
    return status;
}

/* ---- blocks that are given ------------------------------------------------------------------------------ */

static attn_status_t refuse_own(const attn_io_t *io, attn_error_t *error) {
    for (uint32_t i = 0; i < ATTN_MOST_OWN_ARRAYS; i++)
        if (attn_own_array(io, i))
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "mpi: own array %u is there, the problem does not name it", i);
    return ATTN_OK;
}

/* (B or 1, H or 1, rows, columns), whole on every rank. */
static attn_status_t check_list(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                enum list_array which, const char *name, attn_dtype_t dtype,
                                int64_t rows, int64_t columns, attn_error_t *error) {
    const attn_tensor_t *list = attn_own_array(io, plan->split->index[which]);
    const attn_problem_t *p = &plan->whole;
    if (!list)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: is missing: its data is NULL", name);
    if (list->dtype != dtype || (uintptr_t)list->data % (uintptr_t)attn_dtype_size(dtype))
        return attn_fail(error, ATTN_ERROR_DTYPE, "%s: dtype is %s, must be aligned %s", name,
                         attn_dtype_name(list->dtype), attn_dtype_name(dtype));
    const int64_t *shape = list->shape;
    if ((shape[0] == 1 || shape[0] == p->batch) && (shape[1] == 1 || shape[1] == p->heads) &&
        shape[2] == rows && shape[3] == columns)
        return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_SHAPE,
                     "%s: shape is (%lld, %lld, %lld, %lld), must be (%lld or 1, %lld or 1, %lld, "
                     "%lld), whole on every rank",
                     name, (long long)shape[0], (long long)shape[1], (long long)shape[2],
                     (long long)shape[3], (long long)p->batch, (long long)p->heads, (long long)rows,
                     (long long)columns);
}

static const int64_t *numbers_of(const attn_tensor_t *list, int64_t b, int64_t h) {
    return (const int64_t *)list->data + (list->shape[0] > 1 ? b * list->stride[0] : 0) +
           (list->shape[1] > 1 ? h * list->stride[1] : 0);
}

/* A row of blocks, as sparse checks it. */
static attn_status_t read_row(const split_t *split, const attn_tensor_t *starts,
                              const attn_tensor_t *columns, const int64_t at[3], uint8_t *listed,
                              attn_error_t *error) {
    const int64_t *row = numbers_of(starts, at[0], at[1]) + at[2] * starts->stride[3];
    const int64_t *entries = numbers_of(columns, at[0], at[1]);
    const int64_t start = row[0], end = row[starts->stride[3]];
    if (start < 0 || end < start || end > columns->shape[3])
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "block_starts: batch %lld, head %lld: row %lld is %lld to %lld of %lld "
                         "entries",
                         (long long)at[0], (long long)at[1], (long long)at[2], (long long)start,
                         (long long)end, (long long)columns->shape[3]);
    for (int64_t t = start, before = -1; t < end; t++) {
        const int64_t column = entries[t * columns->stride[3]];
        if (column <= before || column >= split->columns)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "block_columns: batch %lld, head %lld: row %lld has block %lld, must "
                             "be above %lld, below %lld",
                             (long long)at[0], (long long)at[1], (long long)at[2],
                             (long long)column, (long long)before, (long long)split->columns);
        listed[column] = 1;
        before = column;
    }
    return ATTN_OK;
}

static attn_status_t make_lists(split_t *split, int64_t rows, attn_error_t *error) {
    const uint64_t size = (uint64_t)(split->sequences * split->heads * rows * split->columns);
    if (size > split->lists_size || !split->lists) {
        attn_host_release(NULL, split->lists);
        split->lists = attn_host_allocate(NULL, (size_t)size + 1);
        split->lists_size = split->lists ? size : 0;
    }
    if (!split->lists)
        return attn_fail(error, ATTN_ERROR_MEMORY, "mpi: no memory for lists of blocks");
    memset(split->lists, 0, (size_t)size);
    return ATTN_OK;
}

/* Rows of the rank's own queries; a byte says of each block of keys whether it is listed. */
static attn_status_t read_csr(const attn_mpi_plan_t *plan, const attn_tensor_t *starts,
                              const attn_tensor_t *columns, attn_error_t *error) {
    split_t *split = plan->split;
    const attn_mpi_rows_t own = listed_rows(plan);
    const int64_t first = blocks_in(split, own.count[0]);
    const int64_t rows = first + blocks_in(split, own.count[1]);
    split->sequences = attn_max(starts->shape[0], columns->shape[0]);
    split->heads = attn_max(starts->shape[1], columns->shape[1]);
    attn_status_t status = make_lists(split, rows, error);
    uint8_t *listed = split->lists;
    for (int64_t b = 0; b < split->sequences; b++)
        for (int64_t h = 0; h < split->heads; h++)
            for (int64_t i = 0; status == ATTN_OK && i < rows; i++, listed += split->columns) {
                const int64_t row = i < first ? own.first[0] / split->block + i
                                              : own.first[1] / split->block + i - first;
                status = read_row(split, starts, columns, (int64_t[]){b, h, row}, listed, error);
            }
    return status;
}

attn_status_t attn_mpi_split_read_lists(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                        attn_error_t *error) {
    const split_t *split = plan->split;
    if (split->kind != SPLIT_LISTED || !(split->is_given || split->is_csr))
        return refuse_own(io, error);
    if (split->is_given)
        return check_list(plan, io, BLOCK_MASK, "block_mask", ATTN_BOOL, split->rows,
                          split->columns, error);
    const attn_tensor_t *starts = attn_own_array(io, split->index[BLOCK_STARTS]);
    const attn_tensor_t *columns = attn_own_array(io, split->index[BLOCK_COLUMNS]);
    attn_status_t status =
        check_list(plan, io, BLOCK_STARTS, "block_starts", ATTN_I64, 1, split->rows + 1, error);
    if (status == ATTN_OK)
        status = check_list(plan, io, BLOCK_COLUMNS, "block_columns", ATTN_I64, 1, split->entries,
                            error);
    return status == ATTN_OK ? read_csr(plan, starts, columns, error) : status;
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

static void cut_queries(piece_t *part, int64_t first, int64_t count) {
    part->queries.first += first;
    part->query_row += first;
    part->queries.count = count;
}

static void cut_keys(piece_t *part, int64_t first, int64_t count) {
    part->keys.first += first;
    part->key_row += first;
    part->keys.count = count;
}

/* The first queries see all keys, the others a window. */
static int split_first(const split_t *split, const piece_t *piece, piece_t parts[MOST_PARTS]) {
    const int64_t all = piece->queries.count;
    const int64_t first =
        attn_max(0, attn_min(all, split->global - piece->start - piece->queries.first));
    int count = 0;
    parts[0] = *piece;
    parts[0].method = &split->own;
    if (piece->keys.first == 0) return 1;
    parts[0].method = &split->dense;
    cut_queries(&parts[0], 0, first);
    if (first) count++;
    parts[count] = *piece;
    parts[count].method = &split->other;
    cut_queries(&parts[count], first, all - first);
    return count + (first < all && attn_mpi_meets(&split->window, piece->start,
                                                  parts[count].queries, piece->keys));
}

/* Keys before the first query all queries see; the others are a square with its corner there. */
static int split_square(const piece_t *piece, piece_t parts[MOST_PARTS]) {
    const int64_t before = piece->start + piece->queries.first - piece->keys.first;
    int count = 0;
    parts[0] = *piece;
    parts[0].is_seen = 1;
    if (before > 0) {
        cut_keys(&parts[0], 0, attn_min(before, piece->keys.count));
        count++;
    }
    if (before >= piece->keys.count) return count;
    parts[count] = *piece;
    if (before > 0) cut_keys(&parts[count], before, piece->keys.count - before);
    if (before < 0) cut_queries(&parts[count], -before, piece->queries.count + before);
    return count + (parts[count].queries.count > 0);
}

attn_tensor_t attn_mpi_part_mask(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                 const piece_t *part) {
    const split_t *split = plan->split;
    const int64_t columns = split->columns, group = group_of(&plan->whole);
    const int64_t rows = blocks_in(split, part->queries.count);
    int64_t row = part->queries.first / split->block;
    attn_tensor_t mask = {.data = NULL};
    if (split->is_given) {
        mask = *attn_own_array(io, split->index[BLOCK_MASK]);
    } else {
        const attn_mpi_rows_t own = listed_rows(plan);
        const int64_t all = blocks_in(split, own.count[0]) + blocks_in(split, own.count[1]);
        row = blocks_in(split, part->query_row);
        mask = attn_tensor_bhnd_of(ATTN_BOOL, split->lists, split->sequences, split->heads, all,
                                   columns);
    }
    mask = attn_mpi_slice_shared(mask, 0, part->batch, part->batches);
    mask = attn_mpi_slice_shared(mask, 1, part->kv_head * group, part->kv_heads * group);
    mask = attn_mpi_slice(mask, 2, row, rows);
    return attn_mpi_slice(mask, 3, part->keys.first / split->block,
                          blocks_in(split, part->keys.count));
}

/* Whether the lists of some head and sequence have a block of these keys. */
static int is_listed(const attn_mpi_plan_t *plan, const attn_io_t *io, const piece_t *piece) {
    piece_t all = *piece;
    all.batch = all.kv_head = 0;
    all.batches = plan->whole.batch, all.kv_heads = plan->whole.kv_heads;
    const attn_tensor_t mask = attn_mpi_part_mask(plan, io, &all);
    const int64_t *shape = mask.shape, *stride = mask.stride;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t j = 0; j < shape[3]; j++)
                    if (((const uint8_t *)mask
                             .data)[b * stride[0] + h * stride[1] + i * stride[2] + j * stride[3]])
                        return 1;
    return 0;
}

int attn_mpi_split(const mpi_run_t *run, const piece_t *piece, piece_t parts[MOST_PARTS]) {
    const attn_mpi_plan_t *plan = run->plan;
    const split_t *split = plan->split;
    piece_t whole = *piece;
    whole.method = split->kind == SPLIT_LISTED ? &split->other : &split->own;
    parts[0] = whole;
    if (!run->takes_all &&
        !attn_mpi_meets(&split->bounds, piece->start, piece->queries, piece->keys))
        return 0;
    if (split->kind == SPLIT_FIRST) return split_first(split, &whole, parts);
    if (split->kind == SPLIT_LISTED) return !run->io || is_listed(plan, run->io, piece);
    if (split->kind == SPLIT_SKETCH && plan->whole.causal != ATTN_CAUSAL_NONE)
        return split_square(&whole, parts);
    return 1;
}

attn_problem_t attn_mpi_part_problem(const attn_mpi_plan_t *plan, const piece_t *part) {
    const split_t *split = plan->split;
    attn_problem_t p =
        attn_mpi_block(&plan->whole, part->start, part->queries, part->keys, split->by_position);
    p.own_inputs = split->kind == SPLIT_LISTED ? 1u << split->index[BLOCK_MASK] : 0;
    if (part->is_seen) p.causal = ATTN_CAUSAL_NONE, p.past = 0;
    return p;
}
