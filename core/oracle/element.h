/* element.h: elements of tensors of every type, as doubles. */
#ifndef ATTN_ORACLE_ELEMENT_H
#define ATTN_ORACLE_ELEMENT_H

#include "ieee/ieee.h"

#include "attn/types.h"

#include <math.h>
#include <string.h>

static inline double half_to_double(uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31) size = fraction ? NAN : INFINITY;
    return half & 0x8000 ? -size : size;
}

/* By whole numbers, as processors may be told to take denormal floats for zero. */
static inline double single_to_double(uint32_t bits) {
    const double fraction = bits & 0x7fffffu;
    float x;
    if ((bits & 0x7f800000u) == 0)
        return bits >> 31 ? -ldexp(fraction, -149) : ldexp(fraction, -149);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* An axis of 1 is the same for all (of inputs whose shapes may be broadcast). */
static inline double oracle_element(const attn_tensor_t *tensor, int64_t batch, int64_t head,
                                    int64_t row, int64_t column) {
    const int64_t index = (tensor->shape[0] > 1 ? batch * tensor->stride[0] : 0) +
                          (tensor->shape[1] > 1 ? head * tensor->stride[1] : 0) +
                          (tensor->shape[2] > 1 ? row * tensor->stride[2] : 0) +
                          (tensor->shape[3] > 1 ? column * tensor->stride[3] : 0);
    uint32_t bits;
    switch (tensor->dtype) {
    case ATTN_F32:
        memcpy(&bits, (const float *)tensor->data + index, sizeof bits);
        return single_to_double(bits);
    case ATTN_F64:
        return ((const double *)tensor->data)[index];
    case ATTN_F16:
        return half_to_double(((const uint16_t *)tensor->data)[index]);
    case ATTN_BF16:
        return single_to_double((uint32_t)((const uint16_t *)tensor->data)[index] << 16);
    case ATTN_I8:
        return ((const int8_t *)tensor->data)[index];
    case ATTN_BOOL:
        return ((const uint8_t *)tensor->data)[index] != 0;
    case ATTN_I64:
        return (double)((const int64_t *)tensor->data)[index];
    default:
        return NAN;
    }
}

#endif
