/*
 * topkeys: of all keys that a query sees the `top` with the largest logits, of equal ones the first; the
 * kernel chooses them (select.h).
 */
#include "pattern.h"

const sparse_kind_t attn_sparse_topkeys = {
    .facts = SPARSE_TOP,
    .ranges = 1,
    .in_place = 1,
    .see = attn_sparse_see_all,
    .by_logits = 1,
    .period = attn_sparse_period,
    .cost = "n m d + n top dv",
};
