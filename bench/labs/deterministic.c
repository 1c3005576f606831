/* labs/deterministic.c: symmetric attention's deterministic sketch; see symmetric.h. */
#include "algebra/algebra.h"
#include "attn/support.h"
#include "labs/barrier.h"
#include "labs/symmetric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In double precision: X X^T = L L^T, the columns of L^-1 X row by row, and their weights. */
typedef struct isotropic {
    double *factor, *vectors, *weights; /* factor is what is freed */
    float *sketch;                      /* n x d at most */
} isotropic_t;

static int create(const symmetric_t *symmetric, isotropic_t *room) {
    const size_t n = (size_t)symmetric->rows, d = (size_t)symmetric->dim;
    room->factor = malloc((n * n + d * n + d) * sizeof *room->factor);
    room->sketch = malloc(n * d * sizeof *room->sketch);
    if (!room->factor || !room->sketch) return 0;
    room->vectors = room->factor + n * n;
    room->weights = room->vectors + d * n;
    return 1;
}

static void destroy(isotropic_t *room) {
    free(room->factor);
    free(room->sketch);
}

/* 0 where X X^T has no full rank. */
static int fill_vectors(const symmetric_t *symmetric, isotropic_t *room) {
    const int64_t n = symmetric->rows, d = symmetric->dim;
    memcpy(room->factor, symmetric->logits, (size_t)(n * n) * sizeof(double));
    if (!algebra_cholesky(room->factor, n)) return 0;
    for (int64_t j = 0; j < d; j++) {
        double *vector = room->vectors + j * n;
        for (int64_t i = 0; i < n; i++) {
            const double *row = room->factor + i * n;
            vector[i] = ((double)symmetric->x[i * d + j] - algebra_dot(row, vector, i)) / row[i];
        }
    }
    return 1;
}

/* X diag(sqrt w) on the features with weight; how many they are. */
static int64_t fill_sketch(const symmetric_t *symmetric, isotropic_t *room) {
    const int64_t n = symmetric->rows, d = symmetric->dim;
    int64_t kept = 0, at = 0;
    for (int64_t j = 0; j < d; j++) kept += room->weights[j] > 0;
    for (int64_t j = 0; j < d; j++) {
        if (!(room->weights[j] > 0)) continue;
        for (int64_t i = 0; i < n; i++)
            room->sketch[i * kept + at] =
                (float)((double)symmetric->x[i * d + j] * sqrt(room->weights[j]));
        at++;
    }
    return kept;
}

attn_status_t symmetric_deterministic(const attn_context_t *context, symmetric_t *symmetric,
                                      int64_t size, sketch_result_t *result, attn_error_t *error) {
    const int64_t n = symmetric->rows;
    isotropic_t room = {.factor = NULL};
    attn_status_t status = ATTN_OK;
    if (size <= n)
        status = attn_fail(error, ATTN_ERROR_RANGE,
                           "a deterministic sketch has more features (%lld) than tokens (%lld)",
                           (long long)size, (long long)n);
    else if (!create(symmetric, &room))
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a deterministic sketch");
    else if (!fill_vectors(symmetric, &room))
        status = attn_fail(error, ATTN_ERROR_RANGE, "X X^T has no full rank");
    else if (!barrier_weights(room.vectors, symmetric->dim, n, size, room.weights))
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a deterministic sketch");
    else
        status = symmetric_compare(context, symmetric, room.sketch, fill_sketch(symmetric, &room),
                                   result, error);
    destroy(&room);
    return status;
}
