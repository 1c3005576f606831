/*
 * Attention by integer dot products for one head (quantised.h): the online softmax between products
 * of gemm/dots.h. Compiled once per tier.
 */
#include "attention/kernels.h"
#include "attention/quantised_block.h"
#include "attention/scores.h"

/* A tile's queries in words, and what they are multiplied with. */
typedef struct queries {
    int32_t *words; /* [words of dim][EXACT_ROWS]; DOTS_BY_ROW: [EXACT_ROWS][words of dim] */
    float scales[EXACT_ROWS];
} queries_t;

typedef struct space {
    exact_scratch_t exact;
    queries_t queries[EXACT_TILES];
    char *weights;  /* [TILE_ROWS][QUANTISED_KEYS], of `bytes` bytes each */
    int32_t *words; /* DOTS_BY_ROW: [words of dim][EXACT_ROWS], a tile's queries on their way */
    packing_t packing;
} space_t;

static space_t lay_out_quantised_task(const attn_problem_t *problem, attn_arena_t *arena) {
    space_t space = {.packing = lay_out_packing(problem, arena)};
    space.exact = exact_lay_out(problem, arena);
    const int64_t words = dots_words(2, problem->dim);
    for (int t = 0; t < EXACT_TILES; t++)
        space.queries[t].words = attn_arena_take(arena, words, EXACT_ROWS * sizeof(int32_t));
    if (DOTS_BY_ROW) space.words = attn_arena_take(arena, words, EXACT_ROWS * sizeof(int32_t));
    space.weights = attn_arena_take(arena, TILE_ROWS, QUANTISED_KEYS * sizeof(int16_t));
    return space;
}

static void scratch(const attn_problem_t *problem, const attn_pattern_t *pattern,
                    attn_arena_t *arena) {
    (void)pattern;
    lay_out_quantised_task(problem, arena);
}

/* ---- attending ------------------------------------------------------------------------------------ */

/* One tile and one block, of which it sees the keys from `first` on, `keys` of them: whole panels. */
typedef struct step {
    const attn_head_t *head;
    const attn_key_rows_t *key_list;
    exact_tile_t *tile;
    const queries_t *queries;
    const block_t *block;
    const space_t *space;
    int64_t base, first, keys; /* the block's first key, and in the block */
} step_t;

/* What the mean of the keys adds to each row's logits. */
ATTN_INLINE void find_shift(const step_t *step, float *shift) {
    const exact_tile_t *tile = step->tile;
    for (int r = 0; r < EXACT_ROWS; r += VF_LANES) {
        vf even = vf_zero(), odd = vf_zero();
        int64_t k = 0;
        for (; k + 2 <= tile->dim; k += 2) {
            even = vf_mul_add(vf_load(tile->query + k * TILE_ROWS + r),
                              vf_set1(step->block->mean[k]), even);
            odd = vf_mul_add(vf_load(tile->query + (k + 1) * TILE_ROWS + r),
                             vf_set1(step->block->mean[k + 1]), odd);
        }
        if (k < tile->dim)
            even = vf_mul_add(vf_load(tile->query + k * TILE_ROWS + r),
                              vf_set1(step->block->mean[k]), even);
        const vf half = vf_add(even, odd);
        vf_store(shift + r, vf_add(half, half));
    }
}

ATTN_INLINE void find_products(const form_t form, const step_t *step) {
    const int64_t words = dots_words(form.bytes, step->tile->dim);
    float shift[EXACT_ROWS];
    find_shift(step, shift);
    for (int64_t j = 0; j < step->keys; j += PANEL) {
        const int64_t at = step->first + j;
        const dots_columns_t columns = {
            .words = step->block->keys + at * words,
            .scales = step->block->key_scales + at,
            .starts = step->block->key_starts + at,
        };
        dots_scores(form.bytes, words, step->queries->words, DOTS_BY_ROW ? words : EXACT_ROWS,
                    step->queries->scales, shift, &columns, step->tile->scores + j, EXACT_KEYS);
    }
}

