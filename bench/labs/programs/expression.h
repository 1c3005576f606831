/*
 * labs/programs/expression.h: arithmetic by a sparse transformer of constant width with explicit weights (Proposition
 * 5.1): five layers of attention with five heads at most, blocks of B ~ sqrt L tokens, of which a query sees the last seven.
 *
 * The task is that of labs/reasoning: e_0 = e_1 = .. = e_n <eos>, modulo a prime, the leftmost operator that is ready at
 * each step. A token is a column of its own in the embedding and in the answer.
 */
#ifndef ATTN_LABS_PROGRAMS_EXPRESSION_H
#define ATTN_LABS_PROGRAMS_EXPRESSION_H

#include "labs/programs/machine.h"
#include "labs/reasoning/task.h"

enum {
    EXPRESSION_MOST_MODULUS = 11,
    EXPRESSION_NUMBER = REASONING_OWN + 7, /**< the token of 0 */
    EXPRESSION_VOCABULARY = EXPRESSION_NUMBER + EXPRESSION_MOST_MODULUS,
    EXPRESSION_LOCAL = 7 /**< blocks that a query sees */
};

typedef struct expression {
    reasoning_task_t task;
    int32_t block; /**< B = ceil(sqrt L) */
    double eps;    /**< of each brick */
} expression_t;

/** Errors: as reasoning_make(); a modulus above EXPRESSION_MOST_MODULUS (ATTN_ERROR_RANGE). */
attn_status_t expression_of(int32_t operators, int32_t modulus, expression_t *task,
                            attn_error_t *error);

/** Whether a query sees the whole expression before its own: what the construction needs. */
int expression_is_seen(const expression_t *task);

/** The machine. Destroy it whatever the caller does next. */
void expression_build(const expression_t *task, machine_t *machine);

/** What came out of an expression. */
typedef struct expression_run {
    int32_t right;  /**< all tokens are those of the chain */
    int32_t answer; /**< the last token before <eos> */
    double off;     /**< of a number of an answer from the 0 or 1 that it stands for, at most */
} expression_run_t;

/** Generate the chain of a sample's question, one token at a time; from a restarted machine. */
attn_status_t expression_solve(const expression_t *task, machine_t *machine,
                               const reasoning_sample_t *sample, expression_run_t *run,
                               attn_error_t *error);

#endif
