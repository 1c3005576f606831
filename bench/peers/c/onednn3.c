/* peers/onednn3.c: oneDNN's version 3, whose descriptions are made by the library and point to it. */
#include "onednn_api.h"

dnnl_status_t onednn_describe(dnnl_memory_desc_t *desc, dnnl_data_type_t type, int rank,
                              const dnnl_dims_t sizes, const dnnl_dims_t strides) {
    return dnnl_memory_desc_create_with_strides(desc, rank, sizes, type, strides);
}

dnnl_status_t onednn_memory(dnnl_memory_t *memory, const dnnl_memory_desc_t *desc,
                            dnnl_engine_t engine, const void *data) {
    return dnnl_memory_create(memory, *desc, engine, (void *)data);
}

/* A scale that is known beforehand is an operation behind the product: scales proper are read at each run. */
static dnnl_status_t scale_result(dnnl_primitive_attr_t attributes, float scale) {
    dnnl_post_ops_t behind;
    dnnl_status_t status = dnnl_post_ops_create(&behind);
    if (status) return status;
    status = dnnl_post_ops_append_eltwise(behind, dnnl_eltwise_linear, scale, 0);
    if (!status) status = dnnl_primitive_attr_set_post_ops(attributes, behind);
    dnnl_post_ops_destroy(behind);
    return status;
}

dnnl_status_t onednn_product(dnnl_primitive_desc_t *product, dnnl_engine_t engine,
                             const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b,
                             const dnnl_memory_desc_t *c, float scale) {
    dnnl_primitive_attr_t attributes;
    dnnl_status_t status = onednn_attributes(&attributes);
    if (status) return status;
    if (scale != 1) status = scale_result(attributes, scale);
    if (!status)
        status = dnnl_matmul_primitive_desc_create(product, engine, *a, *b, NULL, *c, attributes);
    dnnl_primitive_attr_destroy(attributes);
    return status;
}

dnnl_status_t onednn_softmax(dnnl_primitive_desc_t *softmax, dnnl_engine_t engine,
                             const dnnl_memory_desc_t *logits) {
    dnnl_primitive_attr_t attributes;
    dnnl_status_t status = onednn_attributes(&attributes);
    if (status) return status;
    status = dnnl_softmax_forward_primitive_desc_create(softmax, engine, dnnl_forward_inference,
                                                        dnnl_softmax_accurate, *logits, *logits, 1,
                                                        attributes);
    dnnl_primitive_attr_destroy(attributes);
    return status;
}
