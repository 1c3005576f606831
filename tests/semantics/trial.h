/*
 * One problem with all the arrays it asks for, solved and compared number by number.
 *
 * The rules are the same for every backend that computes exact attention over the keys of a pattern:
 * each test runs over all of these, the subjects.
 */
#ifndef ATTN_TESTS_TRIAL_H
#define ATTN_TESTS_TRIAL_H

#include "support/exact.h"
#include "support/reference.h"
#include "support/test.h"
#include "support/typed.h"

/** A backend, and the pattern that its settings say. */
typedef struct trial_subject {
    const char *backend, *settings;
    formula_t formula;
} trial_subject_t;

/** The one whose turn it is, and whether it keeps all keys by having no pattern. */
const trial_subject_t *trial_subject(void);
int trial_is_dense(void);

/** Goes on to the next that this build has; returns 0 after the last. */
int trial_next_subject(void);

/** Another one instead, that stays where it is; NULL: the one whose turn it is. */
void trial_set_subject(const trial_subject_t *subject);

/** main() of a test of semantics: all tests, for each subject. */
#define SEMANTICS_MAIN(...)                                                                        \
    int main(void) {                                                                               \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        int failed = 0;                                                                            \
        if (!test_begin()) return TEST_SKIPPED;                                                    \
        while (trial_next_subject())                                                               \
            failed += cmocka_run_group_tests_name(trial_subject()->backend, tests, NULL, NULL);    \
        return failed;                                                                             \
    }

/** Rules that parts of the keys, or of the queries, see each in its own way: number 1 to 8 of them; others change nothing. */
void trial_set_rules(attn_problem_t *problem, int kind);

/** How the arrays of a trial look. */
typedef struct look {
    layout_t layout;
    int bias_axes, mask_axes; /**< bit k: axis k of bias or mask is 1, the same for all */
    int lse, scores;          /**< whether they are asked for */
} look_t;

typedef struct trial {
    attn_problem_t problem;
    look_t look;
    typed_t query, key, value, out, lse, bias, mask, lengths, sinks, slopes, key_scales,
        value_scales, scores;
    char *workspace; /**< guarded */
    int bf16_parts; /**< of each factor in the products of the last plan that ran; 0: they are of floats */
    attn_io_t io;
} trial_t;

/**
 * Inputs are normal numbers; a part of the bias is -inf and of the mask false, whole rows of it
 * too; lengths are drawn from 0 to m.
 */
trial_t trial_create(const attn_problem_t *problem, const look_t *look);
void trial_destroy(trial_t *trial);

/** Names the trial for the message of a test that fails. */
void trial_label(const trial_t *trial, const char *what);

/** Whether a query sees a key, by every rule and by the pattern. */
int trial_sees(const trial_t *trial, int64_t batch, int64_t head, int64_t query, int64_t key);

/** exact_create() under the subject's pattern. */
exact_t trial_exact(const trial_t *trial);

/** How the last plan that ran rounds. */
arithmetic_t trial_arithmetic(const trial_t *trial);

/** A plan of the subject. */
attn_plan_t *trial_plan(const attn_context_t *context, const attn_problem_t *problem);

/** Seal the inputs, run the subject (which must succeed), check guards. */
void trial_solve(const attn_context_t *context, trial_t *trial);

/** The same with a plan that is there. */
void trial_run(const attn_plan_t *plan, trial_t *trial);

/** Out and lse anew, from a stream of these settings that the trial's keys and values come to in two parts. */
void trial_run_stream(const attn_context_t *context, trial_t *trial, const char *settings);

/** Give the io a guarded workspace of exactly the plan's size; trial_run() does it by itself. */
void trial_give_workspace(const attn_plan_t *plan, trial_t *trial);

/** Fail if a byte beside the workspace was written. */
void trial_check_workspace(const trial_t *trial);

/**
 * Fail unless out, lse and scores are exact attention's and, on the build's lowest tier, the oracle
 * says the same, where there is no pattern: it has neither.
 */
void trial_compare(const trial_t *trial);

/** Fail unless attn_weights() of a plan gives exact attention's weights. */
void trial_check_weights(const attn_plan_t *plan, trial_t *trial);

/** The same where what they are exact of is another problem with as many rows and keys, and its arrays. */
void trial_compare_weights(const attn_plan_t *plan, trial_t *trial, exact_t *exact,
                           const attn_problem_t *problem, const attn_io_t *io);

/** Whether the subject has gradients of this problem. */
int trial_has_gradients(const attn_context_t *context, const attn_problem_t *problem);

/** Fail unless all gradients of a run are exact attention's; a trial of its own, with lse. */
void trial_check_gradients(const attn_context_t *context, const attn_problem_t *problem,
                           const look_t *look);

/** The same of somebody else's run and gradients: an array of each, absent where the problem has none. That of out is read.
 *  `steps` are those of combined_compare_row(). */
enum {
    TRIAL_OUT,
    TRIAL_QUERY,
    TRIAL_KEY,
    TRIAL_VALUE,
    TRIAL_BIAS,
    TRIAL_SINKS,
    TRIAL_SLOPES,
    TRIAL_GRADIENTS
};
typedef void trial_back_t(void *data, trial_t *trial, typed_t *const gradients[TRIAL_GRADIENTS]);
void trial_check_gradients_by(const attn_problem_t *problem, const look_t *look, double steps,
                              trial_back_t *solve, void *data);

/** The same of sparse where a run's arrays decide what a query sees: as under the mask of its weights. */
void trial_check_chosen(const attn_context_t *context, const attn_problem_t *problem,
                        const look_t *look, const char *settings);

/** A case of a sweep: create, label, solve, compare, destroy; of some its gradients too. */
void trial_check(const attn_context_t *context, const attn_problem_t *problem, const look_t *look,
                 const char *what);

#endif
