/* peers/libattn.c: this library, as any program would use it. */
#include "pattern.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static attn_context_t *context;
static attn_plan_t *plan;
static attn_stream_t *stream; /* of a task that has one, in place of the plan */
static attn_io_t io;          /* of a stream the query's */
static attn_io_t token;       /* of a stream: the last key, value and gates */
static attn_tensor_t gates[2];
static const attn_tensor_t
    *own[3]; /* by the backend: decay, beta; or of blocks the second, starts, and columns */
static pattern_t pattern;

static int explain(const attn_error_t *error, about_t *about) {
    snprintf(about->text, sizeof about->text, "%s", error->message);
    return 1;
}

static attn_dtype_t cache_type(const task_t *task) {
    static const attn_dtype_t types[] = {ATTN_F32, ATTN_F16, ATTN_BF16, ATTN_I8};
    return types[task->kv];
}

/* Keys or values in the type that the task asks for, in i8 with their scales. */
static attn_tensor_t cache_of(const task_t *task, float *numbers, int64_t columns,
                              attn_tensor_t *scales) {
    const int64_t heads = task->kv_heads, keys = task->keys;
    void *data = numbers;
    if (task->kv == KV_I8) {
        *scales = attn_tensor_bhnd(task_floats(heads * keys), 1, heads, keys, 1);
        data = task_bytes(task, numbers, columns, scales->data);
    } else if (task->kv != KV_F32) {
        data = task_halves(task, numbers, columns);
    }
    attn_tensor_t tensor = attn_tensor_bhnd(data, 1, heads, keys, columns);
    tensor.dtype = cache_type(task);
    return tensor;
}

static attn_problem_t problem_of(const task_t *task) {
    attn_problem_t problem;
    attn_problem_init(&problem, 1, task->heads, task->queries, task->keys, task->dim,
                      task->value_dim);
    problem.kv_heads = task->kv_heads;
    problem.kv_dtype = cache_type(task);
    if (task->causal || task->stream) problem.causal = ATTN_CAUSAL_TOP_LEFT;
    if (task->linear && !task->linear->elu1) problem.scale = 1 / sqrtf((float)task->dim);
    return problem;
}

/* The arrays of all tokens. */
static int give_arrays(const task_t *task) {
    io = (attn_io_t){.struct_size = sizeof io, .own = own, .own_count = 3};
    io.query = attn_tensor_bhnd(task->query, 1, task->heads, task->queries, task->dim);
    io.key = cache_of(task, task->key, task->dim, &io.key_scales);
    io.value = cache_of(task, task->value, task->value_dim, &io.value_scales);
    io.out = attn_tensor_bhnd(task->out, 1, task->heads, task->queries, task->value_dim);
    gates[0] = attn_tensor_bhnd(task->decay, 1, task->kv_heads, task->keys, task->dim);
    gates[1] = attn_tensor_bhnd(task->beta, 1, task->kv_heads, task->keys, 1);
    for (int i = 0; i < 2; i++) own[i] = gates[i].data ? &gates[i] : NULL;
    return !io.key.data || !io.value.data;
}

static attn_tensor_t rows_of(attn_tensor_t tensor, int64_t first, int64_t count) {
    const int64_t step = tensor.stride[2] * attn_dtype_size(tensor.dtype);
    if (tensor.data) tensor.data = (char *)tensor.data + first * step;
    tensor.shape[2] = count;
    return tensor;
}

/* `token` and its gates: so many tokens of all. */
static void take_tokens(const attn_io_t *all, const attn_tensor_t all_gates[2], int64_t first,
                        int64_t count) {
    token = (attn_io_t){.struct_size = sizeof token, .own = own, .own_count = 2};
    token.key = rows_of(all->key, first, count);
    token.value = rows_of(all->value, first, count);
    for (int i = 0; i < 2; i++) gates[i] = rows_of(all_gates[i], first, count);
}

/* All tokens but the last are known before the first call. */
static int open_stream(const task_t *task, const attn_problem_t *problem,
                       const attn_param_t *params, uint32_t count, about_t *about) {
    const int64_t before = task->keys - 1, most = INT64_C(1) << 40; /* calls come without end */
    const attn_io_t all = io;
    const attn_tensor_t all_gates[2] = {gates[0], gates[1]};
    attn_error_t error;
    if (attn_stream_create(context, "linear", problem, params, count, most, &stream, &error))
        return explain(&error, about);
    take_tokens(&all, all_gates, 0, before);
    if (before && attn_stream_append(stream, &token, &error)) return explain(&error, about);
    take_tokens(&all, all_gates, before, 1);
    io = (attn_io_t){.struct_size = sizeof io, .query = all.query, .out = all.out};
    snprintf(about->text, sizeof about->text, "libattn %s, a stream", attn_version());
    return 0;
}

