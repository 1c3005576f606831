/*
 * reasoning/weights.h: a net's weights as bytes of a file, little-endian.
 *
 *     f16    all of them, 2 bytes each
 *     int8   matrices: groups of `width` weights as they lie, the last one shorter; of each group its scale as f32, and
 *            of each weight the nearest whole multiple of it from -127 to 127. Norms and biases behind them as f16
 */
#ifndef ATTN_REASONING_WEIGHTS_H
#define ATTN_REASONING_WEIGHTS_H

#include "labs/nn/model.h"

#include <stddef.h>

enum weights_format { WEIGHTS_F16, WEIGHTS_INT8 };

/** Bytes that they take. */
size_t weights_size(enum weights_format format, const nn_shape_t *shape, const nn_layout_t *layout);

void weights_put(enum weights_format format, const nn_shape_t *shape, const nn_layout_t *layout,
                 const float *weights, unsigned char *bytes);

/** Any bytes are weights. */
void weights_get(enum weights_format format, const nn_shape_t *shape, const nn_layout_t *layout,
                 const unsigned char *bytes, float *weights);

/** All become what weights_get() gives back of them. */
void weights_round(enum weights_format format, const nn_shape_t *shape, const nn_layout_t *layout,
                   float *weights);

#endif
