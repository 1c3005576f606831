/* reasoning/study.c: see study.h. */
#include "labs/reasoning/study.h"

#include "attn/support.h"
#include "labs/nn/decode.h"
#include "number/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_steps = 1e12;
enum {
    LOOK_STEPS = 250,    /* between looks whether it is enough */
    LOOK_SAMPLES = 256,  /* that a look takes */
    TOGETHER = 32,       /* sequences that are decoded side by side */
    SEED_TEST = 1000003, /* test samples are those of one seed, whatever the study's */
};

/*
 * ED compares letters of two words: with Xavier's embedding, 1/5 of the positions that it is added to, models learn the
 * rest of the table and not when letters are the same. A deviation of 1 is that of arXiv:2305.15408's program.
 */
study_learning_t study_learning(int32_t kind) {
    static const study_learning_t learning[REASONING_KINDS] = {
        [REASONING_LIS] = {.rate = 0.004, .samples = 500},
        [REASONING_ED] = {.rate = 0.004, .samples = 500, .embedding = 1},
        [REASONING_ED_LOCAL] = {.rate = 0.004, .samples = 500, .embedding = 1},
        [REASONING_ARITHMETIC] = {.rate = 0.004, .samples = 500},
        [REASONING_TEXT] = {.rate = 0.004,
                            .samples = 20,
                            .embedding = 0.05,
                            .warm = 100,
                            .cool = 0.25,
                            .beta2 = 0.99},
    };
    return learning[kind];
}

/* Steps that do not depend on how many there are leave a training's beginning what it is when it becomes longer. */
static int64_t warm_steps(const study_choice_t *choice, const study_learning_t *learning,
                          int64_t steps) {
    if (choice->warm >= 0) return (int64_t)(choice->warm * (double)steps);
    return learning->warm ? learning->warm : (int64_t)(STUDY_WARM * (double)steps);
}

static double either(double chosen, double automatic) { return chosen > 0 ? chosen : automatic; }

attn_status_t study_settings_make(const study_choice_t *choice, study_settings_t *settings,
                                  attn_error_t *error) {
    reasoning_task_t task;
    const attn_status_t status =
        reasoning_make(choice->kind, choice->size, choice->modulus, choice->band, &task, error);
    if (status) return status;
    const study_learning_t learning = study_learning(choice->kind);
    const double samples = 1000 * either(choice->samples, learning.samples);
    const double steps = ceil(samples / (double)choice->batch);
    char given[32], most[32];
    if (!(steps >= 1 && steps <= most_steps))
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "%s thousand samples, expected at most %s in batches of %lld",
                         attn_number_digits(samples / 1000, 6, given),
                         attn_number_digits(most_steps / 1000 * (double)choice->batch, 6, most),
                         (long long)choice->batch);
    *settings = (study_settings_t){
        .task = task,
        .backend = choice->backend,
        .params = choice->params,
        .param_count = choice->param_count,
        .width = choice->width,
        .heads = choice->heads,
        .layers = choice->layers,
        .training = nn_training_paper(choice->seed),
        .rate = either(choice->rate, learning.rate),
        .steps = (int64_t)steps,
        .enough = choice->kind == REASONING_TEXT ? 2 : 0.995,
    };
    settings->training.batch = choice->batch;
    settings->training.dropout = (float)choice->dropout;
    settings->training.embedding = either(choice->embedding, learning.embedding);
    settings->training.beta2 = either(learning.beta2, settings->training.beta2);
    settings->warm = warm_steps(choice, &learning, settings->steps);
    settings->cool = choice->constant ? 0 : (int64_t)(learning.cool * (double)settings->steps);
    settings->constant = choice->constant;
    return ATTN_OK;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

nn_shape_t study_shape(const study_settings_t *settings) {
    return (nn_shape_t){.vocabulary = settings->task.vocabulary,
                        .length = settings->task.length - 1, /* <eos> is no input */
                        .width = settings->width,
                        .heads = settings->heads,
                        .layers = settings->layers,
                        .tied = settings->task.kind == REASONING_TEXT,
                        .backend = settings->backend,
                        .params = settings->params,
                        .param_count = settings->param_count};
}

