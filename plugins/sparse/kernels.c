/* Queries that choose among all keys: see kernels.h. Compiled once per tier. */
#include "kernels.h"
#include "buckets_step.h"
#include "rotate.h"
#include "topkeys_step.h"

static const sparse_pattern_t *pattern_of(const exact_head_t *head) {
    return (const sparse_pattern_t *)head->pattern;
}

static void pack(const attn_head_t *head, const attn_key_rows_t *key_list, int64_t panel,
                 void *scratch) {
    attn_arena_t arena = {.base = scratch};
    const exact_scratch_t space = exact_lay_out(head->problem, &arena);
    exact_pack(head, key_list, panel, &space);
}

/* Logits before masking: of all keys. */
ATTN_RARE_STEP void write_logits(const exact_head_t *head, exact_tile_t *tiles, int64_t count,
                                 int32_t stage, float *const *rows) {
    exact_see_hidden(tiles, count, head->head.problem->keys);
    exact_scores_of_all(&head->key_lists[EXACT_ALL], tiles, count, stage, rows);
}

static int is_after_masking(int32_t stage) {
    return stage == ATTN_SCORES_WEIGHTS || stage == ATTN_SCORES_MASKED;
}

/* The score of a key that a row does not see. */
static float nothing_of(int32_t stage) { return stage == ATTN_SCORES_WEIGHTS ? 0.0f : -INFINITY; }

/* ---- by logits ------------------------------------------------------------------------------------- */

typedef struct topkeys_scratch {
    exact_scratch_t exact;
    select_space_t select;
} topkeys_scratch_t;

static topkeys_scratch_t topkeys_lay_out(const attn_problem_t *problem, int64_t top,
                                         attn_arena_t *arena) {
    topkeys_scratch_t space = {.exact = exact_lay_out(problem, arena)};
    space.select = select_lay_out(problem->keys, top, EXACT_TILES * TILE_ROWS, arena);
    return space;
}

static void topkeys_scratch(const attn_problem_t *problem, const attn_pattern_t *pattern,
                            attn_arena_t *arena) {
    topkeys_lay_out(problem, ((const sparse_pattern_t *)pattern)->top, arena);
}

/* Let tiles that see nothing yet see the keys that they choose. */
ATTN_RARE_STEP void see_topkeys(const exact_head_t *head, const topkeys_scratch_t *space,
                                int64_t tiles) {
    const topkeys_t topkeys = {space->exact.tiles, space->select.rows};
    select_begin(&space->select, tiles * TILE_ROWS);
    exact_see_all(&head->head, space->exact.tiles, tiles);
    topkeys_attend(&topkeys, tiles, &head->key_lists[EXACT_ALL]);
}

ATTN_RARE_STEP void attend_topkeys(const exact_head_t *head, const attn_queries_t *queries) {
    attn_arena_t arena = {.base = queries->scratch};
    const topkeys_scratch_t space =
        topkeys_lay_out(head->head.problem, pattern_of(head)->top, &arena);
    const int64_t tiles = exact_prepare(&head->head, queries, &space.exact, 1);
    see_topkeys(head, &space, tiles);
    exact_finish(&head->head, space.exact.tiles, tiles);
}

ATTN_RARE_STEP void topkeys_scores(const exact_head_t *head, const attn_queries_t *queries,
                                   int32_t stage, float *const *rows) {
    attn_arena_t arena = {.base = queries->scratch};
    const topkeys_scratch_t space =
        topkeys_lay_out(head->head.problem, pattern_of(head)->top, &arena);
    const int64_t keys = head->head.problem->keys;
    const int64_t tiles = exact_prepare(&head->head, queries, &space.exact, 0);
    if (!is_after_masking(stage)) {
        write_logits(head, space.exact.tiles, tiles, stage, rows);
        return;
    }
    exact_fill(rows, attn_row_count(queries), keys, nothing_of(stage));
    see_topkeys(head, &space, tiles);
    exact_see_all(&head->head, space.exact.tiles, tiles);
    exact_scores_of_all(&head->key_lists[EXACT_ALL], space.exact.tiles, tiles, stage, rows);
    for (int64_t i = 0; i < attn_row_count(queries); i++)
        select_drop(&space.select.rows[i], rows[i], keys, nothing_of(stage));
}

/* ---- by buckets ------------------------------------------------------------------------------------ */

