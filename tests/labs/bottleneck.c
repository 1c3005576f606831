/*
 * The pigeonhole of Theorems 4.4, B.5 and B.6 (arXiv:2402.13934) in the small: below the width at which a state can hold the
 * input, two inputs have the same state, and then nothing that comes can tell them apart, though they differ in a token
 * that may be asked for. Features are whole numbers, so that float has the states exactly.
 */
#include "labs/head.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 12, INPUTS = 1 << LENGTH, MOST = LENGTH, QUERIES = 8 };

/** Keys and values of tokens, by place and bit; phi(k) = k + 1 for k >= 0. */
typedef struct layer {
    int dim;
    float keys[LENGTH][2][MOST];
    float values[2];
} layer_t;

/* (s, z) of an input. */
static void state_of(const layer_t *layer, int input, float *state) {
    memset(state, 0, 2 * MOST * sizeof *state);
    for (int i = 0; i < LENGTH; i++) {
        const int bit = input >> i & 1;
        for (int k = 0; k < layer->dim; k++) {
            state[k] += (layer->keys[i][bit][k] + 1) * layer->values[bit];
            state[MOST + k] += layer->keys[i][bit][k] + 1;
        }
    }
}

typedef struct numbered {
    float state[2 * MOST];
    int input;
} numbered_t;

static int by_state(const void *a, const void *b) {
    return memcmp(((const numbered_t *)a)->state, ((const numbered_t *)b)->state,
                  sizeof((const numbered_t *)a)->state);
}

/* All inputs sorted by their states: how many there are, and pairs side by side. */
static int sort_states(const layer_t *layer, numbered_t *all) {
    int states = 1;
    for (int input = 0; input < INPUTS; input++) {
        state_of(layer, input, all[input].state);
        all[input].input = input;
    }
    qsort(all, INPUTS, sizeof *all, by_state);
    for (int i = 1; i < INPUTS; i++) states += by_state(&all[i - 1], &all[i]) != 0;
    return states;
}

/* What a backend's queries of 0 to QUERIES - 1 get of an input. */
static void answer(const attn_context_t *context, const char *backend, const layer_t *layer,
                   int input, float out[QUERIES]) {
    const attn_problem_t problem = head_problem(QUERIES, LENGTH, layer->dim, 1);
    float query[QUERIES * MOST], key[LENGTH * MOST], value[LENGTH];
    head_t head;
    for (int q = 0; q < QUERIES; q++)
        for (int k = 0; k < layer->dim; k++)
            query[q * layer->dim + k] = (float)(q * (k + 1) % QUERIES) / 8;
    for (int i = 0; i < LENGTH; i++) {
        const int bit = input >> i & 1;
        memcpy(key + i * layer->dim, layer->keys[i][bit], (size_t)layer->dim * sizeof *key);
        value[i] = layer->values[bit];
    }
    assert_int_equal(head_create(context, backend, &problem, NULL, 0, &head, NULL), ATTN_OK);
    assert_int_equal(head_run(&head, query, key, value, out, NULL, NULL), ATTN_OK);
    head_destroy(&head);
}

/* Whether some query's answers differ by more than rounding can. */
static int differ(const float a[QUERIES], const float b[QUERIES]) {
    for (int q = 0; q < QUERIES; q++)
        if (fabs((double)a[q] - (double)b[q]) > 1e-4) return 1;
    return 0;
}

/*
 * Softmax tells pairs apart that are no rearrangement of the same keys and values, as it keeps all of them.
 * One column: z has 37 values, s at most 97, together fewer than the 4096 inputs. Places are in the keys, as positions are
 * in a model's tokens.
 */
static void narrow_states_collide(void **state) {
    (void)state;
    layer_t layer = {.dim = 1, .values = {-1, 1}};
    numbered_t *all = malloc(INPUTS * sizeof *all);
    attn_context_t *context = fixture_context(1);
    int pairs = 0, told = 0;
    assert_non_null(all);
    for (int i = 0; i < LENGTH; i++)
        for (int bit = 0; bit < 2; bit++)
            layer.keys[i][bit][0] = (float)((i * 5 + bit * 3 + i / 4) % 4);
    const int states = sort_states(&layer, all);
    assert_true(states <= 37 * 97 && states < INPUTS);
    for (int i = 1; i < INPUTS; i++) {
        float linear[2][QUERIES], softmax[2][QUERIES];
        if (by_state(&all[i - 1], &all[i]) != 0) continue;
        if (pairs++ % 16) continue; /* a part of them is enough */
        for (int which = 0; which < 2; which++) {
            answer(context, "linear", &layer, all[i - which].input, linear[which]);
            answer(context, "softmax", &layer, all[i - which].input, softmax[which]);
        }
        assert_true(all[i].input != all[i - 1].input && !differ(linear[0], linear[1]));
        told += differ(softmax[0], softmax[1]);
    }
    test_label("%d pairs, %d told apart by softmax, %d states", pairs, told, states);
    if (pairs != INPUTS - states || told == 0) test_fail("not as it should be");
    free(all);
    attn_context_destroy(context);
}

