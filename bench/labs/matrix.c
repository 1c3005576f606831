/* labs/matrix.c: see matrix.h. */
#include "labs/matrix.h"

#include <math.h>
#include <stdlib.h>

matrix_t matrix_create(int64_t rows, int64_t columns) {
    matrix_t matrix = {.rows = rows, .columns = columns};
    matrix.data = calloc((size_t)rows * (size_t)columns, sizeof *matrix.data);
    return matrix;
}

void matrix_destroy(matrix_t *matrix) {
    free(matrix->data);
    *matrix = (matrix_t){.data = NULL};
}

double matrix_norm(const matrix_t *a) {
    double largest = 0;
    for (int64_t i = 0; i < a->rows * a->columns; i++)
        largest = fmax(largest, fabs((double)a->data[i]));
    return largest;
}

double matrix_distance(const matrix_t *a, const matrix_t *b) {
    double largest = 0;
    for (int64_t i = 0; i < a->rows * a->columns; i++) {
        const double off = fabs((double)a->data[i] - (double)b->data[i]);
        if (!(off <= largest)) largest = off;
        if (isnan(off)) return off;
    }
    return largest;
}
