/* sketching/basis.c: see basis.h. */
#include "sketching/basis.h"

#include "algebra/dense.h"

#include <stdlib.h>

static double *numbers(int64_t rows, int64_t columns) {
    return sketching_allocate(rows, columns, sizeof(double));
}

/* ---- the basis --------------------------------------------------------------------------------------- */

/* Room for it, which it keeps. */
static int take(const sketching_x_t *x, sketching_basis_t *basis) {
    attn_arena_t arena = {.base = NULL};
    attn_basis_take(&arena, x->rows, x->columns, basis);
    arena.base = sketching_room(&arena);
    if (!arena.base) return 0;
    arena.used = 0;
    attn_basis_take(&arena, x->rows, x->columns, basis);
    basis->memory = arena.base;
    return 1;
}

/* Room for the way to it, and m columns beside X; NULL when there is none. */
static void *take_work(const sketching_x_t *x, int64_t m, attn_basis_work_t *work,
                       attn_pile_t *pile) {
    attn_arena_t arena = {.base = NULL};
    for (int is_there = 0; is_there < 2; is_there++) {
        arena.used = 0;
        attn_basis_work_take(&arena, x->rows, x->columns, work);
        if (m) attn_pile_take(&arena, x->columns + m, pile);
        if (!is_there && !(arena.base = sketching_room(&arena))) return NULL;
    }
    return arena.base;
}

int sketching_basis_exact(const sketching_features_t *features, const algebra_solver_t *solver,
                          sketching_basis_t *basis) {
    const attn_factoring_t factoring = {solver->triangle, solver->eigen};
    attn_basis_work_t work;
    *basis = (sketching_basis_t){.matrix = NULL};
    void *memory = take(features->x, basis) ? take_work(features->x, 0, &work, NULL) : NULL;
    const int done =
        memory &&
        attn_basis_exact(features, solver == &algebra_plain ? NULL : &factoring, &work, basis);
    free(memory);
    return done;
}

void sketching_basis_destroy(sketching_basis_t *basis) {
    free(basis->memory);
    *basis = (sketching_basis_t){.matrix = NULL};
}

/* ---- Y beside X ---------------------------------------------------------------------------------------- */

/* N^T Y of a wide X. */
static double *multiply(const sketching_basis_t *basis, const float *y, int64_t m) {
    double *images = numbers(basis->rank + 1, m), *row = images + basis->rank * m;
    for (int64_t i = 0; i < basis->rows && images; i++) {
        for (int64_t t = 0; t < m; t++) row[t] = (double)y[i * m + t];
        for (int64_t c = 0; c < basis->rank; c++)
            algebra_add_multiple(images + c * m, basis->matrix[i * basis->rank + c], row, m);
    }
    return images;
}

/* N^T Q^T D Y of a tall one. */
static double *project(const sketching_x_t *x, const float *y, int64_t m,
                       sketching_basis_t *basis) {
    const int64_t d = x->columns;
    attn_basis_work_t work;
    attn_pile_t pile;
    double *images = NULL;
    void *memory = take(x, basis) ? take_work(x, m, &work, &pile) : NULL;
    if (memory) {
        attn_basis_triangle(x, y, m, work.lengths, &pile);
        if (attn_basis_of_triangle(&pile, d, &work, basis)) images = numbers(basis->rank, m);
    }
    if (images) attn_basis_project(&pile, basis, d, m, images);
    free(memory);
    return images;
}

double *sketching_images(const sketching_features_t *features, const algebra_solver_t *solver,
                         const float *y, int64_t m, int64_t *rank) {
    const sketching_x_t *x = features->x;
    sketching_basis_t basis = {.matrix = NULL};
    double *images = NULL;
    if (x->rows > x->columns)
        images = project(x, y, m, &basis);
    else if (sketching_basis_exact(features, solver, &basis))
        images = multiply(&basis, y, m);
    *rank = basis.rank;
    sketching_basis_destroy(&basis);
    return images;
}
