/* cli/lemmas.c: see lemmas.h. */
#include "cli/lemmas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Backends tell by their facts. */
static int has_lemmas(const attn_plan_t *plan) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    int promises = 0;
    for (uint32_t i = 0; attn_plan_fact(plan, i, &fact); i++) {
        if (strcmp(fact.name, "exact") == 0 && fact.number != 0) return 0;
        if (strcmp(fact.name, "guarantee") == 0) promises = 1;
    }
    return promises;
}

double lemmas_longer(double query, double key) {
    return query >= key || isnan(query) ? query : key;
}

const char *lemmas_describe(const attn_plan_t *plan, double longest, char *text, size_t size) {
    static const char nothing[] = "12 r bounds nothing here";
    const attn_problem_t *problem = attn_plan_problem(plan);
    const double scale =
        isnan(problem->scale) ? 1 / sqrt((double)problem->dim) : fabs((double)problem->scale);
    const double r = scale * longest;
    text[0] = 0;
    if (!has_lemmas(plan)) return text;
    if (isnan(r)) {
        snprintf(text, size, "r = max |scale X X^T| is no number: X = [Q; K] has NaN, and %s",
                 nothing);
        return text;
    }
    const int used = snprintf(text, size, "r = max |scale X X^T| is %.4g, ", r);
    text += used, size -= (size_t)used;
    if (r == 0)
        snprintf(text, size, "all logits are 0: whichever features are kept, nothing moves");
    else if (!(r < 0.1))
        snprintf(text, size, "not below 0.1: %s", nothing);
    else if (12 * r >= 1)
        snprintf(text, size,
                 "12 r is 1 or more, and no weight moves by more: it bounds nothing here");
    else
        snprintf(text, size, "12 r %.4g, for a sketch of distortion below 1 (Lemmas 3.1 to 3.4)",
                 12 * r);
    return text - used;
}
