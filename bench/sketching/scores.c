/* sketching/scores.c: see scores.h. */
#include "sketching/scores.h"

#include <stdlib.h>
#include <string.h>

/* scores += squares of x_j^T N: lanes are features where a block has many, columns of N where it has one. */
static void add_squares(const sketching_block_t *block, const double *matrix, int64_t columns,
                        double *room, double *scores) {
    double *out = scores + block->first;
    const int64_t width = block->width;
    if (width == 1) {
        memset(room, 0, (size_t)columns * sizeof *room);
        for (int64_t r = 0; r < block->count; r++) {
            const double value = (double)block->values[r * block->stride];
            const double *row = matrix + block->rows[r] * columns;
            for (int64_t c = 0; c < columns; c++) room[c] += value * row[c];
        }
        for (int64_t c = 0; c < columns; c++) out[0] += room[c] * room[c];
        return;
    }
    for (int64_t c = 0; c < columns; c++) {
        double sums[SKETCHING_WIDTH] = {0};
        for (int64_t r = 0; r < block->count; r++) {
            const double factor = matrix[block->rows[r] * columns + c];
            const float *values = block->values + r * block->stride;
            if (factor == 0) continue; /* half of a triangle */
            for (int64_t f = 0; f < width; f++) sums[f] += factor * (double)values[f];
        }
        for (int64_t f = 0; f < width; f++) out[f] += sums[f] * sums[f];
    }
}

int sketching_scores(const sketching_features_t *features, const sketching_basis_t *basis,
                     double *scores) {
    const sketching_features_t *vectors = sketching_basis_features(basis, features);
    const int64_t d = vectors->x->columns;
    double *room = sketching_allocate(basis->rank, 1, sizeof *room);
    if (!room) return 0;
    memset(scores, 0, (size_t)d * sizeof *scores);
    for (int64_t first = 0; first < d;) {
        const sketching_block_t block = sketching_block(vectors, first);
        first += block.width;
        add_squares(&block, basis->matrix, basis->rank, room, scores);
    }
    free(room);
    return 1;
}
