#include "pile.h"

#include "algebra/dense.h"
#include "x.h"

static int64_t room_of(int64_t columns) { return 4 * columns + ATTN_BLOCK_WIDTH; }

void attn_pile_take(attn_arena_t *arena, int64_t columns, attn_pile_t *pile) {
    const uint64_t line = (uint64_t)columns * sizeof(double);
    pile->rows = attn_arena_take(arena, columns + room_of(columns), line);
    pile->triangle = attn_arena_take(arena, columns, line);
    pile->along = attn_arena_take(arena, 1, line);
}

static void clear_rows(attn_pile_t *pile) {
    const int64_t c = pile->columns;
    memset(pile->rows, 0, (size_t)((c + pile->room) * c) * sizeof(double));
    pile->used = 0;
}

void attn_pile_start(attn_pile_t *pile, const attn_factoring_t *factoring, int64_t columns) {
    pile->factoring = factoring;
    pile->columns = columns;
    pile->room = room_of(columns);
    memset(pile->triangle, 0, (size_t)(columns * columns) * sizeof(double));
    clear_rows(pile);
}

int attn_pile_reduce(attn_pile_t *pile) {
    const int64_t c = pile->columns, rows = c + pile->used;
    int done = 1;
    memcpy(pile->rows, pile->triangle, (size_t)(c * c) * sizeof(double));
    if (pile->factoring)
        done = pile->factoring->triangle(pile->rows, rows, c, pile->triangle);
    else
        algebra_triangle(pile->rows, rows, c, pile->triangle, pile->along);
    clear_rows(pile);
    return done;
}

double *attn_pile_rows(attn_pile_t *pile, int64_t count) {
    if (pile->used + ATTN_BLOCK_WIDTH > pile->room && !attn_pile_reduce(pile)) return NULL;
    double *rows = pile->rows + (pile->columns + pile->used) * pile->columns;
    pile->used += count;
    return rows;
}
