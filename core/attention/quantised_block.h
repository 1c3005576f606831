/*
 * attention/quantised_block.h: a block of keys and values in integers, and how it is packed. Part of
 * quantised_kernels.c.
 */
#ifndef ATTN_ATTENTION_QUANTISED_BLOCK_H
#define ATTN_ATTENTION_QUANTISED_BLOCK_H

#include "attention/quantised.h"

#include "attention/quantise.h"
#include "attention/tile_io.h"

_Static_assert((int)QUANTISED_KEYS % PANEL == 0 && (int)QUANTISED_KEYS <= EXACT_KEYS,
               "a block is whole panels, for whose logits a tile has room");

/* How a precision is computed: bytes of an integer, and the levels. */
typedef struct form {
    int bytes;
    int64_t key_level, weight_level, value_level;
} form_t;
static const form_t INT8_FORM = {VI_HAS_DOT8 ? 1 : 2, QUANTISED_INT8};
static const form_t INT16_FORM = {2, QUANTISED_INT16};

/* A block of keys as prefill.c keeps it. */
typedef struct block {
    int32_t *keys;       /* [panels][words of dim][PANEL] */
    float *key_scales;   /* [QUANTISED_KEYS] */
    int32_t *key_starts; /* the same */
    float *mean;         /* [dim]: half of the keys' mean */
    int32_t *values;     /* [panels of columns][words of QUANTISED_KEYS][PANEL] */
    float *value_scales; /* [columns] */
    int64_t *infinite;   /* whether a value is not finite */
} block_t;

static block_t lay_out_block(int bytes, const attn_problem_t *problem, attn_arena_t *arena) {
    const int64_t columns = attn_round_up(problem->value_dim, PANEL);
    block_t block;
    block.keys = attn_arena_take(arena, dots_words(bytes, problem->dim), QUANTISED_KEYS * 4);
    block.key_scales = attn_arena_take(arena, QUANTISED_KEYS, sizeof(float));
    block.key_starts = attn_arena_take(arena, QUANTISED_KEYS, sizeof(int32_t));
    block.mean = attn_arena_take(arena, attn_round_up(problem->dim, VF_LANES), sizeof(float));
    block.values = attn_arena_take(arena, columns, dots_words(bytes, QUANTISED_KEYS) * 4);
    block.value_scales = attn_arena_take(arena, columns, sizeof(float));
    block.infinite = attn_arena_take(arena, 1, sizeof(int64_t));
    return block;
}

static block_t block_at(int bytes, const attn_problem_t *problem, const attn_key_rows_t *key_list,
                        int64_t number) {
    attn_arena_t size = {.base = NULL};
    lay_out_block(bytes, problem, &size);
    attn_arena_t arena = {.base = (char *)key_list->panels + (uint64_t)number * size.used};
    return lay_out_block(bytes, problem, &arena);
}

/* What packing works in. */
typedef struct packing {
    float *rows;  /* [QUANTISED_KEYS][stride]: keys, then values */
    float *panel; /* [dim][PANEL] */
    int64_t stride;
} packing_t;

static packing_t lay_out_packing(const attn_problem_t *problem, attn_arena_t *arena) {
    const int64_t columns = attn_round_up(problem->value_dim, PANEL);
    packing_t packing = {.stride = attn_round_up(attn_max(problem->dim, columns), VF_LANES)};
    packing.rows = attn_arena_take(arena, packing.stride, QUANTISED_KEYS * sizeof(float));
    packing.panel = attn_arena_take(arena, problem->dim, PANEL * sizeof(float));
    return packing;
}

/* A block's keys `first` <= j < `first` + `count`, of which those are `visible` that some query of this head sees: what is
 * hidden from all has no say in how the others are quantised. */
typedef struct part {
    int64_t first, count;
    uint8_t visible[QUANTISED_KEYS];
} part_t;

/* Marks what a row of a mask, whose numbers stand `step` apart, hides, or of a bias. Side by side compilers make vectors
 * of them: where a key is hidden from all queries, all n m numbers of a head are looked at. */
