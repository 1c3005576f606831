/*
 * reasoning/model.h: a trained model as a file that is small enough to be given away, and at work.
 *
 * The file has the lines of the study that it was taken from (description.h, "attn model 1"), with some more: step; tests
 * and answers, or of text bits and weights; and command. Then the weights in the order of nn_layout_t, as f16 or in the
 * format that the line `weights` names (weights.h); and FNV-1a of all bytes before, 8 bytes little-endian.
 */
#ifndef ATTN_REASONING_MODEL_H
#define ATTN_REASONING_MODEL_H

#include "labs/reasoning/description.h"
#include "labs/reasoning/weights.h"

/** How a model came about. */
typedef struct model_record {
    int64_t step; /**< steps that it was trained */
    int64_t tests,
        answers; /**< test questions, and those answered right by greedy decoding, with rounded weights */
    double
        bits; /**< of text, in place of both: bits a byte of the held-out text, with rounded weights */
    const char *command; /**< that trains it: one line */
} model_record_t;

typedef struct model {
    description_t description;
    model_record_t record;
    const attn_context_t *context;
    nn_net_t net;
    float *weights;
} model_t;

/** All weights of a study become those that its model's file can have. */
void model_round(study_t *study);

/**
 * The file of a study with rounded weights, whose checkpoint begins with `lines` of `lines_size` bytes: as
 * study_save(), returns the bytes that it takes and writes them where there is room. 0 where its lines are too
 * long for a file.
 */
size_t model_save(const study_t *study, const char *lines, size_t lines_size,
                  const model_record_t *record, void *buffer, size_t size);

/**
 * The model of a file, which stays where it is. Errors: bytes that are none, of another version, truncated or damaged,
 * with a header that is none (ATTN_ERROR_ARGUMENT); a task or a shape out of range; the plan's.
 */
attn_status_t model_load(const attn_context_t *context, const void *bytes, size_t size,
                         model_t *model, attn_error_t *error);

/** Zeroed models are fine. */
void model_destroy(model_t *model);

/**
 * What it says after a question, token by token through the streams of its attention: `said` is the question and
 * that, with <eos> unless there is no more room. `state` may be NULL; else state[i] becomes the bytes that the streams
 * keep behind token i, for all tokens but the last, which none has read.
 */
attn_status_t model_solve(const model_t *model, const reasoning_sample_t *question,
                          reasoning_sample_t *said, uint64_t *state, attn_error_t *error);

/**
 * Queries, keys and values of the first `count` tokens, at most the net's length, by the parallel pass: layers x heads x count x dim each.
 */
attn_status_t model_heads(const model_t *model, const int32_t *tokens, int64_t count,
                          float *const parts[3], attn_error_t *error);

#endif
