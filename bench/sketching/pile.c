/* sketching/pile.c: see pile.h. */
#include "sketching/pile.h"

#include "sketching/x.h"

#include <stdlib.h>
#include <string.h>

int sketching_pile_create(const algebra_solver_t *solver, int64_t columns, sketching_pile_t *pile) {
    const int64_t room = 4 * columns + SKETCHING_WIDTH;
    *pile = (sketching_pile_t){.solver = solver, .columns = columns, .room = room};
    pile->rows = sketching_allocate(columns + room, columns, sizeof *pile->rows);
    pile->triangle = sketching_allocate(columns, columns, sizeof *pile->triangle);
    return pile->rows && pile->triangle;
}

int sketching_pile_reduce(sketching_pile_t *pile) {
    const int64_t c = pile->columns;
    memcpy(pile->rows, pile->triangle, (size_t)(c * c) * sizeof(double));
    const int done = pile->solver->triangle(pile->rows, c + pile->used, c, pile->triangle);
    memset(pile->rows, 0, (size_t)((c + pile->room) * c) * sizeof(double));
    pile->used = 0;
    return done;
}

double *sketching_pile_rows(sketching_pile_t *pile, int64_t count) {
    if (pile->used + SKETCHING_WIDTH > pile->room && !sketching_pile_reduce(pile)) return NULL;
    double *rows = pile->rows + (pile->columns + pile->used) * pile->columns;
    pile->used += count;
    return rows;
}

void sketching_pile_destroy(sketching_pile_t *pile) {
    free(pile->rows);
    free(pile->triangle);
    *pile = (sketching_pile_t){.rows = NULL};
}
