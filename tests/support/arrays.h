/*
 * Tensors in guarded memory. All memory around and between the elements is filled with a NaN of a
 * known pattern: a kernel that writes outside of its elements destroys the pattern, and one that
 * reads outside of them gets NaN into its result.
 */
#ifndef ATTN_TESTS_ARRAYS_H
#define ATTN_TESTS_ARRAYS_H

#include "attn/attn.h"

/** Orders in memory; each starts at another offset from a 16-byte boundary. */
typedef enum layout {
    LAYOUT_BHND,       /**< contiguous */
    LAYOUT_BNHD,       /**< heads interleaved */
    LAYOUT_TRANSPOSED, /**< columns apart, rows side by side */
    LAYOUT_PADDED,     /**< gaps after each row and each head */
    LAYOUT_COUNT
} layout_t;

typedef struct array {
    attn_tensor_t tensor;
    uint32_t *block;  /**< guard, elements and gaps, guard */
    uint32_t *sealed; /**< copy of the block that must not change; NULL for outputs */
    size_t words;     /**< of the block */
} array_t;

/** An array whose elements are marked as not yet written. */
array_t array_create(layout_t layout, int64_t batch, int64_t heads, int64_t rows, int64_t columns);
void array_destroy(array_t *array);

float array_get(const array_t *array, int64_t batch, int64_t head, int64_t row, int64_t column);
void array_set(array_t *array, int64_t batch, int64_t head, int64_t row, int64_t column,
               float value);

/** Normal numbers that depend on seed, stream and logical position, not on the layout. */
void array_fill_normal(array_t *array, uint64_t stream, double deviation);

/** Declare the array an input: from now on nothing in its block may change. */
void array_seal(array_t *array);

/** Fail unless the guards are whole and every element is written (or, if sealed, unchanged). */
void array_check(const array_t *array, const char *name);

/** Fail unless both have the same bits in every element. */
void array_check_same(const array_t *a, const array_t *b, const char *name);

/** All arrays of one problem, with an io that points at them. */
typedef struct arrays {
    attn_problem_t problem;
    array_t query, key, value, out, lse;
    char *workspace; /**< guarded like the arrays; NULL before arrays_solve() */
    attn_report_t report;
    attn_io_t io;
} arrays_t;

/** Inputs are standard normal numbers. With `with_lse`, lse is asked for. */
arrays_t arrays_create(const attn_problem_t *problem, layout_t layout, int with_lse);
void arrays_destroy(arrays_t *arrays);

/** Mark the outputs as not written again. */
void arrays_reset(arrays_t *arrays);

/**
 * Give the io a guarded workspace of exactly the plan's size, filled with NaN; arrays_destroy()
 * frees it, arrays_check() looks at its guards.
 */
void arrays_give_workspace(arrays_t *arrays, const attn_plan_t *plan);

/** array_check() of everything. */
void arrays_check(const arrays_t *arrays);

/** Seal the inputs, run the plan (which must succeed), check everything. */
void arrays_run(arrays_t *arrays, const attn_plan_t *plan);

#endif
