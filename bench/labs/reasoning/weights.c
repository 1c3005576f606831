/* reasoning/weights.c: see weights.h. */
#include "labs/reasoning/weights.h"

#include "attn/support.h"
#include "labs/reasoning/endian.h"
#include "simd/half.h"

#include <math.h>
#include <string.h>

enum { SCALE = 4, MOST = 127 };

/* ---- f16 ------------------------------------------------------------------------------------------- */

static void put_halves(const float *weights, int64_t count, unsigned char *bytes) {
    for (int64_t i = 0; i < count; i++) put_bytes(bytes + 2 * i, float_to_f16(weights[i]), 2);
}

static void get_halves(const unsigned char *bytes, int64_t count, float *weights) {
    for (int64_t i = 0; i < count; i++)
        weights[i] = f16_to_float((uint16_t)get_bytes(bytes + 2 * i, 2));
}

/* ---- groups ---------------------------------------------------------------------------------------- */

static void put_group(const float *weights, int64_t count, unsigned char *bytes) {
    float most = 0;
    uint32_t bits;
    for (int64_t i = 0; i < count; i++) most = fmaxf(most, fabsf(weights[i]));
    const float scale = most / MOST;
    memcpy(&bits, &scale, sizeof bits);
    put_bytes(bytes, bits, SCALE);
    for (int64_t i = 0; i < count; i++) {
        const float multiple = scale > 0 ? rintf(weights[i] / scale) : 0;
        bytes[SCALE + i] = (unsigned char)(int)fmaxf(-MOST, fminf(MOST, multiple));
    }
}

static void get_group(const unsigned char *bytes, int64_t count, float *weights) {
    const uint32_t bits = (uint32_t)get_bytes(bytes, SCALE);
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    for (int64_t i = 0; i < count; i++) weights[i] = scale * (float)(int8_t)bytes[SCALE + i];
}

static int64_t group_size(const nn_shape_t *shape, const nn_layout_t *layout, int64_t at) {
    return attn_min(shape->width, layout->decayed - at);
}

/* Bytes of the groups before weight `at`. */
static int64_t groups_size(const nn_shape_t *shape, int64_t at) {
    return at + SCALE * ((at + shape->width - 1) / shape->width);
}

/* ---- both ------------------------------------------------------------------------------------------ */

size_t weights_size(enum weights_format format, const nn_shape_t *shape,
                    const nn_layout_t *layout) {
    if (format == WEIGHTS_F16) return 2 * (size_t)layout->count;
    return (size_t)(groups_size(shape, layout->decayed) + 2 * (layout->count - layout->decayed));
}

void weights_put(enum weights_format format, const nn_shape_t *shape, const nn_layout_t *layout,
                 const float *weights, unsigned char *bytes) {
    const int64_t halves = format == WEIGHTS_F16 ? 0 : layout->decayed;
    for (int64_t at = 0; at < halves; at += shape->width)
        put_group(weights + at, group_size(shape, layout, at), bytes + groups_size(shape, at));
    put_halves(weights + halves, layout->count - halves, bytes + groups_size(shape, halves));
}

void weights_get(enum weights_format format, const nn_shape_t *shape, const nn_layout_t *layout,
                 const unsigned char *bytes, float *weights) {
    const int64_t halves = format == WEIGHTS_F16 ? 0 : layout->decayed;
    for (int64_t at = 0; at < halves; at += shape->width)
        get_group(bytes + groups_size(shape, at), group_size(shape, layout, at), weights + at);
    get_halves(bytes + groups_size(shape, halves), layout->count - halves, weights + halves);
}

void weights_round(enum weights_format format, const nn_shape_t *shape, const nn_layout_t *layout,
                   float *weights) {
    unsigned char group[SCALE + (1 << 14)]; /* nn_layout_make()'s largest width */
    const int64_t halves = format == WEIGHTS_F16 ? 0 : layout->decayed;
    for (int64_t at = 0; at < halves; at += shape->width) {
        const int64_t count = group_size(shape, layout, at);
        put_group(weights + at, count, group);
        get_group(group, count, weights + at);
    }
    for (int64_t i = halves; i < layout->count; i++)
        weights[i] = f16_to_float(float_to_f16(weights[i]));
}