ATTN_INLINE void hide_masked(uint8_t *restrict hidden, const uint8_t *restrict mask, int64_t step,
                             int64_t count) {
    for (int64_t j = 0; j < count; j++) hidden[j] |= mask[j * step] == 0;
}

ATTN_INLINE void hide_biased(uint8_t *restrict hidden, const float *restrict bias, int64_t step,
                             int64_t count) {
    for (int64_t j = 0; j < count; j++) hidden[j] |= bias[j * step] == -INFINITY;
}

/* Adds those that query `query` of a head sees of from <= j < to. */
static void see(const attn_head_t *head, int64_t query_head, int64_t query, int64_t from,
                int64_t to, part_t *part) {
    const attn_place_t at = {.batch = head->batch, .head = query_head, .query = query};
    const exact_mods_t mods = exact_mods_of(head, at);
    uint8_t hidden[QUANTISED_KEYS] = {0};
    from = attn_max(from, part->first);
    const int64_t count = attn_min(to, part->first + part->count) - from;
    if (mods.mask && mods.mask_key == 1)
        hide_masked(hidden, mods.mask + from, 1, count);
    else if (mods.mask)
        hide_masked(hidden, mods.mask + from * mods.mask_key, mods.mask_key, count);
    if (mods.bias && mods.bias_key == 1)
        hide_biased(hidden, mods.bias + from, 1, count);
    else if (mods.bias)
        hide_biased(hidden, mods.bias + from * mods.bias_key, mods.bias_key, count);
    for (int64_t j = 0; j < count; j++) part->visible[from - part->first + j] |= !hidden[j];
}

/* Where mask and bias, if any, are the same for all queries or heads, the first stands for them all. */
static void find_seen(const attn_head_t *head, part_t *part) {
    const attn_problem_t *problem = head->problem;
    const attn_tensor_t *mask = &head->io->mask, *bias = &head->io->bias;
    const int64_t group = attn_group(problem), last = problem->queries - 1;
    const int64_t keys = attn_keys_of(problem, head->io, head->batch);
    const int each = mask->shape[2] > 1 || bias->shape[2] > 1;
    const int64_t heads = mask->shape[1] > 1 || bias->shape[1] > 1 ? group : 1;
    memset(part->visible, 0, sizeof part->visible);
    for (int64_t h = 0; h < heads; h++)
        for (int64_t i = each ? last : 0; i >= 0; i--) {
            int64_t from, to, unused;
            attn_key_range(problem, keys, i, &from, &unused);
            attn_key_range(problem, keys, each ? i : last, &unused, &to);
            see(head, head->kv_head * group + h, i, from, to, part);
            if (!memchr(part->visible, 0, (size_t)part->count)) return;
        }
}

/* Half of the mean of the rows that count and are finite: halves cannot overflow, nor can their differences. */
static void find_mean(const float *rows, int64_t stride, const part_t *part, int64_t dim,
                      float *mean) {
    const int64_t count = part->count;
    uint8_t finite[QUANTISED_KEYS];
    const int all = tile_all_finite(rows, stride, count, dim);
    int64_t counted = 0;
    for (int64_t j = 0; j < count; j++) {
        finite[j] = part->visible[j] && (all || tile_all_finite(rows + j * stride, stride, 1, dim));
        counted += finite[j];
    }
    const vf share = vf_set1(0.5f / (float)attn_max(counted, 1));
    for (int64_t c = 0; c < dim; c += VF_LANES) {
        vf sum = vf_zero();
        for (int64_t j = 0; j < count; j++)
            if (finite[j]) sum = vf_add(sum, vf_mul(vf_load(rows + j * stride + c), share));
        vf_store(mean + c, sum);
    }
}

