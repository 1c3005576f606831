/*
 * Exact attention for one head: tiles of queries against packed keys, online softmax
 * (attention/online_softmax.h). Compiled once per tier, and for products of bf16 by the files that include it.
 */
#include "attention/backward.h"
#include "attention/key_spans.h"
#include "attention/scores.h"
#include "attention/span_iterator.h"
#include "attention/tile_io.h"

_Static_assert(EXACT_TILES *TILE_ROWS <= SPAN_ROWS, "a walk has room for all queries of a task");

static void scratch(const attn_problem_t *problem, const attn_pattern_t *pattern,
                    attn_arena_t *arena) {
    (void)pattern;
    exact_lay_out(problem, arena);
}

static void pack(const attn_head_t *head, const attn_key_rows_t *key_list, int64_t panel,
                 void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const exact_scratch_t space = exact_lay_out(head->problem, &arena);
    exact_pack(head, key_list, panel, &space);
}

/* ---- patterns: key spans ------------------------------------------------------------------------ */

static const attn_key_rows_t *key_list_of(const exact_head_t *head, const attn_key_span_t *run) {
    return &head->key_lists[run->range < head->pattern->in_place ? EXACT_ALL : EXACT_GATHERED];
}

/* Runs by runs for all tiles, so that their keys and values are read from the nearest cache by all but
 * the first. */
ATTN_RARE_STEP void attend_runs(const exact_head_t *head, const attn_queries_t *queries,
                                exact_tile_t *tiles, int64_t count) {
    attn_span_iterator_t walk;
    attn_key_span_t runs[SPANS];
    span_piece_t pieces[SPANS];
    attn_spans_begin(&walk, head->pattern, &head->head, queries, TILE_ROWS);
    for (int taken; (taken = attn_spans_take(&walk, runs, SPANS, EXACT_KEYS, PANEL)) > 0;)
        for (int64_t t = 0; t < count; t++) {
            for (int i = 0; i < taken; i++) {
                pieces[i].key_list = key_list_of(head, &runs[i]);
                pieces[i].rows = walk.rows[runs[i].range] + t * TILE_ROWS;
                span_cut(&pieces[i], &runs[i], walk.tiles[runs[i].range][t]);
            }
            spans_step(&tiles[t], pieces, taken);
        }
}

/* Whether each query sees one range of all keys. */
static int is_dense(const exact_head_t *head) { return ATTN_SMALL || !head->pattern; }

ATTN_RARE_STEP void attend_keys(const exact_head_t *head, const attn_queries_t *queries,
                                exact_tile_t *tiles, int64_t count) {
    if (!is_dense(head)) {
        attend_runs(head, queries, tiles, count);
        return;
    }
    exact_see_all(&head->head, tiles, count);
    exact_attend(tiles, count, &head->key_lists[EXACT_ALL]);
}

ATTN_RARE_STEP void prefill_attend(const exact_head_t *head, const attn_queries_t *queries) {
    attn_arena_t arena = {.base = queries->scratch};
    const exact_scratch_t space = exact_lay_out(head->head.problem, &arena);
    const int64_t tiles = exact_prepare(&head->head, queries, &space, 1);
    exact_begin_products();
    attend_keys(head, queries, space.tiles, tiles);
    exact_end_products();
    exact_finish(&head->head, space.tiles, tiles);
}

/* ---- scores --------------------------------------------------------------------------------------- */

/* Scores of all runs. */
ATTN_RARE_STEP void write_runs(const exact_head_t *head, const attn_queries_t *queries,
                               exact_tile_t *tiles, int64_t count, int32_t stage,
                               float *const *rows) {
    attn_span_iterator_t walk;
    attn_key_span_t run;
    attn_spans_begin(&walk, head->pattern, &head->head, queries, TILE_ROWS);
    while (attn_spans_take(&walk, &run, 1, INT64_MAX / 2, 1))
        for (int64_t t = 0; t < count; t++) {
            const uint32_t offsets = tiles[t].offsets;
            span_look(&tiles[t], walk.rows[run.range] + t * TILE_ROWS, &run);
            if (run.full) tiles[t].offsets &= ~(uint32_t)ATTN_INPUT_MASK;
            exact_scores(&tiles[t], key_list_of(head, &run), stage, rows + t * TILE_ROWS);
            tiles[t].offsets = offsets;
        }
}

/* Of tiles that see nothing yet. */
ATTN_RARE_STEP void write_scores(const exact_head_t *head, const attn_queries_t *queries,
                                 exact_tile_t *tiles, int64_t count, int32_t stage,
                                 float *const *rows) {
    const int weights = stage == ATTN_SCORES_WEIGHTS;
    const int64_t keys = head->head.problem->keys;
    const attn_key_rows_t *all = &head->key_lists[EXACT_ALL];
    if (!weights && stage != ATTN_SCORES_MASKED) {
        exact_see_hidden(tiles, count, keys);
        exact_scores_of_all(all, tiles, count, stage, rows);
        return;
    }
    exact_fill(rows, attn_row_count(queries), keys, weights ? 0.0f : -INFINITY);
    if (weights) attend_keys(head, queries, tiles, count);
    if (is_dense(head)) {
        exact_see_all(&head->head, tiles, count);
        exact_scores_of_all(all, tiles, count, stage, rows);
    } else {
        write_runs(head, queries, tiles, count, stage, rows);
    }
}

ATTN_RARE_STEP void scores(const exact_head_t *head, const attn_queries_t *queries, int32_t stage,
                           float *const *rows) {
    attn_arena_t arena = {.base = queries->scratch};
    const exact_scratch_t space = exact_lay_out(head->head.problem, &arena);
    const int64_t tiles = exact_prepare(&head->head, queries, &space, 0);
    exact_begin_products();
    write_scores(head, queries, space.tiles, tiles, stage, rows);
    exact_end_products();
}

#if EXACT_PARTS == 1
#include "attention/packed_decode.h"

/* Of 12 rows they take as long as decoding in f32 where keys are in a cache, of 16 less also where they come from memory;
 * more products pay later, or never. */
static const packed_kernels_t packed = {
    .few_rows = 16,
    .rows = PACKED_ROWS,
    .scratch = packed_scratch,
    .attend = packed_attend,
};
#define FEW &packed
#else
#define FEW NULL
#endif

#if EXACT_PARTS
static uint64_t panel_bytes(const attn_problem_t *problem) {
    return bf16_panel_bytes(problem->dim, problem->value_dim);
}
#define NAME TILE_NAME " " EXACT_PRECISION
#define KIND EXACT_BF16
#define BACKWARD &ATTN_KERNEL(EXACT_BACKWARD)
#define PANEL_BYTES panel_bytes
#else
#define EXACT_TABLE attn_exact_kernels
#define NAME TILE_NAME
#define PANEL_BYTES NULL
#define KIND EXACT_OWN
#define BACKWARD NULL
#endif

const exact_kernels_t ATTN_KERNEL(EXACT_TABLE) = {
    .kind = KIND,
    .name = NAME " prefill",
    .decode_name = NAME " decode",
    .panel = PANEL,
    .panel_bytes = PANEL_BYTES,
    .rows = EXACT_TILES * TILE_ROWS,
    .tile = TILE_ROWS,
    .scratch = scratch,
    .pack = pack,
    .attend = prefill_attend,
    .scores = ATTN_SMALL ? NULL : scores,
    .few = FEW,
    .backward = BACKWARD,
};
