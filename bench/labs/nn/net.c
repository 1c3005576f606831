/* nn/net.c: what nets and passes are made of; see net.h. */
#include "labs/nn/net.h"

#include "labs/nn/memory.h"

#include <math.h>

/* ---- net ------------------------------------------------------------------------------------------- */

attn_status_t nn_net_create(const attn_context_t *context, const nn_shape_t *shape, nn_net_t *net,
                            attn_error_t *error) {
    *net = (nn_net_t){.shape = *shape, .kernels = attn_nn_kernels(attn_context_tier(context))};
    attn_status_t status = nn_layout_make(shape, &net->layout, error);
    if (status) return status;
    attn_problem_t problem = nn_attention_problem(shape, &net->layout);
    problem.backward = !shape->frozen;
    status = attn_plan_create(context, shape->backend, &problem, shape->params, shape->param_count,
                              &net->plan, error);
    if (status) return status;
    net->has_lse = (attn_plan_backend(net->plan)->features & ATTN_FEATURE_LSE) != 0;
    net->positions = malloc((size_t)(shape->length * shape->width) * sizeof *net->positions);
    if (!net->positions) {
        nn_net_destroy(net);
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for positions");
    }
    nn_positions(shape, net->positions);
    return ATTN_OK;
}

void nn_net_destroy(nn_net_t *net) {
    attn_plan_destroy(net->plan);
    free(net->positions);
    *net = (nn_net_t){.plan = NULL};
}

int64_t nn_net_scratch(const nn_net_t *net, int64_t rows) {
    const nn_layout_t *layout = &net->layout;
    const int64_t wide =
        attn_max(attn_max(layout->hidden, 3 * layout->inner), net->shape.vocabulary);
    return nn_product_scratch(net->kernels, attn_max(rows, wide), wide);
}

nn_flops_t nn_sequence_flops(const nn_net_t *net) {
    const double tokens = (double)net->shape.length, layers = (double)net->shape.layers;
    const double embedding =
        net->shape.tied ? 0 : (double)(net->shape.vocabulary * net->shape.width);
    const double weights = (double)net->layout.count - embedding;
    attn_cost_t cost = {.struct_size = sizeof cost};
    if (attn_plan_cost(net->plan, &cost, NULL)) cost.flops = cost.gradient_flops = NAN;
    return (nn_flops_t){.forward = 2 * weights * tokens + layers * cost.flops,
                        .backward = 4 * weights * tokens + layers * cost.gradient_flops};
}

/* ---- pass ------------------------------------------------------------------------------------------ */

static void lay_block(const nn_net_t *net, attn_arena_t *arena, int64_t rows,
                      nn_block_pass_t *block) {
    const int64_t width = net->shape.width;
    const nn_layout_t *layout = &net->layout;
    block->in = nn_take(arena, rows, width);
    block->in_stats = nn_take(arena, rows, 2);
    block->in_norm = nn_take(arena, rows, width);
    block->qkv = nn_take(arena, rows, 3 * layout->inner);
    block->attended = nn_take(arena, rows, layout->inner);
    block->lse = nn_take(arena, rows, net->shape.heads);
    block->middle = nn_take(arena, rows, width);
    block->middle_stats = nn_take(arena, rows, 2);
    block->middle_norm = nn_take(arena, rows, width);
    block->up = nn_take(arena, rows, layout->hidden);
    block->active = nn_take(arena, rows, layout->hidden);
}

static void lay(nn_pass_t *pass, attn_arena_t *arena) {
    const nn_net_t *net = pass->net;
    const int64_t rows = pass->room * net->shape.length, width = net->shape.width;
    const int64_t wide = attn_max(net->layout.hidden, 3 * net->layout.inner);
    pass->workspace = attn_arena_take(arena, 1, pass->workspace_size);
    pass->sum = nn_take(arena, rows, width);
    pass->sum_stats = nn_take(arena, rows, 2);
    for (int64_t l = 0; l < net->shape.layers; l++) lay_block(net, arena, rows, &pass->blocks[l]);
    pass->last = nn_take(arena, rows, width);
    pass->last_stats = nn_take(arena, rows, 2);
    pass->last_norm = nn_take(arena, rows, width);
    pass->logits = nn_take(arena, rows, net->shape.vocabulary);
    pass->d = nn_take(arena, rows, width);
    pass->branch = nn_take(arena, rows, attn_max(width, net->layout.inner));
    pass->wide = nn_take(arena, rows, wide);
    pass->scratch = nn_take(arena, 1, nn_net_scratch(net, rows));
}

attn_status_t nn_pass_create(const nn_net_t *net, const float *weights, int64_t room,
                             nn_pass_t *pass, attn_error_t *error) {
    attn_arena_t arena = {.base = NULL};
    *pass = (nn_pass_t){.net = net,
                        .weights = weights,
                        .room = room,
                        .workspace_size = attn_plan_workspace_size(net->plan)};
    lay(pass, &arena);
    pass->memory = nn_allocate(&arena);
    if (!pass->memory)
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a pass of %.0f bytes",
                         (double)arena.used);
    arena = (attn_arena_t){.base = pass->memory};
    lay(pass, &arena);
    return ATTN_OK;
}

void nn_pass_destroy(nn_pass_t *pass) {
    free(pass->memory);
    *pass = (nn_pass_t){.net = NULL};
}