attn_status_t study_create(const attn_context_t *context, const study_settings_t *settings,
                           study_t *study, attn_error_t *error) {
    const nn_shape_t shape = study_shape(settings);
    *study = (study_t){.settings = *settings, .context = context};
    attn_status_t status =
        nn_trainer_create(context, &shape, &settings->training, &study->trainer, error);
    if (status) return status;
    const size_t count = (size_t)(attn_max(settings->training.batch, TOGETHER) * shape.length);
    study->tokens = malloc(2 * count * sizeof *study->tokens);
    study->sample = malloc(sizeof *study->sample);
    if (!study->tokens || !study->sample) {
        study_destroy(study);
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a batch");
    }
    study->targets = study->tokens + count;
    return ATTN_OK;
}

void study_destroy(study_t *study) {
    nn_trainer_destroy(&study->trainer);
    free(study->tokens);
    free(study->sample);
    study->tokens = NULL;
    study->sample = NULL;
}

/* ---- samples --------------------------------------------------------------------------------------- */

/* Sample as row `row` of a batch: each token's target is the next; what is asked counts for nothing. */
static void put(study_t *study, int64_t row) {
    const int64_t length = study->trainer.net.shape.length;
    const reasoning_sample_t *sample = study->sample;
    int32_t *tokens = study->tokens + row * length, *targets = study->targets + row * length;
    for (int64_t i = 0; i < length; i++) {
        tokens[i] = i < sample->count ? sample->tokens[i] : REASONING_PAD;
        const int answers = i + 1 >= sample->question && i + 1 < sample->count;
        targets[i] = answers ? sample->tokens[i + 1] : -1;
    }
}

static void draw_test(study_t *study, int64_t number) {
    reasoning_draw(&study->settings.task, SEED_TEST, REASONING_TEST, (uint64_t)number,
                   study->sample);
}

/* ---- training -------------------------------------------------------------------------------------- */

int study_is_done(const study_t *study) {
    return study->enough || study->trainer.step >= study->settings.steps;
}

static attn_status_t look(study_t *study, attn_error_t *error) {
    const int64_t step = study->trainer.step;
    study_score_t score;
    if (step % LOOK_STEPS != 0 || step == study->looked || study->settings.enough > 1)
        return ATTN_OK;
    const attn_status_t status = study_teach(study, LOOK_SAMPLES, &score, error);
    study->looked = step;
    study->enough = (double)score.whole >= study->settings.enough * (double)score.samples;
    return status;
}

/* The batch of the step that comes. */
static void draw_batch(study_t *study) {
    const nn_training_t *training = &study->settings.training;
    for (int64_t s = 0; s < training->batch; s++) {
        reasoning_draw(&study->settings.task, training->seed, REASONING_TRAIN,
                       (uint64_t)(study->trainer.step * training->batch + s), study->sample);
        put(study, s);
    }
}

/* Of text, that there is one to draw samples from. */
static attn_status_t check_corpus(const study_t *study, attn_error_t *error) {
    const reasoning_task_t *task = &study->settings.task;
    if (task->kind != REASONING_TEXT || task->corpus) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_ARGUMENT, "a study of text needs a corpus to learn");
}

attn_status_t study_check(study_t *study, attn_error_t *error) {
    double loss;
    const attn_status_t status = check_corpus(study, error);
    if (status) return status;
    draw_batch(study);
    return nn_trainer_loss(&study->trainer, study->tokens, study->targets, &loss, error);
}

attn_status_t study_train(study_t *study, int64_t steps, attn_error_t *error) {
    const study_settings_t *settings = &study->settings;
    nn_trainer_t *trainer = &study->trainer;
    const nn_schedule_t schedule = {settings->rate, settings->warm, settings->steps,
                                    settings->constant, settings->cool};
    const int64_t end = trainer->step + steps;
    attn_status_t status = check_corpus(study, error);
    while (!status && trainer->step < end && !study_is_done(study)) {
        const double rate = nn_rate(&schedule, trainer->step);
        draw_batch(study);
        status = nn_trainer_step(trainer, study->tokens, study->targets, rate, &study->loss, error);
        if (!status) status = look(study, error);
    }
    return status;
}

/* ---- how well -------------------------------------------------------------------------------------- */

