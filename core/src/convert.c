/* Arrays of f32 as other element types, and back. */
#include "internal.h"

#include "number/number.h"
#include "simd/half.h"

#include <float.h>
#include <math.h>
#include <string.h>

static attn_status_t check(const void *to, const void *from, attn_dtype_t dtype, int64_t count,
                           attn_error_t *error) {
    if (count < 0)
        return attn_fail(error, ATTN_ERROR_SHAPE, "convert: %lld numbers, must be 0 or more",
                         (long long)count);
    if (!to || !from)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "convert: the numbers or the result is null");
    if (dtype == ATTN_F32 || dtype == ATTN_F16 || dtype == ATTN_BF16) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_DTYPE, "convert: dtype %d (%s) is not f32, f16 or bf16%s",
                     dtype, attn_dtype_name(dtype),
                     dtype == ATTN_I8 ? ": i8 has scales, see attn_quantise_i8()" : "");
}

attn_status_t attn_from_f32(void *to, attn_dtype_t dtype, const float *from, int64_t count,
                            attn_error_t *error) {
    const attn_status_t status = check(to, from, dtype, count, error);
    if (status != ATTN_OK) return status;
    uint16_t *halves = to;
    if (dtype == ATTN_F32) memcpy(to, from, (size_t)count * sizeof *from);
    if (dtype == ATTN_F16)
        for (int64_t i = 0; i < count; i++) halves[i] = float_to_f16(from[i]);
    if (dtype == ATTN_BF16)
        for (int64_t i = 0; i < count; i++) halves[i] = float_to_bf16(from[i]);
    return ATTN_OK;
}

attn_status_t attn_to_f32(float *to, const void *from, attn_dtype_t dtype, int64_t count,
                          attn_error_t *error) {
    const attn_status_t status = check(to, from, dtype, count, error);
    if (status != ATTN_OK) return status;
    const uint16_t *halves = from;
    if (dtype == ATTN_F32) memcpy(to, from, (size_t)count * sizeof *to);
    if (dtype == ATTN_F16)
        for (int64_t i = 0; i < count; i++) to[i] = f16_to_float(halves[i]);
    if (dtype == ATTN_BF16)
        for (int64_t i = 0; i < count; i++) to[i] = bf16_to_float(halves[i]);
    return ATTN_OK;
}

/* The largest magnitude of a row; the first number that is not finite where there is one. */
static float largest_of(const float *row, int64_t columns, int64_t *at) {
    float largest = 0.0f;
    for (*at = 0; *at < columns; ++*at) {
        if (!isfinite(row[*at])) return row[*at];
        largest = fmaxf(largest, fabsf(row[*at]));
    }
    return largest;
}

static attn_status_t check_rows(const float *from, int64_t rows, int64_t columns,
                                attn_error_t *error) {
    for (int64_t i = 0, at; i < rows; i++) {
        const float largest = largest_of(from + i * columns, columns, &at);
        char text[32];
        if (!isfinite(largest))
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "quantise: row %lld, column %lld is %s, which no scale makes an i8",
                             (long long)i, (long long)at,
                             attn_number_digits((double)largest, 6, text));
    }
    return ATTN_OK;
}

static void quantise_row(int8_t *to, float *scale, const float *from, int64_t columns) {
    int64_t at;
    *scale = fmaxf(largest_of(from, columns, &at) / 127.0f, FLT_MIN);
    for (int64_t c = 0; c < columns; c++) {
        const float rounded = nearbyintf(from[c] / *scale);
        to[c] = (int8_t)fminf(fmaxf(rounded, -127.0f), 127.0f);
    }
}

attn_status_t attn_quantise_i8(int8_t *to, float *scales, const float *from, int64_t rows,
                               int64_t columns, attn_error_t *error) {
    int64_t count;
    if (!to || !scales || !from)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "quantise: the numbers, the result or the scales are null");
    if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &count) ||
        count > PTRDIFF_MAX / (int64_t)sizeof *from)
        return attn_fail(error, ATTN_ERROR_SHAPE, "quantise: no memory has %lld rows of %lld",
                         (long long)rows, (long long)columns);
    const attn_status_t status = check_rows(from, rows, columns, error);
    for (int64_t i = 0; status == ATTN_OK && i < rows; i++)
        quantise_row(to + i * columns, &scales[i], from + i * columns, columns);
    return status;
}
