/*
 * labs/separation/entries.h: lemmas of arXiv:2310.11685 about single entries, part by part.
 */
#ifndef ATTN_LABS_SEPARATION_ENTRIES_H
#define ATTN_LABS_SEPARATION_ENTRIES_H

#include "labs/separation/separation.h"

/**
 * Parts by where entries stand. Of u and f: (mark, mark), (mark, other), (other, mark), (other, other), of u and then of
 * f. Of c: the mark's row, columns 1, the mark's block, other blocks, d; then the same of all other rows.
 */
enum { SEPARATION_PARTS = 8 };

/** Which entries a lemma is about. */
typedef struct separation_lemma {
    int set;       /**< D0 or D1 */
    int lin;       /**< linear attention, not softmax */
    int is_output; /**< c, not u and f */
} separation_lemma_t;

/**
 * For each part the largest share of what the lemma allows: measured over allowed, allowed over measured where it is a
 * lower bound, the larger of both where it is an equality; NaN where the lemma has no such part. `what` is distinct.
 */
attn_status_t separation_entries(const lab_point_t *point, const separation_t *what,
                                 const separation_lemma_t *lemma, double *parts,
                                 attn_error_t *error);

#endif