/*
 * Each row's logits to integers, against the largest of the row in this block, so that a block far
 * below others loses no digits. rescale[r] is what the old sums of row r are worth now, scales[r] what
 * its integers are.
 */
ATTN_INLINE void weigh(const form_t form, const step_t *step, float *rescale, float *scales) {
    exact_tile_t *tile = step->tile;
    const vf level = vf_set1((float)form.weight_level), round = vf_set1(DOTS_ROUND);
    vf largest[TILE_ROWS];
    float max[EXACT_ROWS];
    exact_maxima(tile, step->keys, largest);
    for (int r = 0; r < EXACT_ROWS; r++) max[r] = -FLT_MAX;
    for (int r = 0; r < tile->rows; r++) {
        const float most = vf_reduce_max(largest[r]);
        if (most > -FLT_MAX) max[r] = most; /* neither -inf, nor NaN, whose row is NaN anyway */
    }
    for (int r = 0; r < EXACT_ROWS; r += VF_LANES) {
        const vf old = vf_load(tile->max + r), here = vf_load(max + r), now = vf_max(old, here);
        vf_store(rescale + r, vf_exp4(vf_sub(old, now)));
        vf_store(scales + r, vf_exp4(vf_sub(here, now)));
        vf_store(tile->max + r, now);
    }
    for (int r = 0; r < tile->rows; r++) {
        const float *row = tile->scores + r * EXACT_KEYS;
        char *to = step->space->weights + r * QUANTISED_KEYS * form.bytes;
        const vf most = vf_set1(max[r]);
        vf sum = vf_zero();
        ATTN_UNROLL_4
        for (int64_t j = 0; j < step->keys; j += VF_LANES) {
            const vf weight = vf_exp4(vf_sub(vf_load(row + j), most));
            sum = vf_add(sum, weight);
            dots_store(form.bytes, to + j * form.bytes, vf_mul_add(weight, level, round));
        }
        const vf old = vf_mul(vf_set1(rescale[r]), vf_load(tile->sums[r]));
        vf_store(tile->sums[r], vf_mul_add(vf_set1(scales[r]), sum, old));
    }
    for (int r = 0; r < EXACT_ROWS; r++) scales[r] /= (float)form.weight_level;
}

/* Values that are not finite, to the rows that see them: a weight above 0 makes nothing else of them. */
static void add_infinite(const step_t *step) {
    const exact_tile_t *tile = step->tile;
    float *value = step->space->packing.rows;
    for (int64_t j = 0; j < step->keys; j++) {
        const int64_t key = step->base + step->first + j;
        if (key >= step->key_list->count) break;
        read_value(step->head, key, value);
        if (tile_all_finite(value, 0, 1, tile->value_dim)) continue;
        for (int r = 0; r < tile->rows; r++)
            for (int64_t c = 0; c < tile->value_dim; c++)
                if (!isfinite(value[c]) && tile->scores[r * EXACT_KEYS + j] != -INFINITY)
                    tile->out[r * tile->out_stride + c] += value[c];
    }
}

ATTN_INLINE void take_step(const form_t form, const step_t *step) {
    const exact_tile_t *tile = step->tile;
    const int64_t row_bytes = QUANTISED_KEYS * form.bytes;
    float rescale[EXACT_ROWS], scales[EXACT_ROWS];
    find_products(form, step);
    exact_shape(step->tile, step->key_list, step->base + step->first, step->keys);
    weigh(form, step, rescale, scales);
    if (!tile->out) return;
    memset(step->space->weights + tile->rows * row_bytes, form.bytes == 1 ? DOTS_ZERO : 0,
           (size_t)((TILE_ROWS - tile->rows) * row_bytes));
    const int64_t words = dots_words(form.bytes, QUANTISED_KEYS);
    for (int64_t c = 0; c < tile->value_dim; c += PANEL) {
        const dots_columns_t columns = {
            .words = step->block->values + c * words + dots_words(form.bytes, step->first) * PANEL,
            .scales = step->block->value_scales + c,
        };
        dots_accumulate(form.bytes, dots_words(form.bytes, step->keys), step->space->weights,
                        row_bytes, scales, rescale, &columns, tile->out + c, tile->out_stride,
                        tile->value_dim - c);
    }
    if (*step->block->infinite) add_infinite(step);
}

