/* peers/onednn2.c: oneDNN's version 2, where a primitive is described by an operation before its attributes. */
#include "onednn_api.h"

dnnl_status_t onednn_describe(dnnl_memory_desc_t *desc, dnnl_data_type_t type, int rank,
                              const dnnl_dims_t sizes, const dnnl_dims_t strides) {
    return dnnl_memory_desc_init_by_strides(desc, rank, sizes, type, strides);
}

dnnl_status_t onednn_memory(dnnl_memory_t *memory, const dnnl_memory_desc_t *desc,
                            dnnl_engine_t engine, const void *data) {
    return dnnl_memory_create(memory, desc, engine, (void *)data);
}

static dnnl_status_t describe_primitive(dnnl_primitive_desc_t *desc, const void *operation,
                                        dnnl_engine_t engine, float scale) {
    dnnl_primitive_attr_t attributes;
    dnnl_status_t status = onednn_attributes(&attributes);
    if (status) return status;
    if (scale != 1) status = dnnl_primitive_attr_set_output_scales(attributes, 1, 0, &scale);
    if (!status) status = dnnl_primitive_desc_create(desc, operation, attributes, engine, NULL);
    dnnl_primitive_attr_destroy(attributes);
    return status;
}

dnnl_status_t onednn_product(dnnl_primitive_desc_t *product, dnnl_engine_t engine,
                             const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b,
                             const dnnl_memory_desc_t *c, float scale) {
    dnnl_matmul_desc_t matmul;
    const dnnl_status_t status = dnnl_matmul_desc_init(&matmul, a, b, NULL, c);
    return status ? status : describe_primitive(product, &matmul, engine, scale);
}

dnnl_status_t onednn_softmax(dnnl_primitive_desc_t *softmax, dnnl_engine_t engine,
                             const dnnl_memory_desc_t *logits) {
    dnnl_softmax_desc_t rows;
    const dnnl_status_t status =
        dnnl_softmax_forward_desc_init(&rows, dnnl_forward_inference, logits, 1);
    return status ? status : describe_primitive(softmax, &rows, engine, 1);
}
