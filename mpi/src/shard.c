/* Which rows a rank has, and the problem of a block of queries beside a block of keys. */
#include "shard.h"

#include "attn/pairs.h"

/* Units before part `part` of `parts`: even parts, the first of them longer by a unit. */
static int64_t units_before(int64_t units, int64_t part, int64_t parts) {
    const int64_t each = units / parts, longer = units % parts;
    return part * each + (part < longer ? part : longer);
}

static span_t part_of(int64_t rows, int64_t unit, int64_t part, int64_t parts) {
    const int64_t units = rows > unit ? rows / unit : 1;
    const int64_t begin = units_before(units, part, parts);
    const int64_t end = units_before(units, part + 1, parts);
    const int64_t first = begin == units ? rows : begin * unit;
    return (span_t){first, (end == units ? rows : end * unit) - first};
}

attn_mpi_rows_t attn_mpi_shard(int32_t layout, int64_t rows, int64_t unit, int rank, int size) {
    span_t chunks[CHUNKS] = {{0, 0}, {0, 0}};
    if (layout == ATTN_MPI_LAYOUT_ZIGZAG) {
        chunks[0] = part_of(rows, unit, rank, 2 * (int64_t)size);
        chunks[1] = part_of(rows, unit, 2 * (int64_t)size - 1 - rank, 2 * (int64_t)size);
    } else {
        chunks[0] = part_of(rows, unit, rank, size);
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
                              span_t keys, int by_position) {
    attn_problem_t block = *whole;
    block.dtype = ATTN_F32;
    block.queries = queries.count;
    block.keys = keys.count;
    block.inputs &= ~(uint32_t)ATTN_INPUT_SINKS;
    if (whole->scores == ATTN_SCORES_WEIGHTS)
        block.scores = ATTN_SCORES_MASKED; /* until lse is known */
    if (whole->causal != ATTN_CAUSAL_NONE) block.causal = ATTN_CAUSAL_TOP_LEFT;
    block.past = by_position || has_positions(whole) ? start + queries.first - keys.first : 0;
    return block;
}

int attn_mpi_meets(const attn_problem_t *whole, int64_t start, span_t queries, span_t keys) {
    if (!queries.count || !keys.count) return 0;
    const attn_problem_t block = attn_mpi_block(whole, start, queries, keys, 0);
    return attn_problem_seen_keys(&block) > 0;
}