/* The part of the tile's keys that is in a block; `keys` is 0 where there is none. */
static step_t step_of(const exact_head_t *head, const space_t *space, int64_t t, int64_t base,
                      const block_t *block) {
    exact_tile_t *tile = &space->exact.tiles[t];
    const int64_t first = attn_max(base, attn_round_down(tile->low, PANEL));
    const int64_t last = attn_min(base + QUANTISED_KEYS, tile->high);
    return (step_t){
        .head = &head->head,
        .key_list = &head->key_lists[EXACT_ALL],
        .tile = tile,
        .queries = &space->queries[t],
        .block = block,
        .space = space,
        .base = base,
        .first = first - base,
        .keys = attn_max(0, attn_round_up(last - first, PANEL)),
    };
}

/* Where scores go; `rows` is NULL when tiles see keys instead. */
typedef struct scores {
    float *const *rows;
    int32_t stage;
} scores_t;

ATTN_INLINE void write_step(const form_t form, const step_t *step, const scores_t *scores,
                            float *const *rows) {
    const int64_t first = step->base + step->first;
    find_products(form, step);
    exact_score(step->tile, step->key_list, first, step->keys, scores->stage);
    exact_copy_scores(step->tile, step->key_list, first, step->keys, rows);
}

/* Block by block for all tiles, as exact_attend() has it. */
ATTN_INLINE void walk_blocks(const form_t form, const exact_head_t *head, const space_t *space,
                             int64_t count, const scores_t *scores) {
    exact_tile_t *tiles = space->exact.tiles;
    int64_t low = INT64_MAX, high = 0;
    for (int64_t t = 0; t < count; t++) {
        exact_span(&tiles[t], &tiles[t].low, &tiles[t].high);
        if (tiles[t].low >= tiles[t].high) continue;
        low = attn_min(low, tiles[t].low);
        high = attn_max(high, tiles[t].high);
    }
    for (int64_t base = low / QUANTISED_KEYS * QUANTISED_KEYS; base < high;
         base += QUANTISED_KEYS) {
        const block_t block = block_at(form.bytes, head->head.problem, &head->key_lists[EXACT_ALL],
                                       base / QUANTISED_KEYS);
        for (int64_t t = 0; t < count; t++) {
            const step_t step = step_of(head, space, t, base, &block);
            if (step.keys == 0) continue;
            if (scores->rows)
                write_step(form, &step, scores, scores->rows + t * TILE_ROWS);
            else
                take_step(form, &step);
        }
    }
}

/* Words of all rows to rows of words. */
ATTN_RARE_STEP void words_to_rows(int64_t words, const int32_t *from, int32_t *to) {
    for (int64_t g = 0; g < words; g++)
        for (int64_t r = 0; r < EXACT_ROWS; r++) to[r * words + g] = from[g * EXACT_ROWS + r];
}

/* Set up tiles with queries as floats and in words; returns how many. */
ATTN_INLINE int64_t prepare(const form_t form, const attn_head_t *head,
                            const attn_queries_t *queries, space_t *space, int with_output) {
    const int64_t tiles = exact_prepare(head, queries, &space->exact, with_output);
    const int64_t dim = head->problem->dim;
    for (int64_t t = 0; t < tiles; t++) {
        const quantise_to_t to = {
            .words = DOTS_BY_ROW ? space->words : space->queries[t].words,
            .scales = space->queries[t].scales,
            .width = EXACT_ROWS,
            .flip = form.bytes == 1 ? DOTS_FLIP : 0,
        };
        quantise_columns(form.bytes, space->exact.tiles[t].query, TILE_ROWS, dim,
                         quantise_level(form.key_level, dim), &to, EXACT_ROWS);
        if (DOTS_BY_ROW)
            words_to_rows(dots_words(form.bytes, dim), space->words, space->queries[t].words);
    }
    return tiles;
}

/* walk_blocks() of a precision. */
typedef void walk_t(const exact_head_t *head, const space_t *space, int64_t count,
                    const scores_t *scores);

