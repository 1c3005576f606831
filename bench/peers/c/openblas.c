/*
 * peers/openblas.c: attention over OpenBLAS, in blocks (blocks.h). Several threads take blocks of
 * their own, which beats threads inside of these small products.
 */
#include "blocks.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>

enum { MAX_THREADS = 64 };

static block_t *blocks;
static int64_t block_count;
static float *logits[MAX_THREADS];

int contender_open(const task_t *task, about_t *about) {
    if (task->threads > MAX_THREADS) return 1;
    openblas_set_num_threads(1);
    omp_set_num_threads((int)task->threads);
    if (!(blocks = blocks_of(task, &block_count))) return 1;
    for (int64_t t = 0; t < task->threads; t++)
        if (!(logits[t] = task_floats(blocks[0].rows * task->keys))) return 1;
    snprintf(about->text, sizeof about->text, "%.60s, core type %.40s, blocks of %d rows",
             openblas_get_config(), openblas_get_corename(), (int)BLOCK_ROWS);
    return 0;
}

/* Where a block's rows are, and those that they read. */
typedef struct place {
    const float *query, *key, *value;
    float *out;
} place_t;

static place_t place_of(const task_t *task, const block_t *block) {
    const int64_t shared = block->shared * task->keys;
    return (place_t){.query = task->query + block->first * task->dim,
                     .key = task->key + shared * task->dim,
                     .value = task->value + shared * task->value_dim,
                     .out = task->out + block->first * task->value_dim};
}

static void one_row(const task_t *task, const block_t *block, float *row) {
    const place_t at = place_of(task, block);
    const int keys = (int)block->keys, d = (int)task->dim, dv = (int)task->value_dim;
    float sum;
    cblas_sgemv(CblasRowMajor, CblasNoTrans, keys, d, 1 / sqrtf((float)d), at.key, d, at.query, 1,
                0, row, 1);
    blocks_exp(task, block, row, &sum);
    cblas_sgemv(CblasRowMajor, CblasTrans, keys, dv, 1, at.value, dv, row, 1, 0, at.out, 1);
    blocks_divide(task, block, &sum);
}

static void one_block(const task_t *task, const block_t *block, float *weights) {
    const place_t at = place_of(task, block);
    const int rows = (int)block->rows, keys = (int)block->keys;
    const int d = (int)task->dim, dv = (int)task->value_dim;
    float sums[BLOCK_ROWS];
    if (rows == 1) {
        one_row(task, block, weights);
        return;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, keys, d, 1 / sqrtf((float)d),
                at.query, d, at.key, d, 0, weights, keys);
    blocks_exp(task, block, weights, sums);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, dv, keys, 1, weights, keys,
                at.value, dv, 0, at.out, dv);
    blocks_divide(task, block, sums);
}

int contender_run(const task_t *task, about_t *about) {
    (void)about;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = block_count - 1; i >= 0; i--) /* the longest first */
        one_block(task, &blocks[i], logits[omp_get_thread_num()]);
    return 0;
}
