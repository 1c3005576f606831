#include "listed.h"

#include <string.h>

/* ---- elements by features ------------------------------------------------------------------------ */

/* Counts, running sums, and each element to its place: rows come in order, and an end is where the next begins. */
static void turn(const attn_csr_t *x, int64_t first, int64_t rows, attn_listed_scratch_t *s) {
    int64_t *next = s->starts;
    memset(next, 0, (size_t)(x->columns + 2) * sizeof *next);
    for (int64_t at = x->starts[first]; at < x->starts[first + rows]; at++)
        next[x->indices[at] + 2]++;
    for (int64_t j = 2; j < x->columns + 2; j++) next[j] += next[j - 1];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t at = x->starts[first + i]; at < x->starts[first + i + 1]; at++) {
            const int64_t to = next[x->indices[at] + 1]++;
            s->rows[to] = (int32_t)i;
            s->values[to] = x->data[at];
        }
}

/* ---- Gram matrices ------------------------------------------------------------------------------- */

/* X X^T: one row at a time is written out. */
static void gram_of_rows(const attn_csr_t *x, int64_t first, int64_t rows,
                         attn_listed_scratch_t *s) {
    const int64_t *starts = x->starts + first;
    memset(s->row, 0, (size_t)x->columns * sizeof *s->row);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t at = starts[i]; at < starts[i + 1]; at++)
            s->row[x->indices[at]] = (double)x->data[at];
        for (int64_t k = 0; k <= i; k++) {
            double sum = 0;
            for (int64_t at = starts[k]; at < starts[k + 1]; at++)
                sum += (double)x->data[at] * s->row[x->indices[at]];
            s->dense.gram[i * rows + k] = s->dense.gram[k * rows + i] = sum;
        }
        for (int64_t at = starts[i]; at < starts[i + 1]; at++) s->row[x->indices[at]] = 0;
    }
}

/* The upper triangle of X^T X, rows being of length 1 (scale_to_one() of leverage.c): features ascend in a row. */
static void gram_of_features(const attn_csr_t *x, int64_t first, int64_t rows, double *gram) {
    memset(gram, 0, (size_t)(x->columns * x->columns) * sizeof *gram);
    for (int64_t i = first; i < first + rows; i++) {
        double square = 0;
        for (int64_t a = x->starts[i]; a < x->starts[i + 1]; a++)
            square += (double)x->data[a] * (double)x->data[a];
        for (int64_t a = x->starts[i]; a < x->starts[i + 1] && square > 0; a++) {
            const double value = (double)x->data[a] / square;
            for (int64_t b = a; b < x->starts[i + 1]; b++)
                gram[x->indices[a] * x->columns + x->indices[b]] += value * (double)x->data[b];
        }
    }
}

/* ---- scores -------------------------------------------------------------------------------------- */

/*
 * basis = L^-1 of the pivots' Cholesky factor, L_ik = factor[k][pivots[i]], column p at basis[p rank]: each by
 * substitution, with L's columns in one piece.
 */
static void invert(int64_t rows, int64_t rank, attn_leverage_scratch_t *s) {
    double *lower = s->gram; /* which the factorisation has used up */
    for (int64_t k = 0; k < rank; k++)
        for (int64_t i = k; i < rank; i++) lower[k * rank + i] = s->factor[k * rows + s->pivots[i]];
    for (int64_t p = 0; p < rank; p++) {
        double *column = s->basis + p * rank;
        memset(column, 0, (size_t)rank * sizeof *column);
        column[p] = 1;
        for (int64_t k = p; k < rank; k++) {
            const double *below = lower + k * rank;
            column[k] /= below[k];
            for (int64_t i = k + 1; i < rank; i++) column[i] -= column[k] * below[i];
        }
    }
}

/* |L^-1 Z e_j|^2, Z being the rows that are pivots: one element of column j after the other. */
static double score_of(int64_t j, int64_t rank, const attn_listed_scratch_t *s) {
    double score = 0;
    if (s->starts[j] == s->starts[j + 1]) return 0; /* most of many features */
    memset(s->sums, 0, (size_t)rank * sizeof *s->sums);
    for (int64_t at = s->starts[j]; at < s->starts[j + 1]; at++) {
        const int64_t place = s->places[s->rows[at]];
        if (place < 0) continue; /* depends on those that are */
        const double *column = s->dense.basis + place * rank, value = (double)s->values[at];
        for (int64_t i = place; i < rank; i++) s->sums[i] += value * column[i];
    }
    for (int64_t i = 0; i < rank; i++) score += s->sums[i] * s->sums[i];
    return score;
}

int64_t attn_listed_scores(const attn_csr_t *x, int64_t first, int64_t rows,
                           attn_listed_scratch_t *s) {
    const int64_t dim = x->columns;
    const double tolerance = attn_leverage_tolerance(rows + dim);
    if (rows >= dim) {
        gram_of_features(x, first, rows, s->dense.gram);
        return attn_leverage_of_gram(dim, tolerance, &s->dense);
    }
    gram_of_rows(x, first, rows, s);
    const int64_t rank = attn_leverage_cholesky(s->dense.gram, rows, tolerance, s->dense.factor,
                                                s->dense.diagonal, s->dense.pivots);
    invert(rows, rank, &s->dense);
    for (int64_t i = 0; i < rows; i++) s->places[i] = -1;
    for (int64_t p = 0; p < rank; p++) s->places[s->dense.pivots[p]] = p;
    turn(x, first, rows, s);
    for (int64_t j = 0; j < dim; j++) s->dense.scores[j] = score_of(j, rank, s);
    return rank;
}

double attn_listed_flops(int64_t rows, int64_t dim, double elements) {
    const double n = (double)rows, d = (double)dim;
    if (n < d) return n * elements + 2.0 / 3 * n * n * n + n * elements;
    return elements * elements / n + d * d * d;
}

/* ---- memory -------------------------------------------------------------------------------------- */

void attn_listed_scratch_take(attn_arena_t *arena, int64_t rows, int64_t dim, int64_t elements,
                              attn_listed_scratch_t *scratch) {
    const int64_t smaller = attn_min(rows, dim);
    const uint64_t line = (uint64_t)smaller * sizeof(double);
    attn_leverage_scratch_t *dense = &scratch->dense;
    dense->scores = attn_arena_take(arena, dim, sizeof(double));
    dense->diagonal = attn_arena_take(arena, 1, line);
    dense->pivots = attn_arena_take(arena, smaller, sizeof *dense->pivots);
    dense->gram = attn_arena_take(arena, smaller, line);
    dense->factor = attn_arena_take(arena, smaller, line);
    dense->basis = attn_arena_take(arena, smaller, line);
    dense->rows = NULL;
    scratch->row = attn_arena_take(arena, dim, sizeof(double));
    scratch->sums = attn_arena_take(arena, 1, line);
    scratch->places = attn_arena_take(arena, rows, sizeof *scratch->places);
    scratch->starts = attn_arena_take(arena, dim + 2, sizeof *scratch->starts);
    scratch->rows = attn_arena_take(arena, elements, sizeof *scratch->rows);
    scratch->values = attn_arena_take(arena, elements, sizeof *scratch->values);
}
