/*
 * nn/kernels/product.h: the matrix product, on the tiles of attention (gemm/tile.h): the right factor is packed into
 * panels once, the left one a tile at a time, so that either may be transposed.
 */
#ifndef ATTN_NN_KERNELS_PRODUCT_H
#define ATTN_NN_KERNELS_PRODUCT_H

#include "gemm/tile.h"
#include "labs/nn/kernels.h"

/* panel[k*width + j] = source[j*vector + k*step], zero for count <= j. Vectors that lie beside each other need no
 * transposing. */
static void pack(float *panel, int64_t width, int64_t count, int64_t depth, const float *source,
                 int64_t vector, int64_t step) {
    if (vector != 1 || step == 1) {
        tile_pack(panel, width, count, depth, source, vector, step, 1.0f);
        return;
    }
    for (int64_t k = 0; k < depth; k++)
        for (int64_t j = 0; j < width; j += VF_LANES)
            vf_store_first(panel + k * width + j, vf_load_first(source + k * step + j, count - j),
                           width - j);
}

/* A tile of the result into its place. */
static void place_tile(const nn_product_t *p, const float *tile, int64_t r, int64_t c) {
    const int64_t rows = attn_min(TILE_ROWS, p->rows - r), columns = p->columns - c;
    for (int64_t i = 0; i < rows; i++) {
        float *out = p->out + (r + i) * p->stride + c;
        for (int64_t j = 0; j < PANEL && j < columns; j += VF_LANES) {
            vf sum = vf_load(tile + i * PANEL + j);
            if (p->bias) sum = vf_add(sum, vf_load_first(p->bias + c + j, columns - j));
            if (p->add) sum = vf_add(sum, vf_load_first(out + j, columns - j));
            vf_store_first(out + j, sum, columns - j);
        }
    }
}

static void product(const nn_product_t *p, float *scratch) {
    float tile[TILE_ROWS * PANEL];
    float *panels = scratch + TILE_ROWS * p->depth;
    for (int64_t c = 0; c < p->columns; c += PANEL)
        pack(panels + c * p->depth, PANEL, attn_min(PANEL, p->columns - c), p->depth,
             p->right.data + c * p->right.column, p->right.column, p->right.row);
    for (int64_t r = 0; r < p->rows; r += TILE_ROWS) {
        pack(scratch, TILE_ROWS, attn_min(TILE_ROWS, p->rows - r), p->depth,
             p->left.data + r * p->left.row, p->left.row, p->left.column);
        for (int64_t c = 0; c < p->columns; c += PANEL) {
            tile_panel_product(TILE_ROWS, TILE_VECTORS, p->depth, scratch, panels + c * p->depth,
                               tile, PANEL);
            place_tile(p, tile, r, c);
        }
    }
}

#endif
