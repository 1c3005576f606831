/* peers/blocks.c: see blocks.h. Compiled so that the compiler vectorizes the loops with expf. */
#include "blocks.h"

#include <math.h>
#include <stdlib.h>

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

block_t *blocks_of(const task_t *task, int64_t *count) {
    const int64_t group = task->heads / task->kv_heads, n = task->queries;
    const int64_t together = n == 1 ? group : smaller(n, BLOCK_ROWS);
    const int64_t units = n == 1 ? task->kv_heads : task->heads, length = n == 1 ? group : n;
    block_t *blocks =
        calloc((size_t)(units * ((length + together - 1) / together)), sizeof *blocks);
    *count = 0;
    for (int64_t unit = 0; blocks && unit < units; unit++)
        for (int64_t row = 0; row < length; row += together) {
            const int64_t rows = smaller(together, length - row), query = n == 1 ? 0 : row;
            blocks[(*count)++] = (block_t){.first = unit * length + row,
                                           .rows = rows,
                                           .query = query,
                                           .keys = task_limit(task, n == 1 ? 0 : row + rows - 1),
                                           .shared = n == 1 ? unit : unit / group};
        }
    return blocks;
}

static float exp_row(float *row, int64_t keys) {
    float maximum = row[0], sum = 0;
    for (int64_t j = 1; j < keys; j++) maximum = row[j] > maximum ? row[j] : maximum;
    for (int64_t j = 0; j < keys; j++) {
        row[j] = expf(row[j] - maximum);
        sum += row[j];
    }
    return sum;
}

void blocks_exp(const task_t *task, const block_t *block, float *weights, float *sums) {
    for (int64_t r = 0; r < block->rows; r++) {
        const int64_t seen = task_limit(task, task->queries == 1 ? 0 : block->query + r);
        float *row = weights + r * block->keys;
        sums[r] = exp_row(row, seen);
        for (int64_t j = seen; j < block->keys; j++) row[j] = 0;
    }
}

void blocks_divide(const task_t *task, const block_t *block, const float *sums) {
    for (int64_t r = 0; r < block->rows; r++) {
        float *row = task->out + (block->first + r) * task->value_dim;
        for (int64_t c = 0; c < task->value_dim; c++) row[c] /= sums[r];
    }
}
