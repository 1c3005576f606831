/* backward_rows.h: rows on the way back, for the tier being compiled: through phi, and to the gradients' arrays. */
#ifndef ATTN_LINEAR_BACKWARD_ROWS_H
#define ATTN_LINEAR_BACKWARD_ROWS_H

#include "features.h"
#include "rows.h"

#define features_back ATTN_KERNEL(attn_linear_features_back)
#define rows_store ATTN_KERNEL(attn_linear_rows_store)
#define rows_clear ATTN_KERNEL(attn_linear_rows_clear)

/** Rows of a head before phi and after it, and what the loss changes by: by phi, and to be made of it. */
typedef struct features_back_rows {
    float *x;         /* [count][width]: times the scale; becomes the gradient by x / scale */
    const float *phi; /* [count][stride] */
    float *gradient;  /* [count][stride]: by phi; is lost */
    int64_t width, stride, count;
} features_back_rows_t;

/** x = scale * phi'(x)^T gradient. */
void features_back(const linear_form_t *form, const features_back_rows_t *rows, int64_t dim,
                   float scale);

/** Rows [first, first + count) of a head, from rows `stride` apart. */
void rows_store(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t first,
                int64_t count, const float *from, int64_t stride);

/** Zeros; `row` has room for one. */
void rows_clear(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t first,
                int64_t count, float *row);

/* ---- scratch ----------------------------------------------------------------------------------------- */

/* An array of floats in a task's scratch. */
typedef struct back_piece {
    float **array;
    int64_t columns, rows;
} back_piece_t;

ATTN_RARE_STEP void take_pieces(attn_arena_t *arena, const back_piece_t *pieces, size_t count) {
    for (size_t i = 0; i < count; i++)
        *pieces[i].array =
            attn_arena_take(arena, pieces[i].columns, (uint64_t)pieces[i].rows * sizeof(float));
}

#endif
