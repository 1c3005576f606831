/* labs/sparsification/deterministic.c: symmetric attention's deterministic sketch; see symmetric.h. */
#include "attn/plugin.h"
#include "labs/sparsification/symmetric.h"
#include "sketching/sketch.h"

attn_status_t symmetric_deterministic(const attn_context_t *context, symmetric_t *symmetric,
                                      int64_t size, sketch_result_t *result, attn_error_t *error) {
    /* eps and delta would choose a size. Plain algebra gives the same features on each machine. */
    const sketching_options_t options = {.method = SKETCHING_DETERMINISTIC,
                                         .solver = &algebra_plain,
                                         .eps = 0.5,
                                         .delta = 0.1,
                                         .size = size};
    const sketching_x_t x = {
        .rows = symmetric->rows, .columns = symmetric->dim, .dense = symmetric->x};
    sketching_features_t features;
    sketching_result_t sketch;
    if (!sketching_features_create(&x, &features))
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a deterministic sketch");
    attn_status_t status = sketching_sketch(&features, &options, &sketch, error);
    if (status == ATTN_OK)
        status = symmetric_compare(context, symmetric, sketch.y, sketch.size, result, error);
    sketching_result_destroy(&sketch);
    sketching_features_destroy(&features);
    return status;
}
