/* A case of ONNX Attention: what it brings, what it makes of it, and what it expects. */
#ifndef ATTN_TESTS_ATTENTION_H
#define ATTN_TESTS_ATTENTION_H

#include "npy.h"
#include "support/exact.h"
#include "support/typed.h"

enum {
    ARRAY_Q,
    ARRAY_K,
    ARRAY_V,
    ARRAY_MASK,
    ARRAY_PAST_KEY,
    ARRAY_PAST_VALUE,
    ARRAY_LENGTHS,
    ARRAY_Y, /* from here on what is expected */
    ARRAY_PRESENT_KEY,
    ARRAY_PRESENT_VALUE,
    ARRAY_SCORES,
    ARRAY_COUNT
};

enum {
    IS_CAUSAL,
    KV_NUM_HEADS,
    LEFT_WINDOW_SIZE,
    Q_NUM_HEADS,
    QK_MATMUL_OUTPUT_MODE,
    RIGHT_WINDOW_SIZE,
    SCALE,
    SOFTCAP,
    SOFTMAX_PRECISION,
    ATTRIBUTE_COUNT
};

typedef struct attention_case {
    int is_sparse;
    double attributes[ATTRIBUTE_COUNT]; /**< NaN: not given */
    array_file_t arrays[ARRAY_COUNT];
    array_file_t key, value, mask, out, scores; /**< made of them */
    attn_problem_t problem;
    attn_io_t io;
} attention_case_t;

/** Compares all outputs that are expected and prints how near they are; 1 if one is not. */
int attention_compare(const attention_case_t *c);

#endif
