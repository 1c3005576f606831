/* ahead.h: rows of tensors that a product is to ask for while it computes (gemm/product.h). */
#ifndef ATTN_LINEAR_AHEAD_H
#define ATTN_LINEAR_AHEAD_H

#include "attn/support.h"
#include "gemm/product.h"

/* Array number `index` is the rows [first, first + ahead->rows) of a head. A tensor that has them far apart is
 * one of which few lines are in a row. */
static void ahead_of(product_ahead_t *ahead, int index, const attn_tensor_t *tensor, int64_t batch,
                     int64_t head, int64_t first) {
    if (!VF_FETCHES) return;
    const int64_t size = attn_dtype_size(tensor->dtype);
    ahead->arrays[index].at = (uintptr_t)tensor->data +
                              (uintptr_t)(attn_broadcast_offset(tensor, batch, head, first) * size);
    ahead->arrays[index].stride = tensor->shape[2] > 1 ? tensor->stride[2] * size : 0;
    ahead->arrays[index].bytes = tensor->shape[3] * size;
}

/* As many rows of up to three tensors; those that are not there are left out. */
ATTN_RARE_STEP product_ahead_t ahead_of_rows(const attn_tensor_t *const tensors[3], int64_t rows,
                                             int64_t batch, int64_t head, int64_t first) {
    product_ahead_t ahead = {.rows = rows};
    for (int i = 0; i < 3; i++)
        if (tensors[i] && tensors[i]->data) ahead_of(&ahead, i, tensors[i], batch, head, first);
    return ahead;
}

#endif