attn_status_t study_loss(study_t *study, int64_t samples, double *loss, attn_error_t *error) {
    const nn_shape_t *shape = &study->trainer.net.shape;
    nn_pass_t *pass = &study->trainer.passes[0];
    attn_status_t status = check_corpus(study, error);
    double sum = 0, targets = 0;
    pass->dropout = (nn_dropout_t){.rate = 0};
    for (int64_t s = 0; s < samples && !status; s++) {
        draw_test(study, s);
        put(study, 0);
        status = nn_forward(pass, study->tokens, 1, error);
        if (status) break;
        sum += study->trainer.net.kernels->entropy(shape->length, shape->vocabulary, study->targets,
                                                   1, pass->logits);
        for (int64_t i = 0; i < shape->length; i++) targets += study->targets[i] >= 0;
    }
    *loss = sum / targets;
    return status;
}

static int is_whole(const study_t *study, const nn_pass_t *pass, int64_t row) {
    const nn_shape_t *shape = &study->trainer.net.shape;
    for (int64_t i = row * shape->length; i < (row + 1) * shape->length; i++)
        if (study->targets[i] >= 0 && nn_largest(pass->logits + i * shape->vocabulary,
                                                 shape->vocabulary) != study->targets[i])
            return 0;
    return 1;
}

attn_status_t study_teach(study_t *study, int64_t samples, study_score_t *score,
                          attn_error_t *error) {
    nn_pass_t *pass = &study->trainer.passes[0];
    attn_status_t status = check_corpus(study, error);
    *score = (study_score_t){.samples = samples};
    pass->dropout = (nn_dropout_t){.rate = 0};
    for (int64_t s = 0, count; s < samples && !status; s += count) {
        count = attn_min(attn_min(pass->room, TOGETHER), samples - s);
        for (int64_t r = 0; r < count; r++) {
            draw_test(study, s + r);
            put(study, r);
        }
        status = nn_forward(pass, study->tokens, count, error);
        for (int64_t r = 0; r < count && !status; r++) score->whole += is_whole(study, pass, r);
    }
    return status;
}

/* What row r is fed at position p, and from its question's end on what it says itself: into study->tokens. */
static attn_status_t decode(study_t *study, nn_decoder_t *decoder, const int32_t *questions,
                            attn_error_t *error) {
    const int64_t length = study->trainer.net.shape.length;
    const int64_t vocabulary = study->trainer.net.shape.vocabulary;
    int32_t tokens[TOGETHER];
    attn_status_t status = nn_decoder_restart(decoder, error);
    for (int64_t p = 0; p < length && !status; p++) {
        for (int64_t r = 0; r < TOGETHER; r++) tokens[r] = study->tokens[r * length + p];
        status = nn_decoder_step(decoder, tokens, error);
        for (int64_t r = 0; r < TOGETHER && p + 1 < length && !status; r++)
            if (p + 1 >= questions[r])
                study->tokens[r * length + p + 1] =
                    nn_largest(decoder->logits + r * vocabulary, vocabulary);
    }
    return status;
}

/* The next `count` test samples, in rows; rows that are left over say the last again. */
static attn_status_t solve_some(study_t *study, nn_decoder_t *decoder, int64_t first, int64_t count,
                                study_score_t *score, attn_error_t *error) {
    const int64_t length = study->trainer.net.shape.length;
    int32_t questions[TOGETHER], answers[TOGETHER];
    for (int64_t r = 0; r < TOGETHER; r++) {
        draw_test(study, first + attn_min(r, count - 1));
        put(study, r);
        questions[r] = study->sample->question;
        answers[r] = reasoning_answer(study->sample->tokens, study->sample->count);
    }
    const attn_status_t status = decode(study, decoder, questions, error);
    for (int64_t r = 0; r < count && !status; r++)
        score->answers += reasoning_answer(study->tokens + r * length, length) == answers[r];
    return status;
}

attn_status_t study_solve(study_t *study, int64_t samples, study_score_t *score,
                          attn_error_t *error) {
    nn_decoder_t decoder;
    attn_status_t status = study_teach(study, samples, score, error);
    if (!status)
        status = nn_decoder_create(study->context, &study->trainer.net, study->trainer.weights,
                                   TOGETHER, &decoder, error);
    if (status) return status;
    for (int64_t s = 0; s < samples && !status; s += TOGETHER)
        status = solve_some(study, &decoder, s, attn_min(TOGETHER, samples - s), score, error);
    nn_decoder_destroy(&decoder);
    return status;
}
