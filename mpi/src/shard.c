/* Which rows a rank has, and the problem of a block of queries beside a block of keys. */
#include "shard.h"

#include "attn/pairs.h"

/* Part `part` of `parts`: even ones, the first of them longer by a row. */
static span_t part_of(int64_t rows, int64_t part, int64_t parts) {
    const int64_t each = rows / parts, longer = rows % parts;
    const int64_t first = part * each + (part < longer ? part : longer);
    return (span_t){first, each + (part < longer)};
}

attn_mpi_rows_t attn_mpi_shard(int32_t layout, int64_t rows, int rank, int size) {
    span_t chunks[CHUNKS] = {{0, 0}, {0, 0}};
    if (layout == ATTN_MPI_LAYOUT_ZIGZAG) {
        chunks[0] = part_of(rows, rank, 2 * (int64_t)size);
        chunks[1] = part_of(rows, 2 * (int64_t)size - 1 - rank, 2 * (int64_t)size);
    } else {
        chunks[0] = part_of(rows, rank, size);
        chunks[1].first = chunks[0].first + chunks[0].count;
    }
    return (attn_mpi_rows_t){.first = {chunks[0].first, chunks[1].first},
                             .count = {chunks[0].count, chunks[1].count},
                             .total = chunks[0].count + chunks[1].count};
}

/* Whether anything depends on where a query stands. */
static int has_positions(const attn_problem_t *problem) {
    return problem->causal != ATTN_CAUSAL_NONE || problem->window_left >= 0 ||
           problem->window_right >= 0 || problem->inputs & ATTN_INPUT_SLOPES;
}

attn_problem_t attn_mpi_block(const attn_problem_t *whole, int64_t start, span_t queries,
                              span_t keys) {
    attn_problem_t block = *whole;
    block.dtype = ATTN_F32;
    block.queries = queries.count;
    block.keys = keys.count;
    block.inputs &= ~(uint32_t)ATTN_INPUT_SINKS;
    if (whole->causal != ATTN_CAUSAL_NONE) block.causal = ATTN_CAUSAL_TOP_LEFT;
    block.past = has_positions(whole) ? start + queries.first - keys.first : 0;
    return block;
}

int attn_mpi_meets(const attn_problem_t *whole, int64_t start, span_t queries, span_t keys) {
    if (!queries.count || !keys.count) return 0;
    const attn_problem_t block = attn_mpi_block(whole, start, queries, keys);
    return attn_problem_seen_keys(&block) > 0;
}
