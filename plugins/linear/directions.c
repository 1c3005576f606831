#include "attn/random.h"
#include "plan.h"

#include <math.h>
#include <string.h>

/* What is left of the row beside those before it in its block, `dim` rows each (Gram and Schmidt). */
static void make_orthogonal(double *rows, int64_t dim, int64_t place) {
    double *row = rows + place * dim;
    for (int64_t g = 0; g < place; g++) {
        const double *other = rows + g * dim;
        double dot = 0, square = 0;
        for (int64_t k = 0; k < dim; k++) {
            dot += row[k] * other[k];
            square += other[k] * other[k];
        }
        for (int64_t k = 0; k < dim; k++) row[k] -= dot / square * other[k];
    }
}

static double length_of(const double *row, int64_t dim) {
    double square = 0;
    for (int64_t k = 0; k < dim; k++) square += row[k] * row[k];
    return sqrt(square);
}

void attn_linear_directions(float *directions, int64_t stride, double *block, int64_t dim,
                            int64_t features, uint64_t seed) {
    memset(directions, 0, (size_t)(dim * stride) * sizeof *directions);
    for (int64_t f = 0; f < features; f++) {
        double *row = block + f % dim * dim;
        for (int64_t k = 0; k < dim; k++)
            row[k] = attn_random_normal(seed, 0, (uint64_t)(f * dim + k));
        /* A normal vector's length does not depend on its direction: it keeps the one. */
        const double length = length_of(row, dim);
        make_orthogonal(block, dim, f % dim);
        const double factor = length / length_of(row, dim);
        for (int64_t k = 0; k < dim; k++) {
            row[k] *= factor;
            directions[k * stride + f] = (float)row[k];
        }
    }
}
