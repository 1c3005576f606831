/*
 * bigbird: the nearest k blocks, the first c, whose own queries see all, and some drawn at random for
 * each block of queries ("Big Bird: Transformers for Longer Sequences", arXiv:2007.14062). Where
 * queries see no later keys, blocks are drawn from those before.
 */
#include "attn/random.h"
#include "pattern.h"

#include <string.h>

/* Blocks that a row may be given: [first, near) and [behind, end), none of which it sees anyway. */
typedef struct others {
    int64_t first, near, behind, end;
} others_t;

static others_t others_of(const sparse_pattern_t *pattern, int64_t row) {
    const int64_t first = pattern->global;
    others_t others = {.first = first, .end = pattern->columns};
    if (pattern->is_causal) others.end = attn_min(others.end, row);
    if (row < pattern->global) others.end = 0;
    others.near = attn_max(first, attn_min(row - pattern->local + 1, others.end));
    others.behind = attn_max(first, row + pattern->local);
    return others;
}

/* As many as are asked for, or all, how many that is: each set of so many as likely as another, by one draw a block
 * (Floyd's sampling: Bentley, "Programming Pearls: A Sample of Brilliance", 1987). `kept` is 0 before and after. */
static int64_t draw_row(const sparse_pattern_t *pattern, int64_t row, uint8_t *kept,
                        int64_t *drawn) {
    const others_t others = others_of(pattern, row);
    const int64_t before = others.near - others.first;
    const int64_t count = before + attn_max(0, others.end - others.behind);
    int64_t most = 0;
    for (int64_t i = attn_max(0, count - pattern->random); i < count; i++) {
        const uint64_t bits = attn_random_u64(pattern->seed, (uint64_t)row, (uint64_t)i);
        int64_t ranks[2] = {(int64_t)(bits % (uint64_t)(i + 1)), i};
        for (int k = 0; k < 2; k++)
            ranks[k] += ranks[k] < before ? others.first : others.behind - before;
        drawn[most] = ranks[kept[ranks[0]]];
        kept[drawn[most++]] = 1;
    }
    for (int64_t i = 0; i < most; i++) kept[drawn[i]] = 0;
    return most;
}

/* Shell's sort (1959). */
static void sort(int64_t *numbers, int64_t count) {
    for (int64_t gap = count / 2; gap; gap /= 2)
        for (int64_t i = gap; i < count; i++) {
            const int64_t number = numbers[i];
            int64_t at = i;
            for (; at >= gap && numbers[at - gap] > number; at -= gap)
                numbers[at] = numbers[at - gap];
            numbers[at] = number;
        }
}

/* For each row the blocks in ascending order, and behind them `columns`. */
static void draw(sparse_pattern_t *pattern, int64_t dim, attn_arena_t *arena) {
    const int64_t columns = pattern->columns, most = pattern->random;
    int64_t *drawn = attn_arena_take(arena, pattern->rows, (uint64_t)most * sizeof *drawn);
    uint8_t *kept = attn_arena_take(arena, columns, 1);
    (void)dim;
    pattern->drawn = drawn;
    if (kept) memset(kept, 0, (size_t)columns);
    for (int64_t row = 0; kept && row < pattern->rows; row++, drawn += most) {
        int64_t count = draw_row(pattern, pattern->first_row + row, kept, drawn);
        while (count < most) drawn[count++] = columns;
        sort(drawn, most);
    }
}

static int64_t from(const sparse_pattern_t *pattern, int64_t row, int64_t column) {
    if (row < pattern->global || column < pattern->global) return column;
    const int64_t most = pattern->random;
    const int64_t *drawn = pattern->drawn + (row - pattern->first_row) * most;
    int64_t low = 0, high = most;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (drawn[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    const int64_t near = attn_sparse_near(pattern, row, column);
    return low < most && drawn[low] < near ? drawn[low] : near;
}

const sparse_kind_t attn_sparse_bigbird = {.facts = SPARSE_BLOCK | SPARSE_LOCAL | SPARSE_GLOBAL |
                                                    SPARSE_RANDOM,
                                           .from = from,
                                           .draw = draw,
                                           .cost = "n (k + c + random) B (d + dv)"};
