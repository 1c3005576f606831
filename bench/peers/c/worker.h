/*
 * peers/worker.h: a contender as a process of its own. run.mjs starts it with the task as
 * arguments NAME=VALUE; worker.c reads the arrays, computes once, writes the output to a file for
 * check.c and says on stdout
 *
 *     ready WHAT-RUNS        or        fail WHY
 *
 * From then on each line `time SECONDS` on stdin is answered by `times T T T ...`, seconds of
 * single calls; the end of stdin ends the process. worker.mjs speaks the same.
 */
#ifndef ATTN_PEERS_WORKER_H
#define ATTN_PEERS_WORKER_H

#include <stddef.h>
#include <stdint.h>

/** What type keys and values have for a contender that takes others than f32. */
enum kv_type { KV_F32, KV_F16, KV_BF16, KV_I8 };

/** How a token changes the state of linear attention (attn/oracle_linear.h), in the order of that header. */
enum linear_rule { RULE_LINEAR, RULE_GATED, RULE_DELTA, RULE_GATED_DELTA };

/**
 * A form of linear attention: phi(x) = elu(x) + 1 with its normaliser (arXiv:2006.16236), or else phi(x) = x
 * without one and queries times 1/sqrt(dim), as ONNX defines its operator LinearAttention.
 */
typedef struct linear {
    const char *name;
    enum linear_rule rule;
    int elu1;
} linear_t;

static inline int linear_decays(const linear_t *linear) {
    return linear && (linear->rule == RULE_GATED || linear->rule == RULE_GATED_DELTA);
}

static inline int linear_deltas(const linear_t *linear) {
    return linear && (linear->rule == RULE_DELTA || linear->rule == RULE_GATED_DELTA);
}

/**
 * One attention problem, batch 1, in the order (head, row, column), and its arrays. Where keys and
 * values are to be f16, bf16 or i8 with a scale for each token, `key` and `value` hold the numbers rounded to that type, as f32: what
 * the contender gets is exactly what its output is checked against.
 */
typedef struct task {
    int64_t heads, kv_heads, queries, keys;
    int64_t dim, value_dim; /**< columns of queries and keys; of values and the output */
    int64_t causal;         /**< query i sees keys j <= i */
    int64_t threads;
    enum kv_type kv;
    const char *precision; /**< NULL, or libattn's parameter of softmax: int8, bf16 ... */
    int64_t
        stream; /**< 1: a call takes the last token and its query, those before are known already */
    const linear_t *linear; /**< NULL: softmax */
    const char
        *sparse; /**< NULL: of every pair; else libattn's parameters of sparse, NAME=VALUE,... */
    const char *layout; /**< NULL, or a file of the blocks that it keeps (layouts.mjs) */
    const char *peak;   /**< NULL, or what peak.c does in place of attention: flops, read, state */
    int64_t amount;     /**< of operations or bytes, in a call of peak.c */
    float *query, *key, *value, *out;
    float *decay; /**< [kv_heads][keys][dim] where the rule decays: log of what the state keeps */
    float *beta;  /**< [kv_heads][keys] where it is a delta rule */
} task_t;

/** What a contender says of itself or of what went wrong. */
typedef struct about {
    char text[256];
} about_t;

/**
 * Reads the task's sizes, of which value_dim may be left out for dim, and, where arguments name their files, its arrays: query=, key=, value=,
 * decay=, beta=, and result= for the output of another program. 0 when all is well.
 */
int task_read(task_t *task, int count, char **arguments, about_t *about);

/** The value of argument NAME=VALUE, or NULL. */
const char *task_argument(int count, char **arguments, const char *name);

/** Keys or values, rows of so many columns that are exact in the task's type, in 16 bits; NULL without memory. */
void *task_halves(const task_t *task, const float *numbers, int64_t columns);

/** The same in i8, and the scale of each token; NULL without memory. */
int8_t *task_bytes(const task_t *task, const float *numbers, int64_t columns, float *scales);

/** Zeroed room for so many floats, aligned to 64 bytes; NULL when there is none. */
float *task_floats(int64_t count);

/** Tokens of all key/value heads. */
static inline int64_t task_tokens(const task_t *task) { return task->kv_heads * task->keys; }

/** Elements of the output. */
static inline int64_t task_out_size(const task_t *task) {
    return task->heads * task->queries * task->value_dim;
}

/** How many keys query `row` sees. */
static inline int64_t task_limit(const task_t *task, int64_t row) {
    return task->causal && row + 1 < task->keys ? row + 1 : task->keys;
}

/** Implemented by each contender: prepares, and says what runs; 0 when all is well. */
int contender_open(const task_t *task, about_t *about);

/** Implemented by each contender: computes task->out; 0 when all is well. */
int contender_run(const task_t *task, about_t *about);

#endif
