/* blocks.h: the arrays in which a caller lists blocks of his own, for the pattern `blocks`. */
#ifndef ATTN_SPARSE_BLOCKS_H
#define ATTN_SPARSE_BLOCKS_H

#include "attn/ext/inputs.h"
#include "pattern.h"

enum { SPARSE_MASK, SPARSE_STARTS, SPARSE_COLUMNS, SPARSE_FULL, SPARSE_ARRAYS };

extern const attn_array_info_t attn_sparse_arrays[SPARSE_ARRAYS];

/** Whether the problem names the arrays that the pattern needs, and no others. */
attn_status_t attn_sparse_check_inputs(int listed, uint32_t own_inputs, attn_error_t *error);

/** Extents of array number `index`; `entries`: those of the list. */
void attn_sparse_shape(const sparse_pattern_t *pattern, int64_t entries, uint32_t index,
                       int64_t shape[4]);

/** Whether a run's lists are such that a kernel may read them. */
attn_status_t attn_sparse_check_lists(const sparse_pattern_t *pattern, const attn_io_t *io,
                                      attn_error_t *error);

#endif
