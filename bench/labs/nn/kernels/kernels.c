/* nn/kernels/kernels.c: the table of this tier's kernels; see ../kernels.h. */
#include "labs/nn/kernels.h"

#include "labs/nn/kernels/adamw.h"
#include "labs/nn/kernels/dropout.h"
#include "labs/nn/kernels/entropy.h"
#include "labs/nn/kernels/gelu.h"
#include "labs/nn/kernels/norm.h"
#include "labs/nn/kernels/product.h"
#include "labs/nn/kernels/sums.h"

const nn_kernels_t ATTN_KERNEL(attn_nn_kernels) = {
    .tile_rows = TILE_ROWS,
    .panel = PANEL,
    .product = product,
    .norm = norm,
    .norm_backward = norm_backward,
    .gelu = gelu,
    .gelu_backward = gelu_backward,
    .entropy = entropy,
    .dropout = dropout,
    .add = add,
    .add_rows = add_rows,
    .adamw = adamw,
};
