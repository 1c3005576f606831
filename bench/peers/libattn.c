/* peers/libattn.c: this library, as any program would use it. */
#include "worker.h"

#include <attn/attn.h>

#include <stdio.h>
#include <stdlib.h>

static attn_context_t *context;
static attn_plan_t *plan;
static attn_io_t io;

static int explain(const attn_error_t *error, about_t *about) {
    snprintf(about->text, sizeof about->text, "%s", error->message);
    return 1;
}

static attn_dtype_t cache_type(const task_t *task) {
    static const attn_dtype_t types[] = {ATTN_F32, ATTN_F16, ATTN_BF16};
    return types[task->kv];
}

/* Keys or values in the type that the task asks for. */
static attn_tensor_t cache_of(const task_t *task, float *numbers) {
    void *data = task->kv == KV_F32 ? numbers : task_halves(task, numbers);
    attn_tensor_t tensor = attn_tensor_bhnd(data, 1, task->kv_heads, task->keys, task->dim);
    tensor.dtype = cache_type(task);
    return tensor;
}

int contender_open(const task_t *task, about_t *about) {
    const int64_t h = task->heads, d = task->dim;
    const attn_context_options_t options = {.struct_size = sizeof options,
                                            .threads = (int32_t)task->threads};
    attn_error_t error;
    if (attn_context_create(&options, &context, &error)) return explain(&error, about);
    attn_problem_t problem;
    attn_problem_init(&problem, 1, h, task->queries, task->keys, d, d);
    problem.kv_heads = task->kv_heads;
    problem.kv_dtype = cache_type(task);
    if (task->causal) problem.causal = ATTN_CAUSAL_TOP_LEFT;
    if (attn_plan_create(context, task->linear ? "linear" : "softmax", &problem, NULL, 0, &plan,
                         &error))
        return explain(&error, about);
    io = (attn_io_t){.struct_size = sizeof io};
    io.query = attn_tensor_bhnd(task->query, 1, h, task->queries, d);
    io.key = cache_of(task, task->key);
    io.value = cache_of(task, task->value);
    io.out = attn_tensor_bhnd(task->out, 1, h, task->queries, d);
    io.workspace_size = attn_plan_workspace_size(plan);
    io.workspace = task_floats((int64_t)(io.workspace_size / sizeof(float)) + 1);
    if (!io.workspace || !io.key.data || !io.value.data) return 1;
    snprintf(about->text, sizeof about->text, "libattn %s, %s", attn_version(),
             attn_plan_kernel(plan));
    return 0;
}

int contender_run(const task_t *task, about_t *about) {
    (void)task;
    attn_error_t error;
    return attn_run(plan, &io, &error) ? explain(&error, about) : 0;
}