ATTN_INLINE void quantised_attend(const form_t form, walk_t *walk, const exact_head_t *head,
                                  const attn_queries_t *queries) {
    const scores_t none = {.rows = NULL};
    attn_arena_t arena = {.base = queries->scratch};
    space_t space = lay_out_quantised_task(head->head.problem, &arena);
    const int64_t tiles = prepare(form, &head->head, queries, &space, 1);
    exact_see_all(&head->head, space.exact.tiles, tiles);
    dots_begin();
    walk(head, &space, tiles, &none);
    dots_end();
    exact_finish(&head->head, space.exact.tiles, tiles);
}

ATTN_INLINE void write_scores(const form_t form, walk_t *walk, const exact_head_t *head,
                              const attn_queries_t *queries, const scores_t *scores) {
    const scores_t none = {.rows = NULL};
    const int64_t keys = head->head.problem->keys;
    const int weights = scores->stage == ATTN_SCORES_WEIGHTS;
    attn_arena_t arena = {.base = queries->scratch};
    space_t space = lay_out_quantised_task(head->head.problem, &arena);
    const int64_t tiles = prepare(form, &head->head, queries, &space, 0);
    if (weights || scores->stage == ATTN_SCORES_MASKED) {
        exact_fill(scores->rows, attn_row_count(queries), keys, weights ? 0.0f : -INFINITY);
        exact_see_all(&head->head, space.exact.tiles, tiles);
    } else {
        exact_see_hidden(space.exact.tiles, tiles, keys);
    }
    dots_begin();
    if (weights) walk(head, &space, tiles, &none);
    walk(head, &space, tiles, scores);
    dots_end();
}

/* ---- the two precisions ---------------------------------------------------------------------------- */

#define PRECISION(name, form)                                                                      \
    static uint64_t name##_bytes(const attn_problem_t *problem) {                                  \
        attn_arena_t size = {.base = NULL};                                                        \
        lay_out_block(form.bytes, problem, &size);                                                 \
        return size.used;                                                                          \
    }                                                                                              \
    ATTN_RARE_STEP void name##_pack(const attn_head_t *head, const attn_key_rows_t *key_list,      \
                                    int64_t number, void *memory) {                                \
        pack(form, head, key_list, number, memory);                                                \
    }                                                                                              \
    static __attribute__((noinline)) void name##_walk(                                             \
        const exact_head_t *head, const space_t *space, int64_t count, const scores_t *scores) {   \
        walk_blocks(form, head, space, count, scores);                                             \
    }                                                                                              \
    ATTN_RARE_STEP void name##_attend(const exact_head_t *head, const attn_queries_t *queries) {   \
        quantised_attend(form, name##_walk, head, queries);                                        \
    }                                                                                              \
    ATTN_RARE_STEP void name##_scores(const exact_head_t *head, const attn_queries_t *queries,     \
                                      int32_t stage, float *const *rows) {                         \
        write_scores(form, name##_walk, head, queries, &(scores_t){rows, stage});                  \
    }
PRECISION(int8, INT8_FORM)
#if !DOTS_TILES
PRECISION(int16, INT16_FORM)
#endif

#define KERNELS(precision)                                                                         \
    {                                                                                              \
        .kind = EXACT_INTEGERS, .name = TILE_NAME " " #precision " prefill",                       \
        .decode_name = TILE_NAME " " #precision " decode", .panel = QUANTISED_KEYS,                \
        .panel_bytes = precision##_bytes, .rows = EXACT_TILES * TILE_ROWS, .tile = TILE_ROWS,      \
        .scratch = scratch, .pack = precision##_pack, .attend = precision##_attend,                \
        .scores = precision##_scores,                                                              \
    }
#if DOTS_TILES
const exact_kernels_t ATTN_KERNEL(attn_int8_tile_kernels) = KERNELS(int8);
#else
const quantised_kernels_t ATTN_KERNEL(attn_quantised_kernels) = {
    .int8 = KERNELS(int8),
    .int16 = KERNELS(int16),
};
#endif
