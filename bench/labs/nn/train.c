/* nn/train.c: see train.h. */
#include "labs/nn/train.h"

#include "attn/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PASS_ROWS = 256 }; /* about as many tokens go through the layers together */
enum { PIECE = 1 << 13 }; /* weights that a task of the optimiser takes */

/* Of random numbers, behind all that samples of the same seed are drawn from. */
static const uint64_t STREAM_DROPOUT = (uint64_t)1 << 62;

nn_training_t nn_training_paper(uint64_t seed) {
    return (nn_training_t){.beta1 = 0.9,
                           .beta2 = 0.999,
                           .epsilon = 1e-8,
                           .decay = 0.01,
                           .dropout = 0.1f,
                           .batch = 512,
                           .seed = seed};
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static int64_t part_begin(const nn_trainer_t *trainer, int64_t part) {
    return trainer->training.batch * part / NN_PARTS;
}

static int64_t pass_room(const nn_trainer_t *trainer) {
    const int64_t most = (trainer->training.batch + NN_PARTS - 1) / NN_PARTS;
    return attn_min(most, attn_max(1, PASS_ROWS / trainer->net.shape.length));
}

static attn_status_t allocate(nn_trainer_t *trainer, attn_error_t *error) {
    const size_t count = (size_t)trainer->net.layout.count;
    trainer->weights = calloc(3 * count, sizeof *trainer->weights);
    trainer->gradients = malloc(NN_PARTS * count * sizeof *trainer->gradients);
    trainer->passes = calloc(trainer->threads->workers, sizeof *trainer->passes);
    if (!trainer->weights || !trainer->gradients || !trainer->passes)
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %zu weights", count);
    trainer->first = trainer->weights + count;
    trainer->second = trainer->first + count;
    attn_status_t status = ATTN_OK;
    for (uint32_t w = 0; w < trainer->threads->workers && !status; w++)
        status = nn_pass_create(&trainer->net, trainer->weights, pass_room(trainer),
                                &trainer->passes[w], error);
    return status;
}

attn_status_t nn_trainer_create(const attn_context_t *context, const nn_shape_t *shape,
                                const nn_training_t *training, nn_trainer_t *trainer,
                                attn_error_t *error) {
    *trainer = (nn_trainer_t){.training = *training, .threads = attn_context_threads(context)};
    if (training->batch < 1)
        return attn_fail(error, ATTN_ERROR_SHAPE, "a batch of %lld sequences, expected 1 or more",
                         (long long)training->batch);
    attn_status_t status = nn_net_create(context, shape, &trainer->net, error);
    if (!status) status = allocate(trainer, error);
    if (status) {
        nn_trainer_destroy(trainer);
        return status;
    }
    nn_weights_draw(shape, &trainer->net.layout, training->embedding, training->seed,
                    trainer->weights);
    return ATTN_OK;
}

void nn_trainer_destroy(nn_trainer_t *trainer) {
    for (uint32_t w = 0; trainer->passes && w < trainer->threads->workers; w++)
        nn_pass_destroy(&trainer->passes[w]);
    free(trainer->passes);
    free(trainer->gradients);
    free(trainer->weights);
    nn_net_destroy(&trainer->net);
    *trainer = (nn_trainer_t){.step = 0};
}

/* ---- a step ---------------------------------------------------------------------------------------- */

typedef struct step {
    nn_trainer_t *trainer;
    const int32_t *tokens, *targets;
    float scale; /* 1 / targets that count */
    nn_adamw_t adamw;
    double losses[NN_PARTS];
    attn_status_t status[NN_PARTS];
    attn_error_t errors[NN_PARTS];
} step_t;

static int64_t counted(const nn_trainer_t *trainer, const int32_t *targets) {
    int64_t count = 0;
    for (int64_t i = 0; i < trainer->training.batch * trainer->net.shape.length; i++)
        count += targets[i] >= 0;
    return count;
}

/* A part's gradients, pass after pass. */
static void part_task(void *data, int64_t part, uint32_t worker) {
    step_t *step = data;
    const nn_trainer_t *trainer = step->trainer;
    const int64_t length = trainer->net.shape.length, end = part_begin(trainer, part + 1);
    nn_pass_t *pass = &trainer->passes[worker];
    float *gradient = trainer->gradients + part * trainer->net.layout.count;
    memset(gradient, 0, (size_t)trainer->net.layout.count * sizeof *gradient);
    step->losses[part] = 0;
    step->status[part] = ATTN_OK;
    for (int64_t s = part_begin(trainer, part), count; s < end && !step->status[part]; s += count) {
        const int32_t *tokens = step->tokens + s * length, *targets = step->targets + s * length;
        attn_error_t *error = &step->errors[part];
        double loss = 0;
        count = attn_min(pass->room, end - s);
        pass->first = (uint64_t)s;
        pass->dropout =
            (nn_dropout_t){.rate = trainer->training.dropout,
                           .seed = trainer->training.seed,
                           .stream = STREAM_DROPOUT + (uint64_t)trainer->step * NN_DROPOUT_STREAMS};
        step->status[part] = nn_forward(pass, tokens, count, error);
        if (!step->status[part])
            step->status[part] =
                nn_backward(pass, tokens, targets, count, step->scale, &loss, gradient, error);
        step->losses[part] += loss;
    }
}

/* The weights [begin, end) of a piece. */
static int64_t piece_begin(int64_t piece) { return piece * PIECE; }

static int64_t piece_end(const nn_trainer_t *trainer, int64_t piece) {
    return attn_min(piece_begin(piece + 1), trainer->net.layout.count);
}

/* Parts' gradients added up in their order, into the first part's. */
static void sum_task(void *data, int64_t piece, uint32_t worker) {
    const step_t *step = data;
    const nn_trainer_t *trainer = step->trainer;
    const int64_t begin = piece_begin(piece), count = piece_end(trainer, piece) - begin;
    float *sum = trainer->gradients + begin;
    (void)worker;
    for (int64_t p = 1; p < NN_PARTS; p++)
        trainer->net.kernels->add(count, sum + p * trainer->net.layout.count, sum);
}

/* Whether AdamW's second moments, which are means of squares, can be made of these gradients. */
static int has_squares(const float *gradient, int64_t count) {
    int bad = 0;
    for (int64_t i = 0; i < count; i++) bad |= !(fabsf(gradient[i]) < 0x1p63f);
    return !bad;
}

static void update(const step_t *step, int64_t first, int64_t last, float decay) {
    const nn_trainer_t *trainer = step->trainer;
    nn_adamw_t adamw = step->adamw;
    adamw.decay = decay;
    if (first >= last) return;
    trainer->net.kernels->adamw(&adamw, last - first, trainer->gradients + first,
                                trainer->weights + first, trainer->first + first,
                                trainer->second + first);
}

static void update_task(void *data, int64_t piece, uint32_t worker) {
    const step_t *step = data;
    const int64_t decayed = step->trainer->net.layout.decayed;
    const int64_t first = piece_begin(piece), last = piece_end(step->trainer, piece);
    (void)worker;
    update(step, first, attn_min(last, decayed), step->adamw.decay);
    update(step, attn_max(first, decayed), last, 0);
}

static attn_status_t diverged(const nn_trainer_t *trainer, const char *what, attn_error_t *error) {
    return attn_fail(error, ATTN_ERROR_RANGE,
                     "training diverged: the %s of step %lld is not finite", what,
                     (long long)trainer->step);
}

attn_status_t nn_trainer_step(nn_trainer_t *trainer, const int32_t *tokens, const int32_t *targets,
                              double rate, double *loss, attn_error_t *error) {
    const nn_training_t *training = &trainer->training;
    const attn_ext_threads_t *threads = trainer->threads;
    const double count = (double)attn_max(1, counted(trainer, targets));
    const double t = (double)trainer->step + 1;
    step_t step = {.trainer = trainer,
                   .tokens = tokens,
                   .targets = targets,
                   .scale = (float)(1 / count),
                   .adamw = {.rate = (float)rate,
                             .beta1 = (float)training->beta1,
                             .beta2 = (float)training->beta2,
                             .epsilon = (float)training->epsilon,
                             .decay = (float)training->decay,
                             .correction1 = (float)(1 - pow(training->beta1, t)),
                             .correction2 = (float)(1 - pow(training->beta2, t))}};
    threads->parallel_for(threads->pool, NN_PARTS, part_task, &step);
    *loss = 0;
    for (int p = 0; p < NN_PARTS; p++) {
        if (step.status[p]) {
            if (error) *error = step.errors[p];
            return step.status[p];
        }
        *loss += step.losses[p] / count;
    }
    if (!isfinite(*loss)) return diverged(trainer, "loss", error);
    const int64_t pieces = (trainer->net.layout.count + PIECE - 1) / PIECE;
    threads->parallel_for(threads->pool, pieces, sum_task, &step);
    if (!has_squares(trainer->gradients, trainer->net.layout.count))
        return diverged(trainer, "gradient", error);
    threads->parallel_for(threads->pool, pieces, update_task, &step);
    trainer->step++;
    return ATTN_OK;
}

attn_status_t nn_trainer_loss(nn_trainer_t *trainer, const int32_t *tokens, const int32_t *targets,
                              double *loss, attn_error_t *error) {
    const nn_shape_t *shape = &trainer->net.shape;
    const double counts = (double)attn_max(1, counted(trainer, targets));
    nn_pass_t *pass = &trainer->passes[0];
    pass->dropout = (nn_dropout_t){.rate = 0};
    *loss = 0;
    for (int64_t s = 0, count; s < trainer->training.batch; s += count) {
        count = attn_min(pass->room, trainer->training.batch - s);
        const attn_status_t status = nn_forward(pass, tokens + s * shape->length, count, error);
        if (status) return status;
        *loss += trainer->net.kernels->entropy(count * shape->length, shape->vocabulary,
                                               targets + s * shape->length, 1, pass->logits) /
                 counts;
    }
    return isfinite(*loss) ? ATTN_OK : diverged(trainer, "loss", error);
}

/* ---- what is known of steps ------------------------------------------------------------------------ */

double nn_rate(const nn_schedule_t *s, int64_t step) {
    if (step < s->warm) return s->peak * (double)(step + 1) / (double)s->warm;
    const int64_t fall = s->cool > 0 ? attn_max(s->warm, s->total - s->cool) : s->warm;
    if (s->constant || step < fall) return s->peak;
    if (step >= s->total) return 0;
    return s->peak * (double)(s->total - step) / (double)attn_max(1, s->total - fall);
}

double nn_step_flops(const nn_trainer_t *trainer) {
    const nn_flops_t flops = nn_sequence_flops(&trainer->net);
    return (double)trainer->training.batch * (flops.forward + flops.backward);
}
