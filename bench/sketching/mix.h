/* sketching/mix.h: the methods whose columns of Y are mixtures of features: Y = X T, T drawn as the backend draws it. */
#ifndef ATTN_SKETCHING_MIX_H
#define ATTN_SKETCHING_MIX_H

#include "sketching/sketch.h"

/** Y of result->size columns by gaussian, ams, srht or osnap, which asks no more of `features` than `x`. */
attn_status_t sketching_mix(const sketching_features_t *features,
                            const sketching_options_t *options, sketching_result_t *result,
                            attn_error_t *error);

#endif
