/* nn/kernels/kernels.c: the table of this tier's kernels; see ../kernels.h. */
#include "labs/nn/kernels.h"

#include "labs/nn/kernels/product.h"

const nn_kernels_t ATTN_KERNEL(attn_nn_kernels) = {
    .tile_rows = TILE_ROWS,
    .panel = PANEL,
    .product = product,
};
