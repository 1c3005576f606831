/*
 * peers/newest/ggml.c: ggml's operators of attention, of linear attention with gates and with the delta rule, through
 * its processor backend. The arrays of the latter, and all outputs, are in the order (token, head, column).
 */
#include "worker.h"

#include <ggml-backend.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static ggml_backend_t backend;
static struct ggml_cgraph *graph;
static struct ggml_tensor *result;
static int has_output;

static struct ggml_tensor *tensor(struct ggml_context *context, int64_t a, int64_t b, int64_t c) {
    return ggml_new_tensor_4d(context, GGML_TYPE_F32, a, b, c, 1);
}

/* From (head, token, column). */
static int fill(struct ggml_tensor *to, const float *from, float (*of)(float)) {
    const int64_t columns = to->ne[0], heads = to->ne[1], tokens = to->ne[2];
    float *data = task_floats(columns * heads * tokens);
    if (!data) return 1;
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t c = 0; c < columns; c++)
                data[(t * heads + h) * columns + c] =
                    from ? of(from[(h * tokens + t) * columns + c]) : 0;
    ggml_backend_tensor_set(to, data, 0, ggml_nbytes(to));
    return 0;
}

static float same(float x) { return x; }

static int refuse(about_t *about, const char *why) {
    snprintf(about->text, sizeof about->text, "%s", why);
    return 1;
}

static int start(const task_t *task, about_t *about) {
    ggml_backend_load_all();
    backend = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    if (!backend) return refuse(about, "no backend for the processor");
    ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(ggml_backend_get_device(backend));
    ggml_backend_set_n_threads_t set_threads =
        (ggml_backend_set_n_threads_t)ggml_backend_reg_get_proc_address(
            reg, "ggml_backend_set_n_threads");
    if (set_threads) set_threads(backend, (int)task->threads);
    return 0;
}

/* The graph of the result, with memory for all arrays. */
static int build(struct ggml_context *context, about_t *about) {
    graph = ggml_new_graph(context);
    ggml_build_forward_expand(graph, result);
    if (!ggml_backend_alloc_ctx_tensors(context, backend)) return refuse(about, "no memory");
    snprintf(about->text, sizeof about->text, "ggml %s, %s", ggml_version(), ggml_op_desc(result));
    return 0;
}

/* Keys or values, whose order is ours. */
static int set_kv(const task_t *task, struct ggml_tensor *to, const float *from) {
    const void *data = task->kv == KV_F32 ? from : task_halves(task, from, to->ne[0]);
    if (!data) return 1;
    ggml_backend_tensor_set(to, data, 0, ggml_nbytes(to));
    return 0;
}

static int open_softmax(struct ggml_context *context, const task_t *task, about_t *about) {
    static const enum ggml_type types[] = {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16};
    const int64_t h = task->heads, n = task->queries, d = task->dim;
    const enum ggml_type type = types[task->kv];
    if (task->causal || task->stream || task->sparse) return refuse(about, "computes every pair");
    struct ggml_tensor *q = tensor(context, d, n, h);
    struct ggml_tensor *k = ggml_new_tensor_4d(context, type, d, task->keys, task->kv_heads, 1);
    struct ggml_tensor *v =
        ggml_new_tensor_4d(context, type, task->value_dim, task->keys, task->kv_heads, 1);
    result = ggml_flash_attn_ext(context, q, k, v, NULL, 1 / sqrtf((float)d), 0, 0);
    if (build(context, about)) return 1;
    ggml_backend_tensor_set(q, task->query, 0, ggml_nbytes(q));
    if (set_kv(task, k, task->key) || set_kv(task, v, task->value))
        return refuse(about, "no memory");
    return 0;
}

static int open_linear(struct ggml_context *context, const task_t *task, about_t *about) {
    const int64_t h = task->heads, n = task->queries, d = task->dim;
    const int gated = task->linear->rule == RULE_GATED;
    if (task->stream || task->linear->rule == RULE_LINEAR || h != task->kv_heads)
        return refuse(about, "computes no such form");
    struct ggml_tensor *q = tensor(context, d, h, n), *k = tensor(context, d, h, n);
    struct ggml_tensor *v = tensor(context, d, h, n), *state, *g, *beta = NULL;
    if (gated) {
        g = tensor(context, d, h, n);
        state = ggml_new_tensor_2d(context, GGML_TYPE_F32, d * d * h, 1);
        result = ggml_gated_linear_attn(context, k, v, q, g, state, 1 / sqrtf((float)d));
    } else { /* a rule without decays decays by 0 */
        g = tensor(context, linear_decays(task->linear) ? d : 1, h, n);
        beta = tensor(context, 1, h, n);
        state = tensor(context, d, d, h);
        result = ggml_gated_delta_net(context, q, k, v, g, beta, state, 1);
    }
    if (build(context, about)) return 1;
    if (fill(q, task->query, same) || fill(k, task->key, same) || fill(v, task->value, same) ||
        fill(g, task->decay, gated ? expf : same) || (beta && fill(beta, task->beta, same)))
        return refuse(about, "no memory");
    float *zeros = task_floats(d * d * h);
    ggml_backend_tensor_set(state, zeros, 0, ggml_nbytes(state));
    return 0;
}

int contender_open(const task_t *task, about_t *about) {
    if (start(task, about)) return 1;
    const struct ggml_init_params params = {1 << 20, NULL, true};
    struct ggml_context *context = ggml_init(params);
    return task->linear ? open_linear(context, task, about) : open_softmax(context, task, about);
}

/* To (head, token, column); once, as it is no part of the work. */
static int take_output(const task_t *task) {
    const int64_t h = task->heads, n = task->queries, d = task->value_dim;
    float *rows = task_floats(task_out_size(task));
    if (!rows) return 1;
    ggml_backend_tensor_get(result, rows, 0, (size_t)task_out_size(task) * sizeof *rows);
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < h; i++)
            memcpy(task->out + (i * n + t) * d, rows + (t * h + i) * d, (size_t)d * sizeof *rows);
    return 0;
}

int contender_run(const task_t *task, about_t *about) {
    if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS)
        return refuse(about, "ggml failed");
    if (has_output) return 0;
    has_output = 1;
    return take_output(task);
}
