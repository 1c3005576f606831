/*
 * sketching/x.h: X (n rows, d features), which symmetric attention exp(X X^T) is of, as the backend has it
 * (sketch/x.h), and what is one.
 */
#ifndef ATTN_SKETCHING_X_H
#define ATTN_SKETCHING_X_H

#include "attn/support.h"
#include "sketch/x.h"

typedef attn_x_t sketching_x_t;

/** More features than this have no number in 31 bits. */
#define SKETCHING_MOST_COLUMNS INT64_C(2147483648)

/** Zeros, and one element more, so that NULL is want of memory alone. */
void *sketching_allocate(int64_t rows, int64_t columns, size_t size);

/** Room for what an arena has counted, or NULL. */
void *sketching_room(const attn_arena_t *arena);

/** ATTN_ERROR_MEMORY, and X's sizes. */
attn_status_t sketching_no_memory(const sketching_x_t *x, attn_error_t *error);

/** Elements that are stored: n d, or those of CSR. */
int64_t sketching_stored(const sketching_x_t *x);

/**
 * Whether X is one: sizes of 1 or more, starts[0] = 0, starts that do not fall and end at `stored`, the
 * length of `indices` and `data`, indices that ascend and are below d, finite elements. Nothing is read
 * through an index before it has been checked.
 */
attn_status_t sketching_check(const sketching_x_t *x, int64_t stored, attn_error_t *error);

/** The same of CSR whose columns are in `places`, of 64 bits, and not in x->indices. */
attn_status_t sketching_check_places(const sketching_x_t *x, const int64_t *places, int64_t stored,
                                     attn_error_t *error);

/** r: the largest entry of |X X^T|, which as of any semidefinite matrix is on its diagonal. */
double sketching_largest(const sketching_x_t *x);

/** X by its features. Of CSR it has a copy, column by column; memory for elements and d. */
typedef attn_features_t sketching_features_t;

/** 0 when there is no memory. */
int sketching_features_create(const sketching_x_t *x, sketching_features_t *features);

void sketching_features_destroy(sketching_features_t *features);

#endif
