/*
 * pattern.h: which keys a query sees, chosen by the parameter `pattern`.
 *
 * A pattern is a file of its own, and a line in SPARSE_PATTERNS. It says in closed form which ranges of
 * keys a query sees, or which blocks of keys a block of queries sees, which layout.c makes key spans of. Positions and blocks are counted from 0; p is a query's
 * position among the keys, B the parameter block, k local, c global.
 */
#ifndef ATTN_SPARSE_PATTERN_H
#define ATTN_SPARSE_PATTERN_H

#include "attention/pattern.h"
#include "stream/cached.h"

/* X(name, help) */
#define SPARSE_PATTERNS(X)                                                                         \
    X(band, "the last k*B keys and the last c of every block")                                     \
    X(fixed, "the last k blocks and the last c of every block")                                    \
    X(strided, "the last k blocks and every stride-th")                                            \
    X(window, "the nearest k*B keys")                                                              \
    X(longformer, "those and the first c, which see all")                                          \
    X(bigbird, "the nearest k blocks, the first c, random ones")                                   \
    X(dilated, "every stride-th of the nearest k*B*stride keys")                                   \
    X(topk, "the nearest k blocks, the top others by the mean of their keys")                      \
    X(topkeys, "the top keys by their logits")                                                     \
    X(lsh, "those that share a bucket in a round")                                                 \
    X(blocks, "those of the arrays")

typedef struct sparse_pattern sparse_pattern_t;

/*
 * In which buckets the queries of a head and its keys are, round by round: a query sees the keys with
 * which it shares one, in the first round in which it does. A round's lists go bucket by bucket, in
 * each by position.
 */
typedef struct sparse_buckets {
    int64_t rounds, count, queries, keys;
    const float *query_codes, *key_codes;   /* [rounds][queries], [rounds][keys]: which bucket */
    const int64_t *query_order, *key_order; /* of the same sizes: which query, which key */
    const int64_t *starts;                  /* [rounds][count + 2]: where a bucket's keys begin */
    float *kept; /* [queries][value_dim + 2]: what rounds leave each other; NULL: there is one */
    float own;   /* added to the logit of the key at the query's own position */
} sparse_buckets_t;
enum { SPARSE_MOST_ROUNDS = 8 };

/* Parameters that a pattern goes by. */
enum {
    SPARSE_BLOCK = 1,
    SPARSE_LOCAL = 2,
    SPARSE_GLOBAL = 4,
    SPARSE_STRIDE = 8,
    SPARSE_RANDOM = 16,
    SPARSE_TOP = 32,
    SPARSE_BUCKETS = 64,
    SPARSE_ROUNDS = 128
};

/* One pattern. `ranges` and `see` are attn_pattern_t's. */
typedef struct sparse_kind {
    uint32_t facts; /* which of those a plan tells */
    int32_t ranges, in_place;
    int32_t by_logits; /* of what is seen the `top` largest logits are kept */
    void (*see)(const attn_pattern_t *pattern, const attn_problem_t *problem, int64_t keys,
                int64_t query, attn_range_t *ranges);
    /* How many keys are gathered, and the position of number g; NULL: none. */
    int64_t (*gathered)(const sparse_pattern_t *pattern);
    int64_t (*key)(const sparse_pattern_t *pattern, int64_t g);
    /* Instead of ranges: of the blocks of keys that block `row` of positions sees the first from `column` on;
     * pattern->columns or more: there is none. */
    int64_t (*from)(const sparse_pattern_t *pattern, int64_t row, int64_t column);
    /* Instead of both: the spans themselves. Blocks of queries are counted by their numbers, or, where the
     * pattern chooses, by their positions. */
    int (*next)(const attn_pattern_t *pattern, const attn_head_t *head,
                const attn_queries_t *queries, attn_key_span_t *run);
    /* What a run's arrays decide: chosen before it for `heads` query heads from `first` on, counted over
     * all batches, into pattern->room of its workspace. Without arrays next() has the first blocks. */
    void (*choose)(const sparse_pattern_t *pattern, const attn_host_t *host,
                   const attn_problem_t *problem, const attn_io_t *io, int64_t first,
                   int64_t heads);
    void (*room)(const sparse_pattern_t *pattern, const attn_host_t *host,
                 const attn_problem_t *problem, attn_arena_t *arena);
    /* How many keys before its own a query sees at most, but for the first c of all where it sees these; NULL: all. */
    int64_t (*reach)(const sparse_pattern_t *pattern);
    int32_t sees_first;
    /* After how many keys it repeats itself; NULL: it does not, but depends on where the first key is. */
    int64_t (*period)(const sparse_pattern_t *pattern);
    /* attn_sparse_pairs().pairs in closed form; NULL: they are counted. */
    double (*pairs)(const sparse_pattern_t *pattern, const attn_problem_t *problem);
    const char *cost; /* asymptotic form */
    /* What a plan has drawn for all its runs, in the plan's memory. */
    void (*draw)(sparse_pattern_t *pattern, int64_t dim, attn_arena_t *arena);
    /* Instead of ranges, blocks and runs: buckets, which choose() finds, and a list of keys for each round:
     * attn_pattern_t's. One query of a head has runs. */
    sparse_buckets_t (*buckets)(const sparse_pattern_t *pattern, const attn_head_t *head,
                                int64_t query_head);
    const int64_t *(*list)(const attn_pattern_t *pattern, const attn_head_t *head, int64_t round);
} sparse_kind_t;

