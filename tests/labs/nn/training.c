/* Training: the same bits on any number of threads, learning, schedules, and losses that are no numbers. */
#include "labs/nn/train.h"

#include "attn/random.h"
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 12, BATCH = 19, VOCABULARY = 11 };

static nn_shape_t small(const char *backend) {
    return (nn_shape_t){.vocabulary = VOCABULARY,
                        .length = LENGTH,
                        .width = 16,
                        .heads = 2,
                        .layers = 2,
                        .backend = backend};
}

static void make(nn_trainer_t *trainer, const attn_context_t *context, const char *backend,
                 float dropout) {
    const nn_shape_t shape = small(backend);
    nn_training_t training = nn_training_paper(test_seed());
    attn_error_t error;
    training.batch = BATCH, training.dropout = dropout;
    if (nn_trainer_create(context, &shape, &training, trainer, &error))
        test_fail("%s", error.message);
}

/* Two numbers are recalled after two others; the first row of a batch is shorter than the rest. */
static void fill(uint64_t step, int32_t *tokens, int32_t *targets) {
    for (int s = 0; s < BATCH; s++)
        for (int i = 0; i < LENGTH; i++) {
            const uint64_t draw = (step * BATCH + (uint64_t)s) * LENGTH;
            int32_t *token = &tokens[s * LENGTH + i];
            *token =
                i < 4 ? (int32_t)(attn_random_u64(test_seed(), 70, draw + (uint64_t)i) % VOCABULARY)
                      : tokens[s * LENGTH + i - 4];
            if (i > 0) targets[s * LENGTH + i - 1] = i >= 4 && (s > 0 || i < 8) ? *token : -1;
            targets[s * LENGTH + LENGTH - 1] = -1;
        }
}

static double train(nn_trainer_t *trainer, int64_t steps, double rate) {
    int32_t tokens[BATCH * LENGTH], targets[BATCH * LENGTH];
    attn_error_t error;
    double loss = 0;
    for (int64_t i = 0; i < steps; i++) {
        fill((uint64_t)trainer->step, tokens, targets);
        if (nn_trainer_step(trainer, tokens, targets, rate, &loss, &error))
            test_fail("%s", error.message);
    }
    return loss;
}

static void threads_change_nothing(void **state) {
    (void)state;
    static const char *const backends[] = {"softmax", "sparse", "linear"};
    static const int threads[] = {1, 2, 5};
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        float *first = NULL;
        for (size_t t = 0; t < TEST_COUNT(threads); t++) {
            attn_context_t *context = fixture_context(threads[t]);
            nn_trainer_t trainer;
            make(&trainer, context, backends[b], 0.1f);
            const size_t size = 3 * (size_t)trainer.net.layout.count * sizeof(float);
            test_label("%s, %d threads", backends[b], threads[t]);
            train(&trainer, 3, 0.01);
            if (!first) {
                first = malloc(size);
                assert_non_null(first);
                memcpy(first, trainer.weights, size);
            } else if (memcmp(first, trainer.weights, size) != 0) {
                test_fail("other weights or moments than with one");
            }
            nn_trainer_destroy(&trainer);
            attn_context_destroy(context);
        }
        free(first);
    }
}

/* What is behind a sequence's end is not seen: other tokens there, the same gradients. */
static void padding_changes_nothing(void **state) {
    (void)state;
    int32_t tokens[BATCH * LENGTH], targets[BATCH * LENGTH];
    attn_context_t *context = fixture_context(1);
    nn_trainer_t trainers[2];
    for (size_t t = 0; t < TEST_COUNT(trainers); t++) {
        attn_error_t error;
        double loss;
        make(&trainers[t], context, "softmax", 0);
        fill(0, tokens, targets);
        for (int i = 8; i < LENGTH; i++) tokens[i] = (int32_t)(t + 1);
        if (nn_trainer_step(&trainers[t], tokens, targets, 0.01, &loss, &error))
            test_fail("%s", error.message);
    }
    const size_t count = (size_t)trainers[0].net.layout.count;
    /* Tokens that only stand behind an end have gradients of 0, so the sums are of the same terms. */
    assert_memory_equal(trainers[0].weights, trainers[1].weights, count * sizeof(float));
    nn_trainer_destroy(&trainers[0]);
    nn_trainer_destroy(&trainers[1]);
    attn_context_destroy(context);
}

