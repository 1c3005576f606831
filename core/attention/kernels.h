/* attention/kernels.h: exact attention for one head, as tables of kernels, one per tier. */
#ifndef ATTN_ATTENTION_KERNELS_H
#define ATTN_ATTENTION_KERNELS_H

#include "attention/pattern.h"
#include "simd/tiers.h"

enum { EXACT_ALL, EXACT_GATHERED, EXACT_KEY_LISTS = ATTN_SMALL ? 1 : 2 };

/* One head's keys and values, ready to be read by all its queries. */
typedef struct exact_head {
    attn_head_t head;
    const attn_pattern_t *pattern; /* NULL: dense */
    attn_key_rows_t key_lists[EXACT_KEY_LISTS];
    int64_t pass; /* of pattern->passes */
} exact_head_t;

/* What kernels are beside those of a tier. */
enum exact_kind {
    EXACT_OWN,     /* a pattern's own: for any number of queries */
    EXACT_BF16,    /* products of bf16 */
    EXACT_INTEGERS /* integer dot products (quantised.h): blocks of keys have scales of their head */
};

typedef struct exact_kernels {
    int32_t kind;                   /* enum exact_kind */
    const char *name, *decode_name; /* what plans say that run these, or decode */
    int64_t panel;                  /* keys a panel */
    /* Bytes of a panel that has its values in it; NULL: it has `dim` floats a key, and no values. */
    uint64_t (*panel_bytes)(const attn_problem_t *problem);
    int64_t rows; /* queries that a task has at most */
    int64_t tile; /* queries that are computed together */
    /* Counts the bytes of attn_queries_t.scratch. */
    void (*scratch)(const attn_problem_t *problem, const attn_pattern_t *pattern,
                    attn_arena_t *arena);
    /* Pack panel number `panel` of a key list's keys, and its values if they need it. */
    void (*pack)(const attn_head_t *head, const attn_key_rows_t *key_list, int64_t panel,
                 void *scratch);
    /* Output and lse of the queries. */
    void (*attend)(const exact_head_t *head, const attn_queries_t *queries);
    /* Scores of the queries at a stage (enum attn_scores_code): rows[r][j], all written. */
    void (*scores)(const exact_head_t *head, const attn_queries_t *queries, int32_t stage,
                   float *const *rows);
    /* For few queries; NULL: they are decoded in f32. */
    const struct packed_kernels *few;
    /* What gradients are computed by (backward.h); NULL: the tier's kernels in f32. */
    const struct backward_kernels *backward;
} exact_kernels_t;

/*
 * Decoding: a few queries, whose keys are read once, straight from where they are. Split-KV: the keys
 * are cut into splits of fixed length, each a task with a partial result; combining them ends the run
 * (Dao, Haziza, Massa, Sizov, "Flash-Decoding for long-context inference", 2023).
 */
enum {
    DECODE_ROWS = 48, /* query rows of a task at most */
    DECODE_SPLIT = 1024,
    DECODE_RUNS = 64
};

/* A task: rows [first, first + count) of a key/value head, or of several that stand side by side, over the runs of a
 * split: DECODE_ROWS rows at most. */
typedef struct decode_task {
    const attn_head_t *head;       /* the first */
    const attn_pattern_t *pattern; /* NULL: all keys */
    int64_t heads, number;         /* how many, and which of them `head` is: 0 for the driver */
    int64_t first, count;
    const attn_key_span_t *runs;
    int64_t run_count;
    int64_t step; /* rows of partial results from a head's first to the next's */
} decode_task_t;

/* Maximum and sum of a row over one split of keys; owned by the plan's workspace. */
typedef struct decode_partial {
    float max, sum;
} decode_partial_t;

typedef struct decode_kernels {
    /* Floats a row of partial output takes. */
    int64_t (*out_stride)(const attn_problem_t *problem);
    /* Counts the bytes of `scratch`. */
    void (*scratch)(const attn_problem_t *problem, attn_arena_t *arena);
    /* The task's rows: partial results of each, and rows of output. */
    void (*attend)(const decode_task_t *task, decode_partial_t *partials, float *out,
                   void *scratch);
    /* Combine the splits' partial results of all rows of a head into out and lse: [splits][rows]. */
    void (*combine)(const attn_head_t *head, int64_t splits, const decode_partial_t *partials,
                    float *outs);
    /* Scores of the task's rows at a stage (enum attn_scores_code), to rows[r][j]: of all keys of the task's spans, or
     * where the stage masks of those that a row sees. Of weights the logits, base 4. */
    void (*score)(const decode_task_t *task, int32_t stage, float *const *rows, void *scratch);
    /* These logits of a query, -inf for the keys that it does not see, become weights in place. */
    void (*weigh)(const attn_head_t *head, attn_place_t at, float *row);
} decode_kernels_t;

/* The same for kernels that pack keys, of dense attention: a split's keys are packed by the task that has it. */
typedef struct packed_kernels {
    /* Rows of a key/value head from which these are faster than decoding in f32, and those of a task at most. */
    int64_t few_rows, rows;
    void (*scratch)(const attn_problem_t *problem, attn_arena_t *arena);
    void (*attend)(const decode_task_t *task, decode_partial_t *partials, float *out,
                   void *scratch);
} packed_kernels_t;

/* The same by integer dot products (quantised.h). */
typedef struct quantised_kernels {
    exact_kernels_t int8, int16;
} quantised_kernels_t;

/* How many tiers this build has that multiply bf16: without them nothing else is there for their kernels. */
#define EXACT_ONE_MORE_(...) +1
enum { EXACT_BF16_TIERS = 0 ATTN_BF16_TIERS(EXACT_ONE_MORE_, ) };

ATTN_KERNEL_TABLES(exact_kernels_t, attn_exact_kernels)
ATTN_BF16_KERNEL_TABLES(exact_kernels_t, attn_bf16_kernels)
ATTN_BF16_KERNEL_TABLES(exact_kernels_t, attn_bf16x3_kernels)
ATTN_TILE_KERNEL_TABLES(exact_kernels_t, attn_bf16x6_kernels)
ATTN_DOT_KERNEL_TABLES(decode_kernels_t, attn_decode_kernels)
ATTN_DOT_KERNEL_TABLES(quantised_kernels_t, attn_quantised_kernels)
ATTN_TILE_KERNEL_TABLES(exact_kernels_t, attn_int8_tile_kernels)

#endif