/* As many columns as tokens: a column holds a token, and no two inputs have one state. */
static void wide_states_do_not(void **state) {
    (void)state;
    layer_t layer = {.dim = LENGTH, .values = {-1, 1}};
    numbered_t *all = malloc(INPUTS * sizeof *all);
    assert_non_null(all);
    for (int i = 0; i < LENGTH; i++)
        for (int bit = 0; bit < 2; bit++) layer.keys[i][bit][i] = 1;
    assert_int_equal(sort_states(&layer, all), INPUTS);
    free(all);
}

/* ---- sparse attention (Theorem B.6) ------------------------------------------------------------------------- */

/*
 * Two layers of width 1 over bits of input and tokens that come later. Neurons hold multiples of 1/2, as Theorem B.6 has
 * them of few bits. Of the input a later token sees the ends of blocks and the last block, in either layer: their bits and
 * what the first layer made of them are the state.
 */
enum { BLOCK = 4, INPUT = 20, LATER = 4, TOKENS = INPUT + LATER, TRIED = 3000 };

typedef struct two_layers {
    head_t head;
    float key[TOKENS], hidden[TOKENS], out[TOKENS];
} two_layers_t;

static two_layers_t two_layers(const attn_context_t *context, const char *backend) {
    const attn_param_t params[] = {{"block", "4"}, {"local", "1"}, {"global", "1"}};
    two_layers_t net;
    attn_problem_t problem = head_problem(TOKENS, TOKENS, 1, 1);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    const uint32_t count = strcmp(backend, "sparse") == 0 ? TEST_COUNT(params) : 0;
    assert_int_equal(head_create(context, backend, &problem, params, count, &net.head, NULL),
                     ATTN_OK);
    return net;
}

/* Keys differ by place and bit; the second layer's keys and values are what the first one made. */
static void compute(two_layers_t *net, int input) {
    float query[TOKENS], value[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
        const int bit = i < INPUT ? input >> i & 1 : i % 3 == 0;
        query[i] = 1 + (float)(i % 3) / 4;
        net->key[i] = (float)((i * 5 + bit * 3) % 4) / 2;
        value[i] = bit ? 1 : -1;
    }
    assert_int_equal(head_run(&net->head, query, net->key, value, net->hidden, NULL, NULL), 0);
    for (int i = 0; i < TOKENS; i++) net->hidden[i] = roundf(net->hidden[i] * 2) / 2;
    assert_int_equal(head_run(&net->head, query, net->hidden, net->hidden, net->out, NULL, NULL),
                     0);
}

static int is_seen_later(int i) { return i % BLOCK == BLOCK - 1 || i > INPUT - BLOCK; }

/* A collision has the same answers for all that comes; softmax, which sees all, tells some of them apart. */
static void narrow_sparse_states_collide(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    two_layers_t sparse = two_layers(context, "sparse"), softmax = two_layers(context, "softmax");
    numbered_t *all = calloc(TRIED, sizeof *all);
    int pairs = 0, told = 0;
    assert_non_null(all);
    for (int t = 0; t < TRIED; t++) {
        all[t].input = (int)fixture_draw((uint64_t)t, 1 << INPUT);
        compute(&sparse, all[t].input);
        for (int i = 0, n = 0; i < INPUT; i++)
            if (is_seen_later(i)) {
                all[t].state[n++] = (float)(all[t].input >> i & 1);
                all[t].state[n++] = sparse.hidden[i] + 0.0f;
            }
    }
    qsort(all, TRIED, sizeof *all, by_state);
    for (int t = 1; t < TRIED; t++) {
        float first[LATER], other[LATER];
        if (all[t].input == all[t - 1].input || by_state(&all[t - 1], &all[t]) != 0) continue;
        compute(&sparse, all[t - 1].input);
        memcpy(first, sparse.out + INPUT, sizeof first);
        compute(&sparse, all[t].input);
        for (int i = 0; i < LATER; i++) assert_true(sparse.out[INPUT + i] == first[i]);
        compute(&softmax, all[t - 1].input);
        memcpy(other, softmax.out + INPUT, sizeof other);
        compute(&softmax, all[t].input);
        told += memcmp(other, softmax.out + INPUT, sizeof other) != 0;
        pairs++;
    }
    test_label("%d pairs, %d told apart by softmax", pairs, told);
    if (pairs < 10 || told == 0) test_fail("not as it should be");
    free(all);
    head_destroy(&sparse.head);
    head_destroy(&softmax.head);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(narrow_states_collide), cmocka_unit_test(wide_states_do_not),
          cmocka_unit_test(narrow_sparse_states_collide))
