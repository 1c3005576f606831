/*
 * attention/pattern.h: which keys a query sees of those that the problem's rules let it see: key spans, and keys that stand
 * side by side in memory. Plain data, the same for plans and for kernels of any tier.
 */
#ifndef ATTN_ATTENTION_PATTERN_H
#define ATTN_ATTENTION_PATTERN_H

#include "attention/task.h"

/* Keys that stand side by side in memory: all of a head's, or those that a pattern gathers. */
typedef struct attn_key_rows {
    float *panels;       /* packed by tile_pack() */
    float *copy;         /* where values are copied to; NULL when they are read in place */
    const float *values; /* rows of unit stride; NULL when only weights are wanted */
    int64_t values_stride;
    int64_t count;
    const int64_t *map; /* their positions; NULL: 0, 1, 2, ... */
    uint8_t *finite;    /* of each panel whether all its values are; NULL: nobody looked */
    int64_t
        first_panel; /* where panels have values in them: the number of the first that there is */
} attn_key_rows_t;

/* A key span: keys first <= j < last, of a head or of a list, that are visible to queries together, as far as each
 * query's own range number `range` goes. */
typedef struct attn_key_span {
    int64_t first, last;
    int32_t range;
    int32_t full;   /* the mask has no say */
    int64_t cursor; /* the pattern's own: where it goes on */
} attn_key_span_t;

/*
 * Which keys a query sees of those that the problem's rules let it see. What it sees is cut into
 * ranges, the same number for each query: the first `in_place` of them are ranges of the head's keys,
 * the others ranges of a list that is gathered once a head, so that keys from all over are read side
 * by side. Neighbouring queries go over key spans, which are the ranges themselves, or, where queries see
 * blocks of keys, those: all of a block of queries see the same. Plain data, owned by the plan.
 */
typedef struct attn_pattern attn_pattern_t;
struct attn_pattern {
    int32_t ranges, in_place; /* ranges: at most ATTN_MOST_RANGES */
    int64_t gathered;         /* keys in the list */
    const int64_t *map;       /* their positions */
    /* All ranges of a query in a sequence of which `keys` keys count: no key twice, and none that
     * attn_key_range() hides. */
    void (*see)(const attn_pattern_t *pattern, const attn_problem_t *problem, int64_t keys,
                int64_t query, attn_range_t *ranges);
    int64_t block;       /* queries in a block; 0: there are no blocks */
    int32_t by_position; /* blocks are counted by the queries' positions, not by their numbers */
    int32_t by_head;     /* heads that share keys may see different ones */
    /* The span behind `run`, in the order of keys, of queries in one block; 0 behind the last,
     * which `run` stays. It begins with range -1. NULL: the spans are the ranges. */
    int (*next)(const attn_pattern_t *pattern, const attn_head_t *head,
                const attn_queries_t *queries, attn_key_span_t *run);
    /* For kernels of the backend's own (attn_exact_plan()), which may go over a head's keys several times: of each pass
     * the list of `gathered` positions, of one head at a time. NULL: there is one pass, whose list is `map`. */
    const int64_t *(*list)(const attn_pattern_t *pattern, const attn_head_t *head, int64_t pass);
    int64_t passes;
};
enum { ATTN_MOST_RANGES = 4 };

#endif
