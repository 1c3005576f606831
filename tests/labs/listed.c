/* The experiments that a build lists find their backends in it, whichever plugins it has. */
#include "labs/lab.h"
#include "support/fixture.h"
#include "support/test.h"

#include <string.h>

/** A run of the first panel with little work: by the first of these that the panel depends on. */
static lab_run_t begin(const attn_context_t *context, const lab_t *lab) {
    static const char *const little[][2] = {{"trials", "1"}, {"budget", "0.002"}};
    lab_run_t run;
    attn_error_t error = {0};
    for (size_t i = 0; i < TEST_COUNT(little); i++) {
        lab_run_init(&run, lab, &lab->panels[0], 1);
        if (!lab_run_set(&run, little[i][0], little[i][1], NULL) &&
            !lab_run_begin(&run, context, NULL))
            return run;
    }
    lab_run_init(&run, lab, &lab->panels[0], 1);
    if (lab_run_begin(&run, context, &error)) test_fail("%s", error.message);
    return run;
}

static void compute_first(const attn_context_t *context, const lab_t *lab) {
    attn_error_t error = {0};
    double row[LAB_COLUMNS];
    test_label("%s", lab->name);
    lab_run_t run = begin(context, lab);
    if (lab_run_point(&run, 0, row, &error)) test_fail("%s", error.message);
    lab_run_end(&run);
}

static void all_compute(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (uint32_t i = 0; i < lab_count(); i++) {
        compute_first(context, lab_at(i));
        assert_ptr_equal(lab_find(lab_at(i)->name), lab_at(i));
    }
    assert_null(lab_at(lab_count()));
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(all_compute))
