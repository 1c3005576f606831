/* language/sample.c: see sample.h. */
#include "labs/language/sample.h"

#include "attn/random.h"
#include "attn/support.h"
#include "labs/nn/decode.h"
#include "number/number.h"

#include <math.h>
#include <stdlib.h>

attn_status_t sample_check(const sample_choice_t *choice, attn_error_t *error) {
    char text[32];
    if (!(choice->temperature >= 0 && choice->temperature <= 100))
        return attn_fail(error, ATTN_ERROR_RANGE, "a temperature of %s, expected 0 to 100",
                         attn_number_text(choice->temperature, text));
    if (!(choice->top_p > 0 && choice->top_p <= 1))
        return attn_fail(error, ATTN_ERROR_RANGE, "top-p of %s, expected above 0 to 1",
                         attn_number_text(choice->top_p, text));
    return ATTN_OK;
}

typedef struct candidate {
    double weight;
    int32_t token;
} candidate_t;

/* The likeliest first; of equal ones the first token, so that the order is one. */
static int compare(const void *left, const void *right) {
    const candidate_t *a = left, *b = right;
    if (a->weight != b->weight) return a->weight < b->weight ? 1 : -1;
    return (a->token > b->token) - (a->token < b->token);
}

int32_t sample_token(const sample_choice_t *choice, uint64_t number, const float *logits,
                     int64_t count) {
    candidate_t candidates[SAMPLE_MOST];
    const int32_t best = nn_largest(logits, count);
    double sum = 0, kept = 0, reached = 0;
    if (choice->temperature <= 0) return best;
    for (int64_t i = 0; i < count; i++) {
        const double above = (double)logits[i] - (double)logits[best];
        candidates[i] = (candidate_t){exp(above / choice->temperature), (int32_t)i};
        sum += candidates[i].weight;
    }
    qsort(candidates, (size_t)count, sizeof *candidates, compare);
    int64_t most = 0;
    while (most < count && kept < choice->top_p * sum) kept += candidates[most++].weight;
    const double at = attn_random_uniform(choice->seed, 0x77726974, number) * kept; /* "writ" */
    for (int64_t i = 0; i < most; i++) {
        reached += candidates[i].weight;
        if (at < reached) return candidates[i].token;
    }
    return candidates[0].token;
}
