/*
 * features.h: phi of rows of queries and keys, for the tier being compiled.
 *
 *     favor    exp(w_f.x - |x|^2 / 2) / sqrt(features) (arXiv:2009.14794, Eq. 5 and Section 2.4)
 *     taylor2  1, x_k, x_k^2 / sqrt 2, x_k x_l for k < l (arXiv:2402.18668, Section 3; the same products
 *              with half of the features, as pairs are there once)
 */
#ifndef ATTN_LINEAR_FEATURES_H
#define ATTN_LINEAR_FEATURES_H

#include "form.h"
#include "phi.h"
#include "simd/convert.h"
#include "simd/tile.h"

/* w.x for TILE_ROWS rows of x[.][width], then its exponential. */
static void features_favor(const linear_form_t *form, int64_t dim, const float *x, int64_t width,
                           int64_t count, float *to, int64_t stride) {
    float ones[TILE_ROWS];
    const float factor = 1.0f / sqrtf((float)form->features);
    for (int r = 0; r < TILE_ROWS; r++) ones[r] = 1.0f;
    memset(to, 0, (size_t)(TILE_ROWS * stride) * sizeof *to);
    tile_accumulate(to, stride, ones, x, width, form->directions, form->features, dim,
                    form->features);
    for (int64_t r = 0; r < count; r++) {
        float *row = to + r * stride;
        vf square = vf_zero();
        for (int64_t k = 0; k < width; k += VF_LANES) {
            const vf y = vf_load(x + r * width + k);
            square = vf_mul_add(y, y, square);
        }
        const vf half = vf_set1(0.5f * vf_reduce_add(square)), size = vf_set1(factor);
        for (int64_t f = 0; f < form->features; f += VF_LANES)
            vf_store(row + f, vf_sub(vf_load(row + f), half));
        map_rows(LINEAR_EXP, row, stride, 1, form->features);
        for (int64_t f = 0; f < form->features; f += VF_LANES)
            vf_store(row + f,
                     vf_keep(vf_mul(size, vf_load(row + f)), 0, form->features - f, vf_zero()));
    }
}

static void features_taylor2(int64_t dim, const float *x, float *to) {
    to[0] = 1.0f;
    memcpy(to + 1, x, (size_t)dim * sizeof *to);
    float *pairs = to + 1 + dim;
    for (int64_t k = 0; k < dim; k++) {
        pairs[0] = x[k] * x[k] * 0.70710678118654752440f;
        for (int64_t l = 1; l < dim - k; l++) pairs[l] = x[k] * x[k + l];
        pairs += dim - k;
    }
}

/**
 * Rows [first, first + count) of a head to to[TILE_ROWS][stride], stride a multiple of VF_LANES; all
 * that is no feature becomes 0. `wide` has room for TILE_ROWS rows of x, where the map is wide.
 */
static void features_load(const linear_form_t *form, const attn_tensor_t *tensor, int64_t batch,
                          int64_t head, int64_t first, int64_t count, float scale, float *to,
                          int64_t stride, float *wide) {
    const int64_t dim = tensor->shape[3], size = attn_dtype_size(tensor->dtype);
    const int is_wide = linear_map_is_wide(form->map);
    const int64_t width = is_wide ? tile_round_up(dim, VF_LANES) : stride;
    float *x = is_wide ? wide : to;
    memset(x, 0, (size_t)(TILE_ROWS * width) * sizeof *x);
    for (int64_t r = 0; r < count; r++) {
        const char *row =
            (const char *)tensor->data + attn_offset(tensor, batch, head, first + r) * size;
        convert_row(x + r * width, row, tensor->dtype, tensor->stride[3], dim, scale);
    }
    if (form->map == LINEAR_FAVOR) {
        features_favor(form, dim, x, width, count, to, stride);
        return;
    }
    if (is_wide) memset(to, 0, (size_t)(TILE_ROWS * stride) * sizeof *to);
    for (int64_t r = 0; is_wide && r < count; r++)
        features_taylor2(dim, x + r * width, to + r * stride);
    if (is_wide) return;
    map_rows(form->map, to, stride, count, dim);
    for (int64_t r = 0; r < count; r++) /* phi(0) may be anything */
        for (int64_t k = dim; k < stride; k++) to[r * stride + k] = 0.0f;
}

#endif
