/*
 * peers/onednn.c: attention over oneDNN's primitives (matmul, softmax, matmul), in blocks
 * (blocks.h). Threads take blocks of their own.
 */
#include "blocks.h"
#include "onednn_api.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64 };

/* The three steps for one block: shapes and strides are in the primitives, so each has its own. */
typedef struct steps {
    dnnl_memory_desc_t query, key, logits, value, out;
    dnnl_primitive_t product, softmax, sum;
} steps_t;

/* What a thread needs: memory objects are bound to one use at a time. */
typedef struct bench {
    dnnl_stream_t stream;
    float *logits;
    void *scratch;
} bench_t;

static dnnl_engine_t engine;
static block_t *blocks;
static int64_t block_count;
static steps_t *steps;
static bench_t benches[MAX_THREADS];
static size_t scratch_size = 64;
static dnnl_memory_desc_t scratch;
static char kernel_name[64]; /* of the first product */

static dnnl_status_t matrix(dnnl_memory_desc_t *desc, int64_t rows, int64_t columns,
                            int64_t row_stride, int64_t column_stride) {
    const dnnl_dims_t sizes = {rows, columns}, strides = {row_stride, column_stride};
    return onednn_describe(desc, dnnl_f32, 2, sizes, strides);
}

/* What is described, compiled; its scratch memory is to be the caller's. */
static dnnl_status_t make(dnnl_primitive_desc_t desc, dnnl_primitive_t *primitive) {
    const size_t size =
        dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0));
    if (size > scratch_size) scratch_size = size;
    const char *kernel = "";
    if (!*kernel_name && !dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &kernel))
        snprintf(kernel_name, sizeof kernel_name, "%s", kernel);
    const dnnl_status_t status = dnnl_primitive_create(primitive, desc);
    dnnl_primitive_desc_destroy(desc);
    return status;
}

static dnnl_status_t make_product(dnnl_primitive_t *primitive, const dnnl_memory_desc_t *a,
                                  const dnnl_memory_desc_t *b, const dnnl_memory_desc_t *c,
                                  float scale) {
    dnnl_primitive_desc_t desc;
    const dnnl_status_t status = onednn_product(&desc, engine, a, b, c, scale);
    return status ? status : make(desc, primitive);
}

static dnnl_status_t make_softmax(dnnl_primitive_t *primitive, const dnnl_memory_desc_t *logits) {
    dnnl_primitive_desc_t desc;
    const dnnl_status_t status = onednn_softmax(&desc, engine, logits);
    return status ? status : make(desc, primitive);
}

static dnnl_status_t prepare(const task_t *task, const block_t *block, steps_t *to) {
    const int64_t d = task->dim, dv = task->value_dim, rows = block->rows, keys = block->keys;
    dnnl_status_t status;
    if ((status = matrix(&to->query, rows, d, d, 1)) ||
        (status = matrix(&to->key, d, keys, 1, d)) || /* transposed */
        (status = matrix(&to->logits, rows, keys, keys, 1)) ||
        (status = matrix(&to->value, keys, dv, dv, 1)) ||
        (status = matrix(&to->out, rows, dv, dv, 1)) ||
        (status =
             make_product(&to->product, &to->query, &to->key, &to->logits, 1 / sqrtf((float)d))) ||
        (status = make_softmax(&to->softmax, &to->logits)))
        return status;
    return make_product(&to->sum, &to->logits, &to->value, &to->out, 1);
}

/* Blocks of the same shape share their primitives: compiling them takes a while. */
static dnnl_status_t prepare_all(const task_t *task) {
    for (int64_t i = 0; i < block_count; i++) {
        int64_t same = 0;
        while (blocks[same].rows != blocks[i].rows || blocks[same].keys != blocks[i].keys) same++;
        if (same < i) {
            steps[i] = steps[same];
            continue;
        }
        const dnnl_status_t status = prepare(task, &blocks[i], &steps[i]);
        if (status) return status;
    }
    const dnnl_dims_t size = {(int64_t)scratch_size}, stride = {1};
    return onednn_describe(&scratch, dnnl_u8, 1, size, stride);
}

