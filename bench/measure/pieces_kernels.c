/* measure/pieces_kernels.c: see pieces.h. Compiled once per tier. */
#include "pieces.h"

#include "attention/decode_products.h"
#include "simd/math.h"

enum {
    KEYS = PIECES_KEYS,
    DIM = PIECES_DIM,
    /* A maximum, 4 additions, 6 multiply-adds and a multiplication: math.h, and its sum. */
    EXP_FLOPS = 18
};

static void pack(pieces_arrays_t *a) {
    for (int64_t j = 0; j < KEYS; j += PANEL)
        tile_pack(a->panels + j * DIM, PANEL, PANEL, a->dim, a->keys + j * DIM, DIM, 1, 1.0f);
}

static void product(pieces_arrays_t *a) {
    for (int64_t j = 0; j < KEYS; j += PANEL)
        tile_panel_product(TILE_ROWS, TILE_VECTORS, a->dim, a->query, a->panels + j * DIM,
                           a->scores + j, KEYS);
}

/* In place: weights stay between 0 and 2. */
static void exponentials(pieces_arrays_t *a) {
    for (int64_t r = 0; r < TILE_ROWS; r++) {
        vf sum = vf_zero();
        for (int64_t j = 0; j < KEYS; j += VF_LANES) {
            const vf weight = vf_exp4(vf_sub(vf_load(a->scores + r * KEYS + j), vf_set1(1.0f)));
            vf_store(a->scores + r * KEYS + j, weight);
            sum = vf_add(sum, weight);
        }
        a->out[r] = vf_reduce_add(sum);
    }
}

static void accumulate(pieces_arrays_t *a) {
    tile_accumulate(TILE_ROWS, a->out, DIM, a->scores, KEYS, a->values, DIM, 0, a->keys_count,
                    a->dim);
}

static decode_rows_t rows_at(const pieces_arrays_t *a, const float *data) {
    const int64_t size = a->dim * (int64_t)sizeof(float);
    return (decode_rows_t){(const char *)data, size, size, ATTN_F32};
}

static void dots(pieces_arrays_t *a, int64_t rows) {
    const decode_dots_t work = {.rows = rows,
                                .dim = a->dim,
                                .width = a->dim,
                                .query = a->query,
                                .keys = rows_at(a, a->keys),
                                .count = a->keys_count,
                                .scores = a->scores,
                                .scores_stride = KEYS};
    decode_dots(&work);
}

static void dots_of_one(pieces_arrays_t *a) { dots(a, 1); }
static void dots_of_some(pieces_arrays_t *a) { dots(a, DECODE_GROUP); }

static void sums_of_one(pieces_arrays_t *a) {
    const decode_sums_t work = {.rows = 1,
                                .columns = a->dim,
                                .out = a->out,
                                .out_stride = a->dim,
                                .part = a->part,
                                .rescale = a->rescale,
                                .weights = a->scores,
                                .weights_stride = KEYS,
                                .values = rows_at(a, a->values),
                                .last = a->keys_count};
    decode_sums(&work);
}

#define PRODUCT_FLOPS(rows) (2.0 * (rows)*KEYS * DIM)
#define ONCE (4.0 * KEYS * DIM)

const pieces_kernels_t ATTN_KERNEL(pieces_kernels) = {
    .tile = TILE_NAME,
    .pieces = {{"pack keys", 0, 0, 2 * ONCE, pack},
               {"panel product", TILE_ROWS, PRODUCT_FLOPS(TILE_ROWS), ONCE, product},
               {"exponentials", TILE_ROWS, 1.0 * EXP_FLOPS *TILE_ROWS *KEYS, 0, exponentials},
               {"accumulate", TILE_ROWS, PRODUCT_FLOPS(TILE_ROWS), ONCE, accumulate},
               {"decode: products", 1, PRODUCT_FLOPS(1), ONCE, dots_of_one},
               {"decode: products", DECODE_GROUP, PRODUCT_FLOPS(DECODE_GROUP), ONCE, dots_of_some},
               {"decode: sums", 1, PRODUCT_FLOPS(1), ONCE, sums_of_one}},
};
