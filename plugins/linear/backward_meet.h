/* backward_meet.h: what a step's readers and keys are to each other on the way back (backward_rules.c). */
#ifndef ATTN_LINEAR_BACKWARD_MEET_H
#define ATTN_LINEAR_BACKWARD_MEET_H

#include "backward_step.h"

/* What the readers' S H_i, in by_reader, comes to behind P_i; and what P_i passes on. */
static void decay_readers(const way_t *way, const float *x, int64_t count) {
    const work_t *work = &way->work;
    for (int64_t k = 0; linear_has_decay(work->form) && k < work->width; k += VF_LANES) {
        vf passed = vf_zero();
        for (int64_t i = count - 1; i >= 0; i--) {
            const int64_t at = i * work->width + k;
            const vf change = vf_mul(vf_load(work->p + at), vf_load(way->by_reader + at));
            passed = vf_mul_add(vf_load(x + at), change, passed);
            vf_store(way->by_reader + at, change);
            vf_store(way->by_decay + at, vf_add(vf_load(way->by_decay + at), passed));
        }
    }
}

/* What meet() does: with decays, and with these' gradients. */
enum { MEET_ALL, MEET_DECAYED, MEET_GATES };

/* A vector's readers get their keys, each as it has decayed; `before` are these before each block of readers. */
ATTN_INLINE void meet_keys(const way_t *way, int64_t blocks, int what, int64_t k,
                           vf before[][STEP]) {
    const work_t *work = &way->work;
    const int64_t width = work->width;
    vf keys[STEP];
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t first = b * BLOCK;
        float *to = way->by_reader + first * width + k;
        vf sums[BLOCK], a[BLOCK];
        ATTN_UNROLL
        for (int i = 0; i < BLOCK; i++) {
            sums[i] = vf_load(to + i * width);
            a[i] = vf_load(work->a + (first + i) * width + k);
            keys[first + i] = vf_load(work->k + (first + i) * width + k);
        }
        for (int64_t j = 0; j < first; j++) {
            before[b][j] = keys[j];
            ATTN_UNROLL
            for (int i = 0; i < BLOCK; i++) {
                if (what != MEET_ALL) keys[j] = vf_mul(keys[j], a[i]);
                sums[i] = vf_mul_add(vf_set1(way->scores[j * STEP + first + i]), keys[j], sums[i]);
            }
        }
        ATTN_UNROLL
        for (int j = 0; j < BLOCK; j++) {
            ATTN_UNROLL
            for (int i = j; i < BLOCK; i++) {
                vf *key = &keys[first + j];
                if (i > j && what != MEET_ALL) *key = vf_mul(*key, a[i]);
                sums[i] =
                    vf_mul_add(vf_set1(way->scores[(first + j) * STEP + first + i]), *key, sums[i]);
            }
        }
        ATTN_UNROLL
        for (int i = 0; i < BLOCK; i++) vf_store(to + i * width, sums[i]);
    }
}

/*
 * h_t = sum_(i >= t) (H_i.u_j) a_i ... a_(t+1) x_i of key j for a block's t from its last to `first`; a[t] is a_(t+1).
 */
ATTN_INLINE vf gather(const float *scores, int first, int what, const vf x[BLOCK],
                      const vf a[BLOCK], vf h, vf each[BLOCK]) {
    ATTN_UNROLL
    for (int t = BLOCK - 1; t >= first; t--) {
        const vf reader = vf_mul(vf_set1(scores[t]), x[t]);
        h = what == MEET_ALL ? vf_add(h, reader) : vf_mul_add(h, a[t], reader);
        each[t] = h;
    }
    return h;
}

/* A vector's keys get their readers, and decays what goes by them. */
ATTN_INLINE void meet_readers(const way_t *way, const float *x_rows, int64_t blocks, int what,
                              int64_t k, vf before[][STEP]) {
    const work_t *work = &way->work;
    const int64_t width = work->width;
    vf from[STEP];
    for (int64_t j = 0; j < blocks * BLOCK; j++) from[j] = vf_zero();
    for (int64_t b = blocks - 1; b >= 0; b--) {
        const int64_t first = b * BLOCK;
        vf x[BLOCK], a[BLOCK + 1], passed[BLOCK], each[BLOCK];
        a[BLOCK] = b + 1 < blocks ? vf_load(work->a + (first + BLOCK) * width + k) : vf_zero();
        ATTN_UNROLL
        for (int t = 0; t < BLOCK; t++) {
            x[t] = vf_load(x_rows + (first + t) * width + k);
            a[t] = vf_load(work->a + (first + t) * width + k);
            passed[t] = vf_load(way->by_decay + (first + t) * width + k);
        }
        for (int64_t j = 0; j < first; j++) {
            vf key = before[b][j];
            from[j] = gather(way->scores + j * STEP + first, 0, what, x, a + 1, from[j], each);
            ATTN_UNROLL
            for (int t = 0; what == MEET_GATES && t < BLOCK; t++) {
                key = vf_mul(key, a[t]);
                passed[t] = vf_mul_add(key, each[t], passed[t]);
            }
        }
        ATTN_UNROLL
        for (int j = 0; j < BLOCK; j++) {
            float *to = way->by_key + (first + j) * width + k;
            const float *scores = way->scores + (first + j) * STEP + first;
            const vf sum = gather(scores, j, what, x, a + 1, from[first + j], each);
            vf key = vf_load(work->k + (first + j) * width + k);
            vf_store(to, vf_add(vf_load(to), sum));
            ATTN_UNROLL
            for (int t = j + 1; what == MEET_GATES && t < BLOCK; t++) {
                key = vf_mul(key, a[t]);
                passed[t] = vf_mul_add(key, each[t], passed[t]);
            }
        }
        ATTN_UNROLL
        for (int t = 0; what == MEET_GATES && t < BLOCK; t++)
            vf_store(way->by_decay + (first + t) * width + k, passed[t]);
    }
}

ATTN_INLINE void meet_all(const way_t *way, const float *x, int64_t count, int what) {
    const int64_t blocks = (count + BLOCK - 1) / BLOCK;
    vf before[STEP / BLOCK][STEP];
    for (int64_t k = 0; k < way->work.width; k += VF_LANES) {
        meet_keys(way, blocks, what, k, before);
        meet_readers(way, x, blocks, what, k, before);
    }
}

/* What readers and keys of the step are to each other. */
static void meet(const way_t *way, const float *x, int64_t count) {
    if (!linear_has_decay(way->work.form))
        meet_all(way, x, count, MEET_ALL);
    else if (!way->back->decay)
        meet_all(way, x, count, MEET_DECAYED);
    else
        meet_all(way, x, count, MEET_GATES);
}

/* by_reader = S H_i, and H_i.u_j */
static void read_changes(const way_t *way, const float *state, int64_t tokens,
                         product_ahead_t *ahead) {
    const work_t *work = &way->work;
    read_columns_of(way, way->changes, state, way->by_reader, ahead);
    if (tokens)
        product(way->scores, STEP, work->u, work->stride, way->columns, STEP, work->stride, STEP,
                STEP, NULL, 0, ahead);
}

#endif