int contender_open(const task_t *task, about_t *about) {
    if (task->threads > MAX_THREADS) return 1;
    omp_set_num_threads((int)task->threads);
    if (!(blocks = blocks_of(task, &block_count))) return 1;
    if (!(steps = calloc((size_t)block_count, sizeof *steps))) return 1;
    dnnl_status_t status = dnnl_engine_create(&engine, dnnl_cpu, 0);
    if (!status) status = prepare_all(task);
    for (int64_t t = 0; !status && t < task->threads; t++) {
        status = dnnl_stream_create(&benches[t].stream, engine, dnnl_stream_default_flags);
        benches[t].logits = task_floats(blocks[0].rows * task->keys);
        benches[t].scratch = task_floats((int64_t)(scratch_size / sizeof(float)) + 1);
        if (!benches[t].logits || !benches[t].scratch) return 1;
    }
    const dnnl_version_t *version = dnnl_version();
    snprintf(about->text, sizeof about->text,
             status ? "oneDNN %d.%d.%d: status %d" : "oneDNN %d.%d.%d, blocks of %d rows, %s",
             version->major, version->minor, version->patch, status ? (int)status : (int)BLOCK_ROWS,
             kernel_name);
    return status != dnnl_success;
}

typedef struct operand {
    int argument;
    const dnnl_memory_desc_t *desc;
    const void *data;
} operand_t;

static dnnl_status_t execute(const bench_t *bench, dnnl_primitive_t primitive, int count,
                             const operand_t *operands) {
    dnnl_exec_arg_t arguments[4];
    dnnl_memory_t memory[4] = {NULL};
    dnnl_status_t status = dnnl_success;
    for (int i = 0; !status && i < count; i++) {
        status = onednn_memory(&memory[i], operands[i].desc, engine, operands[i].data);
        arguments[i] = (dnnl_exec_arg_t){operands[i].argument, memory[i]};
    }
    if (!status) status = dnnl_primitive_execute(primitive, bench->stream, count, arguments);
    if (!status) status = dnnl_stream_wait(bench->stream);
    for (int i = 0; i < count; i++)
        if (memory[i]) dnnl_memory_destroy(memory[i]);
    return status;
}

/* The lowest float and not minus infinity: softmax gives 0 for both, and no inf - inf. */
static void hide_future(const task_t *task, const block_t *block, float *logits) {
    for (int64_t r = 0; task->causal && r < block->rows; r++)
        for (int64_t j = task_limit(task, block->query + r); j < block->keys; j++)
            logits[r * block->keys + j] = -3.402823466e38f;
}

static dnnl_status_t one_block(const task_t *task, int64_t index, const bench_t *bench) {
    const block_t *block = &blocks[index];
    const steps_t *step = &steps[index];
    const int64_t d = task->dim, dv = task->value_dim, shared = block->shared * task->keys;
    const operand_t room = {DNNL_ARG_SCRATCHPAD, &scratch, bench->scratch};
    const operand_t product[] = {{DNNL_ARG_SRC, &step->query, task->query + block->first * d},
                                 {DNNL_ARG_WEIGHTS, &step->key, task->key + shared * d},
                                 {DNNL_ARG_DST, &step->logits, bench->logits},
                                 room};
    const operand_t softmax[] = {{DNNL_ARG_SRC, &step->logits, bench->logits},
                                 {DNNL_ARG_DST, &step->logits, bench->logits},
                                 room};
    const operand_t sum[] = {{DNNL_ARG_SRC, &step->logits, bench->logits},
                             {DNNL_ARG_WEIGHTS, &step->value, task->value + shared * dv},
                             {DNNL_ARG_DST, &step->out, task->out + block->first * dv},
                             room};
    dnnl_status_t status = execute(bench, step->product, 4, product);
    if (status) return status;
    hide_future(task, block, bench->logits);
    if ((status = execute(bench, step->softmax, 3, softmax))) return status;
    return execute(bench, step->sum, 4, sum);
}

int contender_run(const task_t *task, about_t *about) {
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(| : failed)
    for (int64_t i = block_count - 1; i >= 0; i--) /* the longest first */
        failed |= one_block(task, i, &benches[omp_get_thread_num()]) != dnnl_success;
    if (failed) snprintf(about->text, sizeof about->text, "oneDNN: a primitive fails to execute");
    return failed;
}
