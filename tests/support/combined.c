#include "combined.h"

#include "compare.h"
#include "typed.h"

#include <math.h>

/* The sum of the absolute terms of an output. */
static double magnitude_of(const exact_t *exact, const attn_problem_t *problem,
                           const attn_io_t *inputs, const int64_t at[4], int64_t column) {
    const int64_t kv_head = at[1] / (problem->heads / problem->kv_heads);
    double sum = 0;
    for (int64_t j = 0; j < problem->keys; j++) {
        const double scale = problem->kv_dtype == ATTN_I8
                                 ? typed_get(&inputs->value_scales, at[0], kv_head, j, 0)
                                 : 1;
        if (exact->weight[j] > 0)
            sum += exact->weight[j] * scale *
                   fabs(typed_get(&inputs->value, at[0], kv_head, j, column));
    }
    return sum;
}

double combined_out_bound(const exact_t *exact, const attn_problem_t *problem,
                          const attn_io_t *inputs, const int64_t at[4], int64_t column,
                          double steps) {
    const double moved = (isfinite(exact->lse) ? 2 * exact->lse_bound : 0) + steps * 0x1p-24;
    return exact_out_bound(exact, problem, column) +
           moved * magnitude_of(exact, problem, inputs, at, column);
}

void combined_compare_row(const exact_t *exact, const attn_problem_t *problem,
                          const attn_io_t *inputs, const int64_t at[4], const attn_tensor_t *out,
                          const attn_tensor_t *lse, int64_t row, double steps) {
    for (int64_t c = 0; c < problem->value_dim; c++)
        compare_number(typed_get(out, at[0], at[1], row, c), exact->out[c],
                       combined_out_bound(exact, problem, inputs, at, c, steps), "out",
                       (int64_t[]){at[0], at[1], at[2], c});
    if (lse->data)
        compare_number(typed_get(lse, at[0], at[1], row, 0), exact->lse, 2 * exact->lse_bound,
                       "lse", at);
}