static void buckets_scratch(const attn_problem_t *problem, const attn_pattern_t *pattern,
                            attn_arena_t *arena) {
    (void)pattern;
    exact_lay_out(problem, arena);
}

static sparse_buckets_t buckets_of(const exact_head_t *head, const attn_queries_t *queries) {
    return pattern_of(head)->kind->buckets(pattern_of(head), &head->head, queries->head);
}

/* Set up tiles with queries by their numbers in an order; returns how many. */
ATTN_RARE_STEP int64_t prepare_in_order(const attn_head_t *head, const attn_queries_t *queries,
                                        const int64_t *order, const exact_scratch_t *space) {
    const int64_t count = exact_tile_count(queries), rows = attn_row_count(queries);
    for (int64_t t = 0; t < count; t++) {
        exact_tile_t *tile = &space->tiles[t];
        const int64_t done = t * TILE_ROWS;
        tile->rows = attn_min(TILE_ROWS, rows - done);
        for (int64_t r = 0; r < TILE_ROWS; r++) {
            tile->places[r] = attn_place_of(head, queries, done + attn_min(r, tile->rows - 1));
            tile->places[r].query = order[tile->places[r].query];
            if (VF_FETCHES) exact_fetch_query(head, tile->places[r]);
        }
    }
    for (int64_t t = 0; t < count; t++) {
        exact_set_rules(&space->tiles[t], head);
        exact_prepare_tile(head, space, t, 0, 1);
    }
    return count;
}

/* Attend in one round, from what was kept to what is kept; of a single round nothing is. */
ATTN_RARE_STEP void attend_buckets(const exact_head_t *head, const attn_queries_t *queries) {
    attn_arena_t arena = {.base = queries->scratch};
    const exact_scratch_t space = exact_lay_out(head->head.problem, &arena);
    const sparse_buckets_t buckets = buckets_of(head, queries);
    const int64_t tiles = prepare_in_order(
        &head->head, queries, buckets.query_order + head->pass * buckets.queries, &space);
    buckets_tiles_t all = {.tiles = space.tiles, .buckets = &buckets, .round = head->pass};
    for (int64_t t = 0; all.round && t < tiles; t++) buckets_resume(&space.tiles[t], buckets.kept);
    buckets_see(&all, &head->head, tiles);
    buckets_attend(&all, tiles, &head->key_lists[EXACT_GATHERED]);
    if (all.round + 1 == buckets.rounds)
        exact_finish(&head->head, space.tiles, tiles);
    else
        for (int64_t t = 0; t < tiles; t++) buckets_keep(&space.tiles[t], buckets.kept);
}

ATTN_RARE_STEP void buckets_scores(const exact_head_t *head, const attn_queries_t *queries,
                                   int32_t stage, float *const *rows) {
    attn_arena_t arena = {.base = queries->scratch};
    const exact_scratch_t space = exact_lay_out(head->head.problem, &arena);
    const attn_key_rows_t *keys = &head->key_lists[EXACT_ALL];
    const int64_t tiles = exact_prepare(&head->head, queries, &space, 0);
    if (!is_after_masking(stage)) {
        write_logits(head, space.tiles, tiles, stage, rows);
        return;
    }
    const sparse_buckets_t buckets = buckets_of(head, queries);
    buckets_tiles_t all = {.tiles = space.tiles, .buckets = &buckets, .round = buckets.rounds};
    exact_fill(rows, attn_row_count(queries), head->head.problem->keys, nothing_of(stage));
    buckets_see_all(&all, &head->head, tiles);
    if (stage == ATTN_SCORES_WEIGHTS) buckets_attend(&all, tiles, keys);
    for (int64_t t = 0; t < tiles; t++)
        exact_scores_by(buckets_score, &all, &space.tiles[t], keys, stage, rows + t * TILE_ROWS);
}

#define KERNELS(scratch_, attend_, scores_)                                                        \
    {                                                                                              \
        .name = TILE_NAME " prefill", .panel = PANEL, .rows = EXACT_TILES * TILE_ROWS,             \
        .tile = TILE_ROWS, .scratch = scratch_, .pack = pack, .attend = attend_, .scores = scores_ \
    }
const sparse_kernels_t ATTN_KERNEL(attn_sparse_kernels) = {
    .topkeys = KERNELS(topkeys_scratch, attend_topkeys, topkeys_scores),
    .buckets = KERNELS(buckets_scratch, attend_buckets, buckets_scores),
    .rotate = rotate,
};
