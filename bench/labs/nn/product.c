/* nn/product.c: see kernels.h. */
#include "labs/nn/kernels.h"

#include "attn/support.h"

int64_t nn_product_scratch(const nn_kernels_t *kernels, int64_t depth, int64_t columns) {
    return depth * (kernels->tile_rows + attn_round_up(columns, kernels->panel));
}
