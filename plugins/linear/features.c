/*
 * Rows of tensors and their features, the same for all kernels of the tier being compiled.
 *
 *     favor    exp(w_f.x - |x|^2 / 2) / sqrt(features) (arXiv:2009.14794, Eq. 5 and Section 2.4)
 *     taylor2  1, x_k, x_k^2 / sqrt 2, x_k x_l for k < l (arXiv:2402.18668, Section 3; the same products
 *              with half of the features, as pairs are there once)
 */
#include "features.h"

#include "gemm/product.h"
#include "simd/convert.h"
#include "simd/math.h"

void features_map(linear_map_t map, float *to, int64_t to_stride, const float *from,
                  int64_t from_stride, int64_t rows, int64_t count) {
#define MAP_ROWS(NAME, name, help, signs, phi, slope)                                              \
    case LINEAR_##NAME:                                                                            \
        for (; rows > 0; rows--, to += to_stride, from += from_stride)                             \
            for (int64_t i = 0; i < count; i += VF_LANES) {                                        \
                const vf x = vf_load(from + i);                                                    \
                vf_store(to + i, phi);                                                             \
            }                                                                                      \
        return;
    switch (map) {
        LINEAR_MAPS(MAP_ROWS)
    default:
        return;
    }
#undef MAP_ROWS
}

/* w.x for rows x[.][width], then its exponential. */
static void features_favor(const linear_form_t *form, int64_t dim, const float *x, int64_t width,
                           int64_t count, float *to, int64_t stride) {
    const vf factor = vf_set1(1.0f / sqrtf((float)form->features));
    product_ahead_t none = {.rows = 0};
    product(to, stride, x, width, form->directions, form->directions_stride, dim, count,
            attn_round_up(form->features, PRODUCT_WIDTH), NULL, 0, &none);
    for (int64_t r = 0; r < count; r++) {
        float *row = to + r * stride;
        vf square = vf_zero();
        for (int64_t k = 0; k < width; k += VF_LANES) {
            const vf y = vf_load(x + r * width + k);
            square = vf_mul_add(y, y, square);
        }
        const vf half = vf_set1(0.5f * vf_reduce_add(square));
        for (int64_t f = 0; f < form->features; f += VF_LANES)
            vf_store(row + f, vf_sub(vf_load(row + f), half));
        features_map(LINEAR_EXP, row, stride, row, stride, 1, form->features);
        for (int64_t f = 0; f < form->features; f += VF_LANES)
            vf_store(row + f, vf_mul(factor, vf_load(row + f)));
    }
}

/* Vectors of products, whose surplus the next ones overwrite: x can be read for a vector behind its last. */
static void features_taylor2(int64_t dim, const float *x, float *to) {
    to[0] = 1.0f;
    memcpy(to + 1, x, (size_t)dim * sizeof *to);
    float *pairs = to + 1 + dim, *const end = pairs + dim * (dim + 1) / 2;
    for (int64_t k = 0; k < dim; k++, x++) {
        const int64_t count = dim - k;
        int64_t l = 0;
        for (; l < count && end - pairs >= l + VF_LANES; l += VF_LANES)
            vf_store(pairs + l, vf_mul(vf_set1(*x), vf_load(x + l)));
        for (; l < count; l++) pairs[l] = *x * x[l];
        pairs[0] = *x * *x * 0.70710678118654752440f;
        pairs += count;
    }
}

/* Zeros behind the first `used` columns of rows, and in all columns of the rows from `count` on. */
static void features_pad(float *rows, int64_t stride, int64_t used, int64_t count, int64_t all) {
    for (int64_t r = 0; r < count; r++)
        for (int64_t k = used; k < stride; k++) rows[r * stride + k] = 0.0f;
    if (all > count)
        memset(rows + count * stride, 0, (size_t)((all - count) * stride) * sizeof *rows);
}

void rows_load(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t first,
               int64_t count, float scale, float *to, int64_t stride, int64_t all) {
    const int64_t columns = tensor->shape[3], size = attn_dtype_size(tensor->dtype);
    for (int64_t r = 0; r < count; r++) {
        const char *row =
            (const char *)tensor->data + attn_offset(tensor, batch, head, first + r) * size;
        convert_row(to + r * stride, row, tensor->dtype, tensor->stride[3], columns, scale);
    }
    features_pad(to, stride, columns, count, all);
}

void features_load(const linear_form_t *form, const attn_tensor_t *tensor, int64_t batch,
                   int64_t head, int64_t first, int64_t count, float scale, float *to,
                   int64_t stride, int64_t all, float *wide) {
    const int64_t dim = tensor->shape[3];
    const int is_wide = linear_map_is_wide(form->map);
    const int64_t width = is_wide ? attn_round_up(dim, VF_LANES) : stride;
    float *x = is_wide ? wide : to;
    if (!is_wide && scale == 1.0f && is_plain(tensor)) {
        features_map(form->map, to, stride, attn_row(tensor, batch, head, first), tensor->stride[2],
                     count, dim);
        features_pad(to, stride, stride, count, all);
        return;
    }
    rows_load(tensor, batch, head, first, count, scale, x, width, all);
    if (form->map == LINEAR_FAVOR)
        features_favor(form, dim, x, width, count, to, stride);
    else if (is_wide)
        for (int64_t r = 0; r < count; r++) features_taylor2(dim, x + r * width, to + r * stride);
    else
        features_map(form->map, to, stride, to, stride, count, dim);
    features_pad(to, stride, form->features, count, all); /* phi(0) may be anything */
}
