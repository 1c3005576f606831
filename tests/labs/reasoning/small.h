/* The small study that tests of this folder train: LIS of 4 numbers, 2 layers of 16 columns. */
#ifndef TESTS_REASONING_SMALL_H
#define TESTS_REASONING_SMALL_H

#include "labs/reasoning/study.h"
#include "support/test.h"

/* It learns within its steps: tests/labs/reasoning/study.c. */
static inline study_settings_t small_study(const char *backend) {
    study_settings_t settings = {.backend = backend,
                                 .width = 16,
                                 .heads = 2,
                                 .layers = 2,
                                 .training = nn_training_paper(3),
                                 .rate = 0.005,
                                 .warm = 20,
                                 .steps = 700,
                                 .enough = 0.95};
    settings.training.batch = 32;
    settings.training.dropout = 0;
    assert_int_equal(reasoning_make(REASONING_LIS, 4, 0, 0, &settings.task, NULL), ATTN_OK);
    return settings;
}

#endif
