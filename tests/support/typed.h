/*
 * Tensors of every element type in guarded memory: support/arrays.h for more than f32. All bytes
 * around and between the elements hold a pattern that is a NaN in f32, f16 and bf16.
 */
#ifndef ATTN_TESTS_TYPED_H
#define ATTN_TESTS_TYPED_H

#include "arrays.h"

typedef struct typed {
    attn_tensor_t tensor;  /**< data NULL: absent */
    unsigned char *block;  /**< guard, elements and gaps, guard */
    unsigned char *sealed; /**< copy of the block that must not change; NULL for outputs */
    size_t size;           /**< of the block */
} typed_t;

/** An array whose elements are marked as not yet written. */
typed_t typed_create(attn_dtype_t dtype, layout_t layout, const int64_t shape[4]);
void typed_destroy(typed_t *array);

/** An element as a number, exactly; axes of 1 are the same for all. */
double typed_get(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t row,
                 int64_t column);

/** The elements of a row, as typed_get() has them: a whole row takes less time. */
void typed_get_row(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t row,
                   double *to);

/** Set an element to a number rounded to nearest even; NaN and infinities stay what they are. */
void typed_set(typed_t *array, int64_t batch, int64_t head, int64_t row, int64_t column,
               double value);

/** Normal numbers that depend on seed, stream and logical position, not on the layout. */
void typed_fill(typed_t *array, uint64_t stream, double deviation);

/** Mark every element as not written again. */
void typed_reset(typed_t *array);

/** Declare the array an input: from now on nothing in its block may change. */
void typed_seal(typed_t *array);

/** Fail unless the guards are whole and every element is written (or, if sealed, unchanged). */
void typed_check(const typed_t *array, const char *name);

/** Fail if any byte of the block was written since typed_create() or typed_reset(). */
void typed_check_untouched(const typed_t *array, const char *name);

/** Fail unless both have the same bits in every element. */
void typed_check_same(const typed_t *a, const typed_t *b, const char *name);

/** Half the distance between numbers of a type near x: what rounding to it may change. */
double typed_rounding(attn_dtype_t dtype, double x);

#endif
