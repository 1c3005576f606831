/*
 * language/sample.h: which token comes next, of a model's logits.
 */
#ifndef ATTN_LANGUAGE_SAMPLE_H
#define ATTN_LANGUAGE_SAMPLE_H

#include "attn/types.h"

enum { SAMPLE_MOST = 512 }; /**< logits at most */

typedef struct sample_choice {
    double temperature; /**< 0: the likeliest token, the first of several */
    double top_p; /**< of the likeliest tokens as many as have this probability together; 1: all */
    uint64_t seed;
} sample_choice_t;

/** Errors name what is out of range (ATTN_ERROR_RANGE). */
attn_status_t sample_check(const sample_choice_t *choice, attn_error_t *error);

/** Token `number` of a text that follows from the seed, of `count` logits. */
int32_t sample_token(const sample_choice_t *choice, uint64_t number, const float *logits,
                     int64_t count);

#endif
