/*
 * add.h: how tokens join a state, for the tier being compiled. What a step of tokens adds is summed up by itself, and
 * what rounding leaves out of a state's sum stands beside it and comes in with the next step (Kahan, "Further
 * Remarks on Reducing Truncation Errors", 1965). So the error does not grow with the number of steps: it is that of
 * one step's sums and twice that of a number (Higham, "Accuracy and Stability of Numerical Algorithms", 4.3).
 */
#ifndef ATTN_LINEAR_ADD_H
#define ATTN_LINEAR_ADD_H

#include "gemm/product.h"
#include "state.h"

#include <float.h>
#include <string.h>

/*
 * What a step keeps of each row of a state, a S = base S + more S, where base is 1 for an a close to 1, else 0: `more`
 * is then a - 1, with all its digits. NULL: everything.
 */
typedef struct linear_keep {
    const float *base, *more;
    int forgets; /* all rows so much that no error lasts: base is 0, and nothing is left out */
} linear_keep_t;

/*
 * sum = a sum + more, with what rounding leaves at `rest`: of an infinite sum, which stays so, any number. a is
 * base + factor; what a sum goes on by comes from the factor, with all its digits.
 */
ATTN_INLINE void add_vector(float *sum, float *rest, vf more, int decays, vf base, vf factor) {
    vf old = vf_load(sum), left = vf_load(rest), now;
    if (decays) {
        more = vf_add(more, vf_mul(base, left));
        now = vf_mul_add(vf_add(base, factor), old, more);
        more = vf_mul_add(factor, old, more);
        old = vf_mul(base, old);
    } else {
        more = vf_add(more, left);
        now = vf_add(old, more);
    }
    left = vf_sub(more, vf_sub(now, old));
    vf_store(sum, now);
    vf_store(rest, vf_min(vf_max(left, vf_set1(-FLT_MAX)), vf_set1(FLT_MAX)));
}

/* What becomes of a tile of S: it is only the sums, or a S + the sums: without a, with one, or with one that forgets. */
enum { ADD_NOTHING, ADD_ALL, ADD_DECAYED, ADD_FORGETTING };

/* S = a S + left^T right for a tile of S. */
ATTN_INLINE void add_tile(int tile_rows, int vectors, int64_t r, int64_t c,
                          const linear_state_t *state, const linear_keep_t *keep, int way,
                          const float *left, int64_t left_stride, const float *right, int64_t count,
                          int64_t rows, product_ahead_t *ahead) {
    product_sums_t sums;
    const int decays = way >= ADD_DECAYED;
    product_zero_(tile_rows, vectors, sums);
    product_add_(tile_rows, vectors, sums, left + r, 1, left_stride, right + c, state->stride,
                 count, ahead);
    ATTN_UNROLL
    for (int i = 0; i < tile_rows; i++) {
        if (r + i >= rows) break;
        float *at = state->s + (r + i) * state->stride + c;
        const vf base = decays ? vf_set1(keep->base[r + i]) : vf_zero();
        const vf factor = decays ? vf_set1(keep->more[r + i]) : vf_zero();
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) {
            float *sum = at + v * VF_LANES;
            if (way == ADD_NOTHING)
                vf_store(sum, sums[i][v]);
            else if (way == ADD_FORGETTING)
                vf_store(sum, vf_mul_add(factor, vf_load(sum), sums[i][v]));
            else
                add_vector(sum, sum + state->rest, sums[i][v], decays, base, factor);
        }
    }
}

#define ADD_TILES_(way)                                                                            \
    PRODUCT_TILES_(add_tile, way >= ADD_DECAYED ? PRODUCT_FEW_HEIGHTS : PRODUCT_ONE_HEIGHT, rows,  \
                   state->stride, state, keep, way, left, left_stride, right, count, rows, ahead)

/* S = a S + left^T right, of `count` tokens: left[count][left_stride], right[count][the state's stride]. */
ATTN_STEP void add_products(linear_state_t *state, int64_t rows, const linear_keep_t *keep,
                            const float *left, int64_t left_stride, const float *right,
                            int64_t count, product_ahead_t *ahead) {
    const int decays = keep->base != NULL;
    if (keep->forgets && !state->whole)
        memset(state->s + state->rest, 0, (size_t)state->rest * sizeof(float));
    state->whole = keep->forgets;
    if (keep->forgets) {
        ADD_TILES_(ADD_FORGETTING)
    } else if (decays) {
        ADD_TILES_(ADD_DECAYED)
    } else {
        ADD_TILES_(ADD_ALL)
    }
}

/* S = left^T right. */
ATTN_STEP void set_products(const linear_state_t *state, int64_t rows, const float *left,
                            int64_t left_stride, const float *right, int64_t count,
                            product_ahead_t *ahead) {
    const linear_keep_t *keep = NULL;
    ADD_TILES_(ADD_NOTHING)
}
#undef ADD_TILES_

/* sums[k] = a sums[k] + more[k], of z or zabs. */
ATTN_RARE_STEP void add_row(const linear_state_t *state, float *sums, const linear_keep_t *keep,
                            const float *more) {
    const int decays = keep->base != NULL;
    for (int64_t k = 0; k < (int64_t)state->width; k += VF_LANES)
        add_vector(sums + k, sums + state->rest + k, vf_load(more + k), decays,
                   decays ? vf_load(keep->base + k) : vf_zero(),
                   decays ? vf_load(keep->more + k) : vf_zero());
}

#endif
