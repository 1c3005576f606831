/* matrix.h: the T that a sketch plan draws, in double precision. */
#ifndef ATTN_TESTS_SKETCH_MATRIX_H
#define ATTN_TESTS_SKETCH_MATRIX_H

#include "support/fixture.h"

enum { SKETCH_SEED = 5 };

/** Zeros, or the test fails. */
void *sketch_numbers(int64_t count, size_t size);

/** T of a key/value head, dim x size, by a method's number (enum attn_sketch_method) and SKETCH_SEED. */
double *sketch_matrix(const arrays_t *arrays, int method, int64_t batch, int64_t kv_head,
                      int64_t size);

#endif
