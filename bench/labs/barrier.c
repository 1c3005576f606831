/* labs/barrier.c: see barrier.h. Names are those of the paper of 2012, section 3. */
#include "labs/barrier.h"

#include "algebra/algebra.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One barrier: (b I - A)^-1 for the upper one, (A - b I)^-1 for the lower, all but one potential. */
typedef struct barrier {
    double *inverse; /* dim x dim, at the barrier's next place */
    double drop;     /* by how much moving the barrier alone changes the potential */
} barrier_t;

typedef struct sparsifier {
    const double *vectors;
    int64_t count, dim;
    double *sum; /* A */
    barrier_t upper, lower;
    double *work;   /* dim x dim */
    double *memory; /* what is freed */
} sparsifier_t;

/* inverse = (sign (place I - A))^-1, positive definite while A is within the barriers; its trace. */
static double invert(const sparsifier_t *what, double sign, double place, double *inverse) {
    const int64_t n = what->dim;
    double trace = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            what->work[i * n + j] = sign * ((i == j ? place : 0) - what->sum[i * n + j]);
    if (!algebra_invert(what->work, n, inverse)) return NAN;
    for (int64_t i = 0; i < n; i++) trace += inverse[i * n + i];
    return trace;
}

/* The barrier moves from `place` by `step`. */
static int move(const sparsifier_t *what, double sign, double place, double step,
                barrier_t *barrier) {
    const double before = invert(what, sign, place, barrier->inverse);
    const double after = invert(what, sign, place + step, barrier->inverse);
    barrier->drop = fabs(before - after);
    return isfinite(barrier->drop) && barrier->drop > 0;
}

/* v^T M^2 v / drop and v^T M v, M the inverse. */
static void measure(const sparsifier_t *what, const barrier_t *barrier, const double *vector,
                    double *squared, double *plain) {
    const int64_t n = what->dim;
    *squared = *plain = 0;
    for (int64_t i = 0; i < n; i++) {
        const double along = algebra_dot(barrier->inverse + i * n, vector, n);
        *squared += along * along / barrier->drop;
        *plain += along * vector[i];
    }
}

/*
 * The vector with the most room between what the upper barrier allows, 1/t >= U, and what the lower one
 * asks for, 1/t <= L. The barrier argument is that some vector has room.
 */
static int64_t choose(const sparsifier_t *what, double *weight) {
    double most = -INFINITY;
    int64_t best = 0;
    for (int64_t j = 0; j < what->count; j++) {
        const double *vector = what->vectors + j * what->dim;
        double upper, above, lower, below;
        measure(what, &what->upper, vector, &upper, &above);
        measure(what, &what->lower, vector, &lower, &below);
        const double allows = upper + above, asks = lower - below;
        if (asks - allows <= most) continue;
        most = asks - allows;
        best = j;
        *weight = 2 / (asks + allows);
    }
    return best;
}

static void add(sparsifier_t *what, int64_t index, double weight) {
    const int64_t n = what->dim;
    const double *vector = what->vectors + index * n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) what->sum[i * n + j] += weight * vector[i] * vector[j];
}

static int create(sparsifier_t *what) {
    const size_t square = (size_t)(what->dim * what->dim);
    what->memory = calloc(4 * square, sizeof *what->memory);
    if (!what->memory) return 0;
    what->sum = what->memory;
    what->upper.inverse = what->sum + square;
    what->lower.inverse = what->upper.inverse + square;
    what->work = what->lower.inverse + square;
    return 1;
}

int barrier_weights(const double *vectors, int64_t count, int64_t dim, int64_t steps,
                    double *weights) {
    const double n = (double)dim, root = sqrt((double)steps / n);
    const double up = (root + 1) / (root - 1); /* delta_U; delta_L is 1 */
    double lower = -n * root, upper = n * (root * root + root) / (root - 1);
    sparsifier_t what = {.vectors = vectors, .count = count, .dim = dim};
    if (!create(&what)) return 0;
    memset(weights, 0, (size_t)count * sizeof *weights);
    for (int64_t step = 0; step < steps; step++) {
        double weight = 0;
        if (!move(&what, 1, upper, up, &what.upper) || !move(&what, -1, lower, 1, &what.lower))
            break;
        const int64_t best = choose(&what, &weight);
        add(&what, best, weight);
        weights[best] += weight;
        upper += up;
        lower += 1;
    }
    for (int64_t j = 0; j < count; j++) weights[j] *= 2 / (upper + lower);
    free(what.memory);
    return 1;
}

double barrier_distortion(int64_t dim, int64_t steps) {
    const double q = (double)steps / (double)dim;
    return 2 * sqrt(q) / (q + 1);
}