/* As the plan counts them, or else those of a run's arrays that have a weight; NaN without memory for them. */
static double kept_pairs(const task_t *task) {
    attn_cost_t cost = {.struct_size = sizeof cost};
    if (attn_plan_cost(plan, &cost, NULL) == ATTN_OK && !isnan(cost.pairs)) return cost.pairs;
    const int64_t size = task->queries * task->keys;
    float *weights = task_floats(size);
    double pairs = weights ? 0 : NAN;
    for (int64_t head = 0; weights && head < task->heads; head++) {
        attn_weights(plan, &io, 0, head, 0, task->queries, weights, task->keys, NULL);
        for (int64_t i = 0; i < size; i++) pairs += weights[i] > 0;
    }
    free(weights);
    return pairs;
}

static int open_plan(const task_t *task, const attn_problem_t *problem, const attn_param_t *params,
                     uint32_t count, about_t *about) {
    attn_error_t error;
    const char *backend = task->linear ? "linear" : task->sparse ? "sparse" : "softmax";
    if (attn_plan_create(context, backend, problem, params, count, &plan, &error))
        return explain(&error, about);
    io.workspace_size = attn_plan_workspace_size(plan);
    io.workspace = task_floats((int64_t)(io.workspace_size / sizeof(float)) + 1);
    if (!io.workspace) return 1;
    int used = snprintf(about->text, sizeof about->text, "libattn %s, %s", attn_version(),
                        attn_plan_kernel(plan));
    const double pairs = task->sparse ? kept_pairs(task) : NAN;
    if (!isnan(pairs))
        snprintf(about->text + used, sizeof about->text - (size_t)used, ", %.0f pairs", pairs);
    return 0;
}

/* Blocks that are listed, or a pattern by its parameters. */
static int open_sparse(const task_t *task, attn_problem_t *problem, about_t *about) {
    const attn_backend_t *sparse = attn_backend_find(context, "sparse");
    attn_error_t error;
    if (!task->layout) {
        pattern_read(&pattern, task);
        return open_plan(task, problem, pattern.params, pattern.count, about);
    }
    if (pattern_read_layout(&pattern, task)) {
        snprintf(about->text, sizeof about->text, "%.200s: no layout", task->layout);
        return 1;
    }
    if (attn_problem_add_input(problem, sparse, "block_starts", &error) ||
        attn_problem_add_input(problem, sparse, "block_columns", &error))
        return explain(&error, about);
    own[1] = &pattern.starts;
    own[2] = &pattern.columns;
    return open_plan(task, problem, pattern.params, pattern.count, about);
}

int contender_open(const task_t *task, about_t *about) {
    static const char *const rules[] = {"linear", "gated", "delta", "gated_delta"};
    const attn_context_options_t options = {.struct_size = sizeof options,
                                            .threads = (int32_t)task->threads};
    attn_error_t error;
    if (attn_context_create(&options, &context, &error)) return explain(&error, about);
    attn_problem_t problem = problem_of(task);
    const attn_backend_t *linear = attn_backend_find(context, "linear");
    if (linear_decays(task->linear) && attn_problem_add_input(&problem, linear, "decay", &error))
        return explain(&error, about);
    if (linear_deltas(task->linear) && attn_problem_add_input(&problem, linear, "beta", &error))
        return explain(&error, about);
    const int elu1 = !task->linear || task->linear->elu1; /* the default */
    const attn_param_t params[] = {{"feature_map", "lin"},
                                   {"normaliser", "off"},
                                   {"rule", elu1 ? "linear" : rules[task->linear->rule]}};
    if (give_arrays(task)) return 1;
    if (task->sparse) return open_sparse(task, &problem, about);
    if (task->precision) {
        const attn_param_t precision = {"precision", task->precision};
        return open_plan(task, &problem, &precision, 1, about);
    }
    return (task->stream ? open_stream : open_plan)(task, &problem, params, elu1 ? 0 : 3, about);
}

int contender_run(const task_t *task, about_t *about) {
    attn_error_t error;
    if (!task->stream) return attn_run(plan, &io, &error) ? explain(&error, about) : 0;
    return attn_stream_append(stream, &token, &error) || attn_stream_query(stream, &io, &error)
               ? explain(&error, about)
               : 0;
}
