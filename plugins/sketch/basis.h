/*
 * basis.h: X's features in a basis of the space that its rows span, exactly, by QR. Leverage scores and the barrier method
 * know of X that space alone.
 */
#ifndef ATTN_SKETCH_BASIS_H
#define ATTN_SKETCH_BASIS_H

#include "pile.h"
#include "x.h"

/**
 * A matrix N (n x rank) for which the vectors N^T x_j of all features are isotropic: their outer products sum to
 * the identity. Its columns span what the rows of X do; where X has rank n, N = D R^-1 with the triangle R
 * of X^T D, D being 1 / the length of each row.
 *
 * Of a tall X (more rows than features) all of this is of X': orthonormal rows that span what X's do. D X = Q R with
 * Q^T Q = I, so that the rows of R (d x d) span it, and nothing of n x n is needed. In float, which of orthonormal rows takes no
 * more than rounding.
 */
typedef struct attn_basis {
    int64_t rows, rank;
    double *matrix;      /**< n x rank, row-major */
    double inverse_norm; /**< Frobenius norm of R^-1; INFINITY where X has not rank n */
    int is_plain;        /**< found without `factoring` */
    int is_tall;
    attn_x_t x; /**< X', at this place: a basis that is copied has it not */
    attn_features_t isotropic;
    float *values; /**< of X' */
    void *memory;  /**< for who made the room for it */
} attn_basis_t;

/** The features that N goes with: X's, or those of X'. */
static inline const attn_features_t *attn_basis_features(const attn_basis_t *basis,
                                                         const attn_features_t *features) {
    return basis->is_tall ? &basis->isotropic : features;
}

/** What is needed on the way: numbers for k^2, k = min(n, d), and n. */
typedef struct attn_basis_work {
    attn_pile_t pile;
    double *lengths;   /**< n */
    double *ones;      /**< k */
    double *square[3]; /**< k x k */
    double *gram;      /**< k x k */
    double *values;    /**< k */
    double *row;       /**< k */
    double *room;      /**< k x k */
} attn_basis_work_t;

/** Room for the basis of an X of so many rows and columns, and for the way to it. */
void attn_basis_take(attn_arena_t *arena, int64_t rows, int64_t columns, attn_basis_t *basis);
void attn_basis_work_take(attn_arena_t *arena, int64_t rows, int64_t columns,
                          attn_basis_work_t *work);

/**
 * Two solvers find scores within d 2^-54 |R^-1| of each other, relative to them: n 2^-52 |R^-1| for each piece of 4 n
 * features. Up to this norm that is far less than draws can tell; where R^-1 is larger, or X has not rank n, plain C
 * finds it, whichever solver is asked for, and it makes the R of a tall X.
 */
#define ATTN_BASIS_AGREED 1024.0

/**
 * By QR of X^T D, in pieces of a few n features that go into one triangle, never all of X in double. The rank is the number of X D's
 * singular values above 2^-20, whatever the order of rows: as far as numbers in float can tell; of a tall X, above sqrt(n / d) times that.
 * 0 when `factoring` has no memory, or X is too large or small for double; rank 0 for a matrix of zeros.
 */
int attn_basis_exact(const attn_features_t *features, const attn_factoring_t *factoring,
                     const attn_basis_work_t *work, attn_basis_t *basis);

/** Additions and multiplications of that. */
double attn_basis_flops(int64_t rows, int64_t columns);

/** scores[j] = |N^T x_j|^2 for all features; `room` is for `rank` numbers. */
void attn_basis_scores(const attn_features_t *features, const attn_basis_t *basis, double *room,
                       double *scores);

/* Of a tall X, and m numbers of Y beside each of its rows: */

/** [R S; 0 .], d + m columns, of D [X Y] = [Q .] [R S; 0 .]; `lengths` is room for n numbers. */
void attn_basis_triangle(const attn_x_t *x, const float *y, int64_t m, double *lengths,
                         attn_pile_t *pile);

/** The basis of that R itself, d x d. */
int attn_basis_of_triangle(const attn_pile_t *pile, int64_t d, const attn_basis_work_t *work,
                           attn_basis_t *basis);

/** N^T times columns [first, first + count) of R and S: rank x count. */
void attn_basis_project(const attn_pile_t *pile, const attn_basis_t *basis, int64_t first,
                        int64_t count, double *projected);

#endif
