/*
 * step.h: gates of a step of tokens, and products of its rows with keys that decay between them, for the tier being
 * compiled. recurrence.c says what they are.
 */
#ifndef ATTN_LINEAR_STEP_H
#define ATTN_LINEAR_STEP_H

#include "work.h"

#include "ahead.h"

/* The gates of a step; a token that is none decays nothing. */
ATTN_STEP void load_gates(work_t *work, int64_t first, int64_t count) {
    const int64_t width = work->width;
    for (int64_t t = 0; linear_has_delta(work->form) && t < count; t++) {
        const attn_tensor_t *tensor;
        work->beta[t] = *own_row(work, LINEAR_BETA, first + t, &tensor);
    }
    if (!linear_has_decay(work->form)) return;
    memset(work->log, 0, (size_t)width * sizeof(float));
    for (int64_t t = 0; t < count; t++) {
        const float *a = work->a + t * width;
        float *p = work->p + t * width;
        load_decay(work, first + t, work->a + t * width);
        for (int64_t k = 0; k < width; k += VF_LANES)
            vf_store(p + k, t ? vf_mul(vf_load(a + k), vf_load(p - width + k)) : vf_load(a + k));
    }
    for (int64_t i = count * width; i < attn_round_up(count, BLOCK) * width; i++) work->a[i] = 1.0f;
}

/* Rows times p, up to the token that each sees; without decays the rows themselves. */
static const float *decay_rows(const work_t *work, const float *rows, int64_t count) {
    if (!linear_has_decay(work->form) || count == 0) return rows;
    for (int64_t i = 0; i < count * work->width; i += VF_LANES)
        vf_store(work->kp + i, vf_mul(vf_load(rows + i), vf_load(work->p + i)));
    return work->kp;
}

/* Products of key j, which has decayed until token `first`, with the BLOCK rows from there on. */
ATTN_INLINE void multiply_block(const work_t *work, const float *x, const float *from, int64_t j,
                                int64_t first, int skipped) {
    const int64_t width = work->width;
    float *last = work->last + j * width;
    const float *a = work->a + first * width;
    vf sums[BLOCK];
    ATTN_UNROLL
    for (int i = 0; i < BLOCK; i++) sums[i] = vf_zero();
    x += first * width;
    for (int64_t k = 0; k < width; k += VF_LANES) {
        vf key = vf_load(from + k);
        ATTN_UNROLL
        for (int i = 0; i < BLOCK; i++) {
            if (i < skipped) continue;
            if (i > skipped) key = vf_mul(key, vf_load(a + i * width + k));
            sums[i] = vf_mul_add(vf_load(x + i * width + k), key, sums[i]);
        }
        vf_store(last + k, key);
    }
    vf_reduce_add4(work->products + j * STEP + first, sums);
}

/*
 * products[j][i] = x_i.k_j^(i) for j <= i < count, 0 for j > i in a block, and `last`, keys decayed until the
 * last token.
 */
static void multiply_rows(const work_t *work, const float *x, int64_t count) {
    const int64_t width = work->width;
    for (int64_t first = 0; first < count; first += BLOCK) {
        for (int64_t j = 0; j < first; j++)
            multiply_block(work, x, work->last + j * width, j, first, -1);
        multiply_block(work, x, work->k + first * width, first, first, 0);
        multiply_block(work, x, work->k + (first + 1) * width, first + 1, first, 1);
        multiply_block(work, x, work->k + (first + 2) * width, first + 2, first, 2);
        multiply_block(work, x, work->k + (first + 3) * width, first + 3, first, 3);
    }
}

/* Of keys, values and decays the rows that the next step reads. */
ATTN_RARE_STEP product_ahead_t next_tokens(const work_t *work, int64_t first) {
    const attn_head_t *head = work->head;
    const attn_tensor_t *const tensors[] = {&head->io->key, &head->io->value,
                                            attn_own_array(head->io, LINEAR_DECAY)};
    return ahead_of_rows(tensors, STEP, head->batch, head->kv_head, first);
}

#endif