#define SPARSE_DECLARE_(name, help) extern const sparse_kind_t attn_sparse_##name;
SPARSE_PATTERNS(SPARSE_DECLARE_)
#undef SPARSE_DECLARE_

struct sparse_pattern {
    attn_pattern_t base; /* what the driver sees of it */
    const sparse_kind_t *kind;
    int64_t keys, queries;
    int64_t block, local, global, stride, random, top;
    uint64_t seed;
    int is_causal;
    int64_t first_row, rows, columns; /* blocks: of positions from first_row on, and of keys */
    const int64_t *drawn;             /* bigbird: [rows][random], the row's blocks of keys */
    uint64_t room;                    /* where in a workspace choices are */
    int64_t buckets, rounds;          /* lsh: buckets of a round, 1 or even */
    int shared;                       /* lsh: keys are the queries, whose own logits are lowered */
    const float *rotations;           /* lsh: [rounds][dim][columns in whole vectors] */
    attn_kept_t kept;                 /* lsh: the buckets of a stream's keys */
};

/* A list of blocks for each row of blocks, as the driver walks over it; strides in elements. */
typedef struct sparse_list {
    const int64_t *starts, *listed;
    const uint8_t *full; /* of each listed block, whether the mask has no say in it; NULL: it has */
    int64_t starts_stride, listed_stride, full_stride;
    int64_t row;
} sparse_list_t;

/** attn_pattern_t.next over such a list: neighbours of one kind are one run. */
int attn_sparse_next_listed(const sparse_list_t *list, int64_t block, attn_key_span_t *run);

/** attn_pattern_t.next and .see of a pattern of blocks. */
int attn_sparse_next(const attn_pattern_t *pattern, const attn_head_t *head,
                     const attn_queries_t *queries, attn_key_span_t *run);
void attn_sparse_see_all(const attn_pattern_t *pattern, const attn_problem_t *problem, int64_t keys,
                         int64_t query, attn_range_t *ranges);

/** Set first_row, rows and columns of a pattern of blocks. */
void attn_sparse_extent(sparse_pattern_t *pattern, const attn_problem_t *problem);

/** sparse_kind_t.from of the nearest k blocks alone. */
int64_t attn_sparse_near(const sparse_pattern_t *pattern, int64_t row, int64_t column);

/** The last c keys of every block: how many there are below position `end`, and where number g is. */
int64_t attn_sparse_globals(const sparse_pattern_t *pattern, int64_t end);
int64_t attn_sparse_global_key(const sparse_pattern_t *pattern, int64_t g);

/** Ranges of a query that sees the keys of `band` and these of before and behind, among `visible`. */
void attn_sparse_see_globals(const sparse_pattern_t *pattern, attn_range_t visible,
                             attn_range_t band, attn_range_t *ranges);

/** Pairs that all queries of all heads see, when all keys count, and those that are computed: of the
 * spans that a block of queries has; and how many keys and values of a head are read for them: at most, of more
 * keys than are marked, or where a run chooses. */
typedef struct sparse_count {
    double pairs, computed, keys, values;
} sparse_count_t;
sparse_count_t attn_sparse_pairs(const sparse_pattern_t *pattern, const attn_problem_t *problem);

/** A period of B keys; a reach of k B keys, the query's own among them. */
int64_t attn_sparse_period(const sparse_pattern_t *pattern);
int64_t attn_sparse_width(const sparse_pattern_t *pattern);

/** A query's position, and the keys that the problem's rules let it see. */
typedef struct sparse_place {
    int64_t position;
    attn_range_t visible;
} sparse_place_t;
sparse_place_t attn_sparse_place(const attn_problem_t *problem, int64_t keys, int64_t query);

/** Of those the keys [first, last). */
attn_range_t attn_sparse_clamp(int64_t first, int64_t last, attn_range_t visible);

/** 2^floor(log2 sqrt(keys)), the block size of the paper's experiments. */
static inline int64_t sparse_root(int64_t keys) {
    int64_t block = 1;
    while (block * 2 <= keys / (block * 2)) block *= 2;
    return block;
}

/* Division that rounds down: a position may lie before the first key. */
static inline int64_t sparse_floor(int64_t a, int64_t b) { return a / b - (a % b < 0); }

#endif
