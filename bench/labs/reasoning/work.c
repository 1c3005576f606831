/* reasoning/work.c: a study from its checkpoint to its end, kept on the way. */
#include "labs/reasoning/study.h"

#include "attn/support.h"
#include "measure/measure.h"
#include "number/format.h"

#include <stdlib.h>

enum { STEPS = 20, SAMPLES = 512 };

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

attn_status_t study_tell(study_t *study, const lab_store_t *store, const char *name, double pace,
                         attn_error_t *error) {
    const int64_t step = study->trainer.step, all = study->settings.steps;
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

attn_status_t study_work(study_t *study, const lab_store_t *store, const char *name,
                         attn_error_t *error) {
    const double began = measure_clock();
    const int64_t from = study->trainer.step;
    double kept = began;
    attn_status_t status = ATTN_OK;
    while (!status && !study_is_done(study)) {
        const int stops = store->stop(store->data);
        if (!stops) status = study_train(study, STEPS, error);
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
