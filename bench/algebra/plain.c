/* algebra/plain.c: the fallback of solver.h, with memory of its own. */
#include "algebra/dense.h"
#include "algebra/solver.h"

#include <stdlib.h>

static int triangle(double *a, int64_t rows, int64_t columns, double *r) {
    double *room = malloc((size_t)columns * sizeof *room);
    if (room) algebra_triangle(a, rows, columns, r, room);
    free(room);
    return room != NULL;
}

static int eigen(double *a, int64_t n, double *values) {
    double *room = calloc((size_t)n * (size_t)n, sizeof *room);
    const int done = room && algebra_eigen(a, n, values, room);
    free(room);
    return done;
}

const algebra_solver_t algebra_plain = {
    .name = "plain", .library = "this program", .triangle = triangle, .eigen = eigen};
