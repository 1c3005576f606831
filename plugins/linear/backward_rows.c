/*
 * phi backwards. With e_f = phi_f dL/dphi_f
 *     favor    dL/dx = sum_f e_f w_f - x sum_f e_f
 *     taylor2  dL/dx_k = dL/dphi_k + sqrt(2) x_k dL/dphi_kk + sum_(l != k) x_l dL/dphi_kl
 */
#include "backward_rows.h"

#include "simd/convert.h"
#include "simd/math.h"

/* x = scale * phi'(x) gradient */
static void slopes(linear_map_t map, const features_back_rows_t *rows, int64_t dim, float scale) {
#define SLOPE_ROWS(NAME, name, help, signs, feature, slope)                                        \
    case LINEAR_##NAME:                                                                            \
        for (int64_t r = 0; r < rows->count; r++)                                                  \
            for (int64_t k = 0; k < dim; k += VF_LANES) {                                          \
                float *at = rows->x + r * rows->width + k;                                         \
                const vf x = vf_load(at), y = vf_load(rows->phi + r * rows->stride + k);           \
                const vf factor = vf_mul(vf_set1(scale), slope);                                   \
                vf_store(at, vf_mul(factor, vf_load(rows->gradient + r * rows->stride + k)));      \
                (void)x, (void)y;                                                                  \
            }                                                                                      \
        return;
    switch (map) {
        LINEAR_MAPS(SLOPE_ROWS)
    default:
        return;
    }
#undef SLOPE_ROWS
}

static void favor_row(const linear_form_t *form, int64_t dim, float *x, const float *phi,
                      float *gradient, float scale) {
    const int64_t count = attn_round_up(form->features, VF_LANES);
    const float all = dot_of(phi, gradient, count);
    for (int64_t f = 0; f < count; f += VF_LANES)
        vf_store(gradient + f, vf_mul(vf_load(phi + f), vf_load(gradient + f)));
    for (int64_t k = 0; k < dim; k++)
        x[k] = scale * (dot_of(gradient, form->directions + k * form->directions_stride, count) -
                        all * x[k]);
}

/* `sums` has room for dim; pairs are in the order of features.c. */
static void taylor2_row(int64_t dim, float *x, const float *gradient, float scale, float *sums) {
    const float *pairs = gradient + 1 + dim;
    memcpy(sums, gradient + 1, (size_t)dim * sizeof *sums);
    for (int64_t k = 0; k < dim; k++) {
        sums[k] += 1.41421356237309504880f * x[k] * pairs[0];
        for (int64_t l = k + 1; l < dim; l++) {
            sums[k] += pairs[l - k] * x[l];
            sums[l] += pairs[l - k] * x[k];
        }
        pairs += dim - k;
    }
    for (int64_t k = 0; k < dim; k++) x[k] = scale * sums[k];
}

void features_back(const linear_form_t *form, const features_back_rows_t *rows, int64_t dim,
                   float scale) {
    for (int64_t r = 0; linear_map_is_wide(form->map) && r < rows->count; r++) {
        float *x = rows->x + r * rows->width, *gradient = rows->gradient + r * rows->stride;
        if (form->map == LINEAR_FAVOR)
            favor_row(form, dim, x, rows->phi + r * rows->stride, gradient, scale);
        else
            taylor2_row(dim, x, gradient, scale, rows->x + rows->count * rows->width);
    }
    slopes(form->map, rows, dim, scale);
}

void rows_store(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t first,
                int64_t count, const float *from, int64_t stride) {
    const int64_t size = attn_dtype_size(tensor->dtype);
    for (int64_t r = 0; r < count; r++) {
        const int64_t offset = attn_offset(tensor, batch, head, first + r);
        convert_back((char *)tensor->data + offset * size, tensor->dtype, tensor->stride[3],
                     from + r * stride, tensor->shape[3], 1.0f);
    }
}

void rows_clear(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t first,
                int64_t count, float *row) {
    memset(row, 0, (size_t)tensor->shape[3] * sizeof *row);
    rows_store(tensor, batch, head, first, count, row, 0);
}
