/* sparse over blocks that a run's arrays list, with all that a problem may ask for beside them: as a mask of all
 * pairs would. Blocks of queries are counted by the queries' numbers, whatever their positions. */
#include "sparse_scene.h"

#include "attn/support.h"

#include <stdio.h>

enum { MASK, STARTS, COLUMNS, FULL, OWN };

/* Lists of blocks, the same for all batches or heads where these are 1. */
typedef struct blocks {
    int64_t size, rows, columns, batches, heads;
    typed_t arrays[OWN];
    const attn_tensor_t *tensors[OWN];
} blocks_t;

static void list_head(blocks_t *l, uint64_t from, int64_t b, int64_t h) {
    int64_t count = 0;
    for (int64_t row = 0; row < l->rows; row++) {
        typed_set(&l->arrays[STARTS], b, h, 0, row, (double)count);
        for (int64_t c = 0; c < l->columns; c++, from += 2) {
            const int listed = row % 4 != 2 && fixture_draw(from, 5) < 2;
            typed_set(&l->arrays[MASK], b, h, row, c, listed);
            typed_set(&l->arrays[FULL], b, h, 0, count, (double)fixture_draw(from + 1, 2));
            typed_set(&l->arrays[COLUMNS], b, h, 0, count, (double)c);
            count += listed;
        }
    }
    typed_set(&l->arrays[STARTS], b, h, 0, l->rows, (double)count);
}

static void create_blocks(blocks_t *l, scene_t *s, int64_t size, int by_lists) {
    const attn_problem_t *p = &s->problem;
    *l = (blocks_t){.size = size,
                    .rows = (p->queries - 1) / size + 1,
                    .columns = (p->keys - 1) / size + 1,
                    .batches = s->number % 2 ? p->batch : 1,
                    .heads = s->number % 3 ? p->heads : 1};
    const int64_t room = l->rows * l->columns + 1; /* of which the last is never listed */
    const int64_t extents[OWN][2] = {{l->rows, l->columns}, {1, l->rows + 1}, {1, room}, {1, room}};
    for (int i = 0; i < OWN; i++) {
        l->arrays[i] = typed_create(i == MASK || i == FULL ? ATTN_BOOL : ATTN_I64, LAYOUT_BHND,
                                    SHAPE(l->batches, l->heads, extents[i][0], extents[i][1]));
        if (by_lists == (i != MASK)) l->tensors[i] = &l->arrays[i].tensor;
    }
    for (int64_t b = 0; b < l->batches; b++)
        for (int64_t h = 0; h < l->heads; h++)
            list_head(l, 10000 * (1 + s->number) + 1000 * (uint64_t)(b * l->heads + h), b, h);
    s->io.own = l->tensors;
    s->io.own_count = OWN;
    snprintf(s->settings, sizeof s->settings, "pattern=blocks,block=%d,entries=%d", (int)size,
             (int)room);
}

/* What a row has of a block of keys: 0 nothing, 1 what the mask leaves, 2 all. */
static int listed(const blocks_t *l, const int64_t at[3], int64_t column, int by_lists) {
    const int64_t b = attn_min(at[0], l->batches - 1), h = attn_min(at[1], l->heads - 1);
    const int64_t row = at[2] / l->size;
    if (!by_lists) return typed_get(&l->arrays[MASK].tensor, b, h, row, column) != 0;
    const double end = typed_get(&l->arrays[STARTS].tensor, b, h, 0, row + 1);
    for (double t = typed_get(&l->arrays[STARTS].tensor, b, h, 0, row); t < end; t++)
        if (typed_get(&l->arrays[COLUMNS].tensor, b, h, 0, (int64_t)t) == (double)column)
            return 1 + (typed_get(&l->arrays[FULL].tensor, b, h, 0, (int64_t)t) != 0);
    return 0;
}

static void keep(const blocks_t *l, scene_t *s, int by_lists) {
    attn_problem_t whole = s->problem;
    whole.inputs &= ~(uint32_t)ATTN_INPUT_MASK;
    FOR_EACH_ROW(&s->problem, at)
    for (int64_t j = 0; j < s->problem.keys; j++) {
        const int has = listed(l, at, j / l->size, by_lists);
        const attn_problem_t *rules = has > 1 ? &whole : &s->problem;
        typed_set(&s->kept, at[0], at[1], at[2], j,
                  has && exact_sees(rules, &s->io, at[0], at[1], at[2], j));
    }
}

static void check(const attn_context_t *context, attn_problem_t *problem, int64_t size,
                  int by_lists, uint64_t number) {
    blocks_t l;
    problem->own_inputs = by_lists ? 1 << STARTS | 1 << COLUMNS | 1 << FULL : 1 << MASK;
    scene_t s = scene_create(problem, number);
    create_blocks(&l, &s, size, by_lists);
    keep(&l, &s, by_lists);
    scene_spoil_values(&s);
    scene_spoil_keys(&s);
    scene_check(context, &s);
    for (int i = 0; i < OWN; i++) typed_destroy(&l.arrays[i]);
}

static void equals_a_mask(void **state) {
    (void)state;
    enum { MANY = 42 };
    static const int64_t sizes[][2] = {{41, 41}, {1, 60}, {17, 50}, {30, 13}, {7, 41}};
    static const int64_t blocks[] = {1, 7, 13};
    attn_context_t *context = fixture_context(2);
    for (size_t k = 0; k < TEST_COUNT(blocks); k++)
        for (int by_lists = 0; by_lists < 2; by_lists++)
            for (uint64_t number = 0; number < MANY; number++) {
                attn_problem_t problem =
                    scene_problem(number, sizes[number % TEST_COUNT(sizes)], 6);
                if (test_takes_case()) check(context, &problem, blocks[k], by_lists, number);
            }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(equals_a_mask))
