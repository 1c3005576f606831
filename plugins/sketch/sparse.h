/* sparse.h: a run on a sparse X, whose elements go into the sketch one by one. */
#ifndef ATTN_SKETCH_SPARSE_H
#define ATTN_SKETCH_SPARSE_H

#include "run.h"

/** A worker's scratch. */
void attn_sparse_scratch(const sketch_plan_t *plan, attn_arena_t *arena);

/** What a run's workspace has besides. */
void attn_sparse_space(const sketch_plan_t *plan, attn_arena_t *arena, sketch_space_t *space);

/** Leverage: scores of a head, in scratch that is taken of `arena`; returns the rank of its rows. */
int64_t attn_sparse_scores(const sketch_plan_t *plan, const attn_io_t *io, int64_t head,
                           attn_arena_t *arena, double **scores);

/** The draws of each feature of a head: firsts[feature], and nexts[draw] behind it, -1 after the last. */
void attn_sparse_chain(const sketch_plan_t *plan, const sketch_space_t *space, int64_t head);

/** The rows of `heads` heads, which are their queries and their keys. */
attn_status_t attn_sketch_sparse(const sketch_plan_t *plan, const attn_io_t *io,
                                 const sketch_space_t *space, int64_t first_head, int64_t heads,
                                 attn_error_t *error);

#endif