/* Copying from four tokens ago is learned by each kind of attention. */
static void learns(void **state) {
    (void)state;
    static const char *const backends[] = {"softmax", "sparse", "linear"};
    if (!test_is_lowest_tier()) return;
    attn_context_t *context = fixture_context(2);
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        nn_trainer_t trainer;
        if (!test_takes_case()) continue;
        make(&trainer, context, backends[b], 0);
        test_label("%s", backends[b]);
        const double before = train(&trainer, 1, 0.005);
        const double after = train(&trainer, 250, 0.005);
        if (!(before > 0.8 * log(VOCABULARY) && after < 0.5 * before))
            test_fail("the loss went from %g to %g", before, after);
        nn_trainer_destroy(&trainer);
    }
    attn_context_destroy(context);
}

/* Step 2 with `count` weights from `at` on grown by `factor`: it is told, and weights and moments stay. */
static void diverge(nn_trainer_t *trainer, int64_t at, int64_t count, float factor,
                    const char *words) {
    int32_t tokens[BATCH * LENGTH], targets[BATCH * LENGTH];
    attn_error_t error = {0};
    double loss;
    const size_t size = 3 * (size_t)trainer->net.layout.count * sizeof(float);
    train(trainer, 2, 0.01);
    for (int64_t i = at; i < at + count; i++) trainer->weights[i] *= factor;
    float *before = malloc(size);
    assert_non_null(before);
    memcpy(before, trainer->weights, size);
    fill(2, tokens, targets);
    fixture_expect(nn_trainer_step(trainer, tokens, targets, 0.01, &loss, &error), &error,
                   ATTN_ERROR_RANGE, words);
    assert_memory_equal(before, trainer->weights, size);
    assert_int_equal(trainer->step, 2);
    free(before);
}

/* No loss; and a loss of about 1e30, which is a number, with gradients whose squares are none. */
static void divergence(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int only_head = 0; only_head < 2; only_head++) {
        nn_trainer_t trainer;
        make(&trainer, context, "softmax", 0);
        const nn_layout_t *layout = &trainer.net.layout;
        if (only_head)
            diverge(&trainer, layout->head.weight, layout->head.in * layout->head.out, 1e30f,
                    "diverged|gradient of step 2");
        else
            diverge(&trainer, 0, layout->count, 1e25f, "diverged|loss of step 2");
        nn_trainer_destroy(&trainer);
    }
    attn_context_destroy(context);
}

static void mark(const nn_linear_t *linear, char *marks) {
    memset(marks + linear->weight, 1, (size_t)(linear->in * linear->out));
}

/* All matrices decay, the embedding among them; no bias and no norm. */
static void decay(void **state) {
    (void)state;
    static const double rate = 0.01, share = 0.5;
    attn_context_t *context = fixture_context(1);
    nn_trainer_t with, without;
    make(&with, context, "softmax", 0);
    make(&without, context, "softmax", 0);
    with.training.decay = share, without.training.decay = 0;
    const nn_layout_t *layout = &with.net.layout;
    const size_t count = (size_t)layout->count;
    float *before = malloc(count * sizeof *before);
    char *marks = calloc(count, 1);
    assert_true(before && marks);
    for (size_t i = 0; i < count; i++) with.weights[i] += 0.25f; /* of a bias of 0 nothing decays */
    memcpy(without.weights, with.weights, count * sizeof *before);
    memcpy(before, with.weights, count * sizeof *before);
    memset(marks + layout->embedding, 1, (size_t)(VOCABULARY * small("softmax").width));
    for (int64_t l = 0; l < small("softmax").layers; l++) {
        const nn_block_t *block = &layout->blocks[l];
        mark(&block->qkv, marks), mark(&block->out, marks);
        mark(&block->up, marks), mark(&block->down, marks);
    }
    mark(&layout->head, marks);
    train(&with, 1, rate);
    train(&without, 1, rate);
    for (size_t i = 0; i < count; i++) {
        const double was = (double)before[i], less = (double)(without.weights[i] - with.weights[i]);
        /* A step, of the rate's size at most, and a weight, each in a few roundings. */
        const double rounding = marks[i] ? 8 * 0x1p-24 * (fabs(was) + rate) : 0;
        test_label("weight %zu of %zu", i, count);
        if (!(fabs(less - (marks[i] ? rate * share * was : 0)) <= rounding))
            test_fail("%.9g decays by %.9g", was, less);
    }
    free(before), free(marks);
    nn_trainer_destroy(&with), nn_trainer_destroy(&without);
    attn_context_destroy(context);
}

