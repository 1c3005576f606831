/* reasoning/work.c: a study from its checkpoint to its end, kept on the way. */
#include "labs/reasoning/study.h"

#include "attn/support.h"
#include "measure/measure.h"
#include "number/format.h"
#include "number/number.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 20, SAMPLES = 512, TOLD = 64 /* sequences of held-out text */ };

/*
 * A loss of ln V is a guess among V tokens, one of 2 ln V gives the right token 1/V of a guess's chance. Drawn weights
 * stay below: logits of a normed row have a variance of at most 2, so that they begin with ln V + 1 at most on average,
 * and a vocabulary has at least 12 tokens. What is above for STEPS steps has lost what it had learned.
 */
static const double lost = 2; /* times ln V */

attn_status_t study_resume(study_t *study, const lab_store_t *store, const char *name,
                           attn_error_t *error) {
    char *bytes = NULL;
    size_t size;
    if (store->read(store->data, name, &bytes, &size)) return LAB_UNFINISHED;
    const attn_status_t status =
        bytes ? study_restore(study, bytes, size, error) : (attn_status_t)ATTN_OK;
    free(bytes);
    return status;
}

attn_status_t study_keep(study_t *study, const lab_store_t *store, const char *name,
                         attn_error_t *error) {
    const attn_status_t status = study_check(study, error);
    if (status) return status;
    const size_t size = study_save(study, NULL, 0);
    char *bytes = malloc(size);
    if (!bytes)
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a checkpoint of %zu bytes", size);
    study_save(study, bytes, size);
    const int failed = store->write(store->data, name, bytes, size);
    free(bytes);
    return failed ? LAB_UNFINISHED : (attn_status_t)ATTN_OK;
}

/* Of text there are no answers: its loss on what is held out. */
static attn_status_t tell_loss(study_t *study, const lab_store_t *store, const char *name,
                               double minutes, attn_error_t *error) {
    const study_settings_t *s = &study->settings;
    double held;
    char text[200];
    const attn_status_t status = study_loss(study, TOLD, &held, error);
    if (status) return status;
    attn_format(text, sizeof text,
                "step %lld of %lld, %.2f million tokens, loss %.4f, %.4f on held-out text, at most "
                "%.0f min left",
                (long long)study->trainer.step, (long long)s->steps,
                (double)(study->trainer.step * s->training.batch * s->task.size) / 1e6, study->loss,
                held, minutes);
    store->tell(store->data, name, text);
    return ATTN_OK;
}

attn_status_t study_tell(study_t *study, const lab_store_t *store, const char *name, double pace,
                         attn_error_t *error) {
    const int64_t step = study->trainer.step, all = study->settings.steps;
    if (study->settings.task.kind == REASONING_TEXT)
        return tell_loss(study, store, name, pace * (double)(all - step) / 60, error);
    study_score_t score;
    char text[200];
    const attn_status_t status = study_solve(study, SAMPLES, &score, error);
    if (status) return status;
    const double samples = (double)score.samples;
    attn_format(text, sizeof text,
                "step %lld of %lld, loss %.4f, %.1f%% of answers right, %.1f%% of samples token by "
                "token, at most %.0f min left",
                (long long)step, (long long)all, study->loss, 100 * (double)score.answers / samples,
                100 * (double)score.whole / samples, pace * (double)(all - step) / 60);
    store->tell(store->data, name, text);
    return ATTN_OK;
}

/* STEPS steps. Errors: study_train()'s; a loss that is far above what a guess has (ATTN_ERROR_RANGE). */
static attn_status_t train(study_t *study, attn_error_t *error) {
    const int64_t from = study->trainer.step;
    double sum = 0;
    attn_status_t status = ATTN_OK;
    while (!status && !study_is_done(study) && study->trainer.step < from + STEPS) {
        status = study_train(study, 1, error);
        sum += study->loss;
    }
    const double guess = log((double)study->trainer.net.shape.vocabulary);
    const double mean = sum / (double)(study->trainer.step - from);
    if (status || !(mean > lost * guess)) return status;
    char means[32], guesses[32];
    return attn_fail(error, ATTN_ERROR_RANGE,
                     "training diverged: the loss of steps %lld to %lld is %s, a guess has %s",
                     (long long)from, (long long)study->trainer.step - 1,
                     attn_number_digits(mean, 3, means), attn_number_digits(guess, 3, guesses));
}

attn_status_t study_work(study_t *study, const lab_store_t *store, const char *name,
                         attn_error_t *error) {
    const double began = measure_clock();
    const int64_t from = study->trainer.step;
    double kept = began;
    attn_status_t status = ATTN_OK;
    while (!status && !study_is_done(study)) {
        const int stops = store->stop(store->data);
        if (!stops) status = train(study, error);
        const double now = measure_clock();
        if (status || (!stops && !study_is_done(study) && now - kept < store->seconds)) continue;
        kept = now;
        status = study_keep(study, store, name, error);
        if (!status && stops) return LAB_UNFINISHED;
        if (!status && !study_is_done(study))
            status = study_tell(study, store, name,
                                (now - began) / (double)(study->trainer.step - from), error);
    }
    return status;
}