/* Keys that nobody sees have logits, which scores may ask for. */
ATTN_INLINE void pack_keys(const form_t form, const attn_problem_t *problem,
                           const packing_t *packing, const part_t *part, const block_t *block) {
    const int64_t dim = problem->dim, words = dots_words(form.bytes, dim);
    const float level = quantise_level(form.key_level, dim);
    find_mean(packing->rows, packing->stride, part, dim, block->mean);
    for (int64_t first = 0; first < part->count; first += PANEL) {
        const quantise_to_t to = {
            .words = block->keys + first * words,
            .scales = block->key_scales + first,
            .starts = form.bytes == 1 ? block->key_starts + first : NULL,
            .width = PANEL,
        };
        tile_pack(packing->panel, PANEL, attn_min(PANEL, part->count - first), dim,
                  packing->rows + first * packing->stride, packing->stride, 1, 0.5f);
        for (int64_t k = 0; k < dim; k++)
            for (int64_t j = 0; j < PANEL; j++) packing->panel[k * PANEL + j] -= block->mean[k];
        quantise_columns(form.bytes, packing->panel, PANEL, dim, level, &to, PANEL);
        for (int64_t j = 0; j < PANEL; j++) to.scales[j] *= 2.0f;
    }
}

/* Zero for values that are not finite, which add_infinite() adds. */
static int64_t take_infinite(float *rows, int64_t stride, int64_t count, int64_t columns) {
    if (tile_all_finite(rows, stride, count, columns)) return 0;
    for (int64_t j = 0; j < count; j++)
        for (int64_t c = 0; c < columns; c++)
            if (!isfinite(rows[j * stride + c])) rows[j * stride + c] = 0.0f;
    return 1;
}

static void read_value(const attn_head_t *head, int64_t key, float *row) {
    const attn_tensor_t *value = &head->io->value;
    convert_row(row, exact_at(value, attn_offset(value, head->batch, head->kv_head, key)),
                value->dtype, value->stride[3], head->problem->value_dim,
                exact_token_scale(&head->io->value_scales, head, key));
}

ATTN_INLINE void pack_values(const form_t form, const attn_head_t *head, const packing_t *packing,
                             const part_t *part, const block_t *block) {
    const int64_t count = part->count;
    const int64_t value_dim = head->problem->value_dim, columns = attn_round_up(value_dim, PANEL);
    const int64_t stride = packing->stride, terms = attn_round_up(count, PANEL);
    for (int64_t j = 0; j < terms; j++) {
        float *row = packing->rows + j * stride;
        const int visible = j < count && part->visible[j];
        if (visible) read_value(head, part->first + j, row);
        for (int64_t c = visible ? value_dim : 0; c < columns; c++) row[c] = 0.0f;
    }
    *block->infinite = take_infinite(packing->rows, stride, count, value_dim);
    for (int64_t c = 0; c < columns; c += PANEL) {
        const quantise_to_t to = {
            .words = block->values + c * dots_words(form.bytes, QUANTISED_KEYS),
            .scales = block->value_scales + c,
            .width = PANEL,
        };
        quantise_columns(form.bytes, packing->rows + c, stride, terms, (float)form.value_level, &to,
                         PANEL);
    }
}

/* Block number `number` of a key list; `memory` has room for packing. */
ATTN_INLINE void pack(const form_t form, const attn_head_t *head, const attn_key_rows_t *key_list,
                      int64_t number, void *memory) {
    const attn_problem_t *problem = head->problem;
    const attn_tensor_t *key = &head->io->key;
    attn_arena_t arena = {.base = memory};
    const packing_t packing = lay_out_packing(problem, &arena);
    const block_t block = block_at(form.bytes, problem, key_list, number);
    const int64_t first = number * QUANTISED_KEYS;
    part_t part = {.first = first, .count = attn_min(QUANTISED_KEYS, key_list->count - first)};
    for (int64_t j = 0; j < part.count; j++)
        convert_row(packing.rows + j * packing.stride,
                    exact_at(key, attn_offset(key, head->batch, head->kv_head, first + j)),
                    key->dtype, key->stride[3], problem->dim,
                    exact_token_scale(&head->io->key_scales, head, first + j));
    find_seen(head, &part);
    pack_keys(form, problem, &packing, &part, &block);
    if (head->io->value.data) pack_values(form, head, &packing, &part, &block);
}

#endif