/* The loss that a step finds, without the step. */
static void loss_alone(void **state) {
    (void)state;
    int32_t tokens[BATCH * LENGTH], targets[BATCH * LENGTH];
    attn_error_t error;
    double loss = 0, found = 0;
    attn_context_t *context = fixture_context(1);
    nn_trainer_t trainer;
    make(&trainer, context, "softmax", 0);
    fill(0, tokens, targets);
    if (nn_trainer_loss(&trainer, tokens, targets, &loss, &error) ||
        nn_trainer_step(&trainer, tokens, targets, 0.01, &found, &error))
        test_fail("%s", error.message);
    /* The same terms in sums of other parts: a few hundred, in double precision. */
    const double tolerance = 0x1p-53 * BATCH * LENGTH * found;
    if (!(fabs(loss - found) <= tolerance)) test_fail("%.17g, expected %.17g", loss, found);
    nn_trainer_destroy(&trainer);
    attn_context_destroy(context);
}

static void refusals(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    nn_training_t training = nn_training_paper(1);
    nn_trainer_t trainer;
    attn_error_t error = {0};
    nn_shape_t shape = small("softmax");
    shape.heads = 17;
    fixture_expect(nn_trainer_create(context, &shape, &training, &trainer, &error), &error,
                   ATTN_ERROR_SHAPE, "heads|17|16");
    shape = small("sparse");
    shape.params = &(attn_param_t){"pattern", "topkeys"}, shape.param_count = 1;
    fixture_expect(nn_trainer_create(context, &shape, &training, &trainer, &error), &error,
                   ATTN_ERROR_UNSUPPORTED, "topkeys|gradients");
    shape = small("softmax");
    training.batch = 0;
    fixture_expect(nn_trainer_create(context, &shape, &training, &trainer, &error), &error,
                   ATTN_ERROR_SHAPE, "batch|0");
    attn_context_destroy(context);
}

/* A normal embedding of the deviation that is asked for, and nothing else changes. */
static void embeddings(void **state) {
    (void)state;
    nn_layout_t layout;
    const nn_shape_t shape = small("softmax");
    const double deviation = 1.5;
    assert_int_equal(nn_layout_make(&shape, &layout, NULL), ATTN_OK);
    float *xavier = malloc((size_t)layout.count * sizeof *xavier);
    float *normal = malloc((size_t)layout.count * sizeof *normal);
    assert_true(xavier && normal);
    nn_weights_draw(&shape, &layout, 0, test_seed(), xavier);
    nn_weights_draw(&shape, &layout, deviation, test_seed(), normal);
    const int64_t count = VOCABULARY * shape.width, end = layout.embedding + count;
    double squares = 0, most = 0;
    for (int64_t i = layout.embedding; i < end; i++) {
        squares += (double)normal[i] * (double)normal[i];
        most = fmax(most, fabs((double)xavier[i]));
    }
    /* The mean of `count` squares of unit normals is off by less than 6 of its deviations. */
    assert_true(fabs(squares / (deviation * deviation) - count) < 6 * sqrt(2.0 * count));
    assert_true(most <= sqrt(6.0 / (double)(VOCABULARY + shape.width)));
    assert_memory_equal(xavier, normal, (size_t)layout.embedding * sizeof *normal);
    assert_memory_equal(xavier + end, normal + end, (size_t)(layout.count - end) * sizeof *normal);
    free(xavier), free(normal);
}

static void rates(void **state) {
    (void)state;
    static const nn_schedule_t linear = {2, 4, 12, 0, 0}, constant = {2, 4, 12, 1, 0};
    static const nn_schedule_t cool = {2, 4, 12, 0, 4}, early = {2, 4, 12, 0, 12};
    static const struct {
        int64_t step;
        double linear, constant, cool;
    } steps[] = {{0, 0.5, 0.5, 0.5}, {3, 2, 2, 2},  {4, 2, 2, 2}, {8, 1, 2, 2},
                 {10, 0.5, 2, 1},    {12, 0, 2, 0}, {99, 0, 2, 0}};
    for (size_t i = 0; i < TEST_COUNT(steps); i++) {
        test_label("step %" PRId64, steps[i].step);
        assert_true(nn_rate(&linear, steps[i].step) == steps[i].linear);
        assert_true(nn_rate(&constant, steps[i].step) == steps[i].constant);
        assert_true(nn_rate(&cool, steps[i].step) == steps[i].cool);
        assert_true(nn_rate(&early, steps[i].step) == steps[i].linear);
    }
    assert_true(nn_rate(&(nn_schedule_t){.peak = 2, .total = 4}, 0) == 2);
}

TEST_MAIN(cmocka_unit_test(threads_change_nothing), cmocka_unit_test(padding_changes_nothing),
          cmocka_unit_test(learns), cmocka_unit_test(divergence), cmocka_unit_test(decay),
          cmocka_unit_test(loss_alone), cmocka_unit_test(refusals), cmocka_unit_test(embeddings),
          cmocka_unit_test(rates))
