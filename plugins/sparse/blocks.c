/*
 * blocks: those that the run's arrays say, as a plain matrix or as compressed sparse rows, and which of
 * them the mask leaves whole (FlexAttention's BlockMask). Blocks of queries are counted by the queries'
 * numbers. An axis of batches or heads may be 1, the same for all.
 */
#include "blocks.h"

#include "attn/support.h"

#define ARRAY(type, row, id, words)                                                                \
    {                                                                                              \
        .struct_size = sizeof(attn_array_info_t), .role = ATTN_ROLE_INPUT,                         \
        .presence = ATTN_PRESENCE_NAMED, .dtype = ATTN_##type,                                     \
        .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_HEADS, ATTN_AXIS_##row, ATTN_AXIS_PLAN},               \
        .broadcast = 3, .name = id, .help = words                                                  \
    }

const attn_array_info_t attn_sparse_arrays[SPARSE_ARRAYS] = {
    [SPARSE_MASK] = ARRAY(BOOL, PLAN, "block_mask", "blocks: true where a row sees a block"),
    [SPARSE_STARTS] = ARRAY(I64, ONE, "block_starts", "blocks: where rows begin in block_columns"),
    [SPARSE_COLUMNS] = ARRAY(I64, ONE, "block_columns", "blocks: those that rows see, ascending"),
    [SPARSE_FULL] = ARRAY(BOOL, ONE, "block_full", "blocks: true where there is no mask"),
};
#undef ARRAY

attn_status_t attn_sparse_check_inputs(int listed, uint32_t own_inputs, attn_error_t *error) {
    const uint32_t mask = 1u << SPARSE_MASK, full = 1u << SPARSE_FULL;
    const uint32_t lists = 1u << SPARSE_STARTS | 1u << SPARSE_COLUMNS;
    if (!listed && own_inputs)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "sparse: arrays of blocks need pattern blocks");
    if (listed && own_inputs != mask && own_inputs != lists && own_inputs != (lists | full))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "sparse: pattern blocks needs block_mask alone, or block_starts and "
                         "block_columns");
    return ATTN_OK;
}

void attn_sparse_shape(const sparse_pattern_t *pattern, int64_t entries, uint32_t index,
                       int64_t shape[4]) {
    const int64_t rows = (pattern->queries - 1) / pattern->block + 1;
    shape[2] = shape[3] = 1;
    if (pattern->kind != &attn_sparse_blocks) return; /* no run has it */
    if (index == SPARSE_MASK) shape[2] = rows;
    shape[3] = index == SPARSE_MASK     ? pattern->columns
               : index == SPARSE_STARTS ? rows + 1
                                        : entries;
}

/* ---- the arrays of one head -------------------------------------------------------------------------- */

/* Row `row` of one head's part, and nothing of an array that is not there. */
static const void *at(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t row) {
    if (!tensor) return NULL;
    return (const char *)tensor->data +
           attn_broadcast_offset(tensor, batch, head, row) * attn_dtype_size(tensor->dtype);
}

static sparse_list_t list_of(const attn_io_t *io, int64_t batch, int64_t head) {
    const attn_tensor_t *starts = attn_own_array(io, SPARSE_STARTS);
    const attn_tensor_t *columns = attn_own_array(io, SPARSE_COLUMNS);
    const attn_tensor_t *full = attn_own_array(io, SPARSE_FULL);
    return (sparse_list_t){.starts = at(starts, batch, head, 0),
                           .listed = at(columns, batch, head, 0),
                           .full = at(full, batch, head, 0),
                           .starts_stride = starts->stride[3],
                           .listed_stride = columns->stride[3],
                           .full_stride = full ? full->stride[3] : 0};
}

static int next(const attn_pattern_t *base, const attn_head_t *head, const attn_queries_t *queries,
                attn_key_span_t *run) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const int64_t block = pattern->block, row = queries->first / block;
    const attn_tensor_t *mask = attn_own_array(head->io, SPARSE_MASK);
    if (!mask) {
        sparse_list_t list = list_of(head->io, head->batch, queries->head);
        list.row = row;
        return attn_sparse_next_listed(&list, block, run);
    }
    const uint8_t *kept = at(mask, head->batch, queries->head, row);
    int64_t first = run->last / block;
    while (first < pattern->columns && !kept[first * mask->stride[3]]) first++;
    int64_t last = first;
    while (last < pattern->columns && kept[last * mask->stride[3]]) last++;
    if (first < last) *run = (attn_key_span_t){.first = first * block, .last = last * block};
    return first < last;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

/* Where a list is that is being checked. */
typedef struct place {
    int64_t batch, head, row;
} place_t;

static attn_status_t check_row(const sparse_pattern_t *pattern, const sparse_list_t *list,
                               const place_t *place, int64_t entries, attn_error_t *error) {
    const int64_t start = list->starts[place->row * list->starts_stride];
    const int64_t end = list->starts[(place->row + 1) * list->starts_stride];
    if (start < 0 || end < start || end > entries)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "block_starts: batch %lld, head %lld: row %lld is %lld to %lld of %lld "
                         "entries",
                         (long long)place->batch, (long long)place->head, (long long)place->row,
                         (long long)start, (long long)end, (long long)entries);
    for (int64_t t = start, before = -1; t < end; t++) {
        const int64_t column = list->listed[t * list->listed_stride];
        if (column <= before || column >= pattern->columns)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "block_columns: batch %lld, head %lld: row %lld has block %lld, must "
                             "be above %lld, below %lld",
                             (long long)place->batch, (long long)place->head, (long long)place->row,
                             (long long)column, (long long)before, (long long)pattern->columns);
        before = column;
    }
    return ATTN_OK;
}

attn_status_t attn_sparse_check_lists(const sparse_pattern_t *pattern, const attn_io_t *io,
                                      attn_error_t *error) {
    const attn_tensor_t *starts = attn_own_array(io, SPARSE_STARTS);
    const attn_tensor_t *columns = attn_own_array(io, SPARSE_COLUMNS);
    if (!starts) return ATTN_OK;
    place_t place;
    for (place.batch = 0; place.batch < attn_max(starts->shape[0], columns->shape[0]);
         place.batch++)
        for (place.head = 0; place.head < attn_max(starts->shape[1], columns->shape[1]);
             place.head++) {
            const sparse_list_t list = list_of(io, place.batch, place.head);
            for (place.row = 0; place.row + 1 < starts->shape[3]; place.row++) {
                const attn_status_t status =
                    check_row(pattern, &list, &place, columns->shape[3], error);
                if (status != ATTN_OK) return status;
            }
        }
    return ATTN_OK;
}

const sparse_kind_t attn_sparse_blocks = {
    .facts = SPARSE_BLOCK, .next = next, .cost = "the listed blocks B B (d + dv)"};
