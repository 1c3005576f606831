/* nn/attend.c: a block's attention, through a backend's plan: a sequence a run. */
#include "labs/nn/net.h"

attn_tensor_t nn_heads(const nn_net_t *net, float *rows, int64_t sequences, int64_t tokens,
                       int64_t part, int64_t parts) {
    const nn_layout_t *layout = &net->layout;
    const int64_t stride = parts * layout->inner;
    return (attn_tensor_t){
        .data = rows + part * layout->inner,
        .dtype = ATTN_F32,
        .shape = {sequences, net->shape.heads, tokens, layout->dim},
        .stride = {tokens * stride, layout->dim, stride, 1},
    };
}

static attn_io_t io_of(const nn_pass_t *pass, float *qkv, float *out, int64_t sequence) {
    const nn_net_t *net = pass->net;
    const int64_t length = net->shape.length, before = sequence * length * net->layout.inner;
    return (attn_io_t){
        .struct_size = sizeof(attn_io_t),
        .query = nn_heads(net, qkv + 3 * before, 1, length, 0, 3),
        .key = nn_heads(net, qkv + 3 * before, 1, length, 1, 3),
        .value = nn_heads(net, qkv + 3 * before, 1, length, 2, 3),
        .out = nn_heads(net, out + before, 1, length, 0, 1),
    };
}

static attn_io_t run_of(const nn_pass_t *pass, const nn_block_pass_t *block, int64_t sequence) {
    const nn_shape_t *shape = &pass->net->shape;
    attn_io_t io = io_of(pass, block->qkv, block->attended, sequence);
    if (pass->net->has_lse)
        io.lse = attn_tensor_bhnd(block->lse + sequence * shape->heads * shape->length, 1,
                                  shape->heads, shape->length, 1);
    io.workspace = pass->workspace;
    io.workspace_size = pass->workspace_size;
    return io;
}

attn_status_t nn_attend(const nn_pass_t *pass, const nn_block_pass_t *block, int64_t count,
                        attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    for (int64_t s = 0; s < count && !status; s++) {
        const attn_io_t io = run_of(pass, block, s);
        status = attn_run(pass->net->plan, &io, error);
    }
    return status;
}

attn_status_t nn_attend_backward(const nn_pass_t *pass, const nn_block_pass_t *block, int64_t count,
                                 float *dattended, float *dqkv, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    for (int64_t s = 0; s < count && !status; s++) {
        const attn_io_t io = run_of(pass, block, s);
        const attn_io_t gradients = io_of(pass, dqkv, dattended, s);
        status = attn_backward(pass->net->plan, &io, &gradients, error);
    }
    return status;
}
