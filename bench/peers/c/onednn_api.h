/*
 * peers/onednn_api.h: the few calls of oneDNN that version 3 has otherwise than version 2: onednn2.c and onednn3.c.
 * Results are oneDNN's own statuses.
 */
#ifndef ATTN_PEERS_ONEDNN_API_H
#define ATTN_PEERS_ONEDNN_API_H

#include <oneapi/dnnl/dnnl.h>

/** Of `rank` sizes with their strides, in elements. */
dnnl_status_t onednn_describe(dnnl_memory_desc_t *desc, dnnl_data_type_t type, int rank,
                              const dnnl_dims_t sizes, const dnnl_dims_t strides);

/** The caller's `data` as oneDNN takes it; the memory is the caller's to destroy. */
dnnl_status_t onednn_memory(dnnl_memory_t *memory, const dnnl_memory_desc_t *desc,
                            dnnl_engine_t engine, const void *data);

/** scale a b = c. */
dnnl_status_t onednn_product(dnnl_primitive_desc_t *product, dnnl_engine_t engine,
                             const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b,
                             const dnnl_memory_desc_t *c, float scale);

/** Softmax along rows, in place. */
dnnl_status_t onednn_softmax(dnnl_primitive_desc_t *softmax, dnnl_engine_t engine,
                             const dnnl_memory_desc_t *logits);

/** Attributes of a primitive whose scratch memory is the caller's. */
static inline dnnl_status_t onednn_attributes(dnnl_primitive_attr_t *attributes) {
    const dnnl_status_t status = dnnl_primitive_attr_create(attributes);
    if (status) return status;
    return dnnl_primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user);
}

#endif
