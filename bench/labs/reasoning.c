/*
 * labs/reasoning.c: decoders with softmax, sparse and linear attention learn to solve dynamic programs step by step:
 * Figures 1 to 3 of "Do Efficient Transformers Really Save Computation?", on problems that a laptop can train. A
 * point is a width: a model of each kind of attention, trained from the seed and tested on questions it never saw.
 */
#include "attn/support.h"
#include "labs/declare.h"
#include "labs/judge.h"
#include "labs/reasoning/study.h"
#include "labs/statistics.h"

#include <math.h>

enum {
    TASK,
    SIZE,
    WIDTH,
    LAYERS,
    HEADS,
    BATCH,
    RATE,
    WARM,
    DROPOUT,
    MODULUS,
    BAND,
    TESTS,
    TRIALS,
    PARAMS
};

static const char *const tasks[] = {"lis", "ed", "ed_local", "arithmetic", NULL};

static const attn_param_info_t params[PARAMS] = {
    [TASK] = {.struct_size = sizeof(attn_param_info_t),
              .type = ATTN_PARAM_CHOICE,
              .name = "task",
              .label = "task",
              .help = "longest increasing subsequence, edit distance, banded edit distance, "
                      "arithmetic",
              .unit = "",
              .maximum = REASONING_KINDS - 1,
              .choices = tasks},
    [SIZE] = LAB_INTEGER("n", "problem size n", "", 2, 250, 6, "numbers, letters or operators"),
    [WIDTH] = LAB_INTEGER("d", "width D", "", 4, 1024, 32, "of a token's vector"),
    [LAYERS] = LAB_INTEGER("layers", "layers", "", 1, NN_MOST_LAYERS, 3, "blocks of the decoder"),
    [HEADS] = LAB_INTEGER("heads", "heads", "", 1, 64, 4, "of attention"),
    [BATCH] = LAB_INTEGER("batch", "batch", "", 1, 4096, 64, "samples a step; the paper's is 512"),
    [RATE] = LAB_NUMBER("rate", "learning rate", "", 1e-6, 1, 0.004,
                        "the highest; it falls linearly to 0; the paper's is 0.0001"),
    [WARM] =
        LAB_NUMBER("warm", "warm-up", "", 0, 1, 0.05, "part of the steps; the paper's is 0.05"),
    [DROPOUT] = LAB_NUMBER("dropout", "dropout", "", 0, 0.9, 0, "the paper's is 0.1"),
    [MODULUS] = LAB_INTEGER("modulus", "modulus", "", 2, 97, 5,
                            "of arithmetic, a prime; the paper's is 11"),
    [BAND] =
        LAB_INTEGER("band", "band", "", 1, 32, 2, "of ed_local: cells kept beside the diagonal"),
    [TESTS] = LAB_INTEGER("tests", "test samples", "", 32, 100000, 512,
                          "that each model answers; the paper's are 100000"),
    [TRIALS] = LAB_INTEGER("trials", "training samples", "thousands", 1, 1000000, 500,
                           "at most; a model that does 99.5% stops early; the paper's are 100000"),
};

/* ---- panels ---------------------------------------------------------------------------------------- */

enum { KINDS = 3 };
static const char *const kinds[KINDS] = {"softmax", "sparse", "linear"};

enum {
    X,
    RIGHT,
    WHOLE = RIGHT + 3 * KINDS,
    SAMPLES = WHOLE + KINDS,
    FLOPS = SAMPLES + KINDS,
    COLUMNS = FLOPS + KINDS
};
static const lab_column_t columns[COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [RIGHT] = {"softmax", "softmax", LAB_LINE, 0},
    {"softmax_low", "", LAB_LOW, 0},
    {"softmax_high", "", LAB_HIGH, 0},
    {"sparse", "sparse", LAB_LINE, 0},
    {"sparse_low", "", LAB_LOW, 0},
    {"sparse_high", "", LAB_HIGH, 0},
    {"linear", "linear", LAB_LINE, 0},
    {"linear_low", "", LAB_LOW, 0},
    {"linear_high", "", LAB_HIGH, 0},
    [WHOLE] = {"softmax_whole", "every token right under teacher forcing", LAB_HIDDEN, 0},
    {"sparse_whole", "the same, sparse", LAB_HIDDEN, 0},
    {"linear_whole", "the same, linear", LAB_HIDDEN, 0},
    [SAMPLES] = {"softmax_samples", "samples it was trained on", LAB_HIDDEN, 0},
    {"sparse_samples", "the same, sparse", LAB_HIDDEN, 0},
    {"linear_samples", "the same, linear", LAB_HIDDEN, 0},
    [FLOPS] = {"softmax_gflop", "GFLOP that a sequence takes", LAB_HIDDEN, 0},
    {"sparse_gflop", "the same, sparse", LAB_HIDDEN, 0},
    {"linear_gflop", "the same, linear", LAB_HIDDEN, 0},
};

static const double widths[] = {16, 32, 64};
#define ENOUGH 0.9 /* of answers: the share at which the paper compares widths */

#define PANEL(ID, TITLE, KIND, N)                                                                  \
    {                                                                                              \
        .id = (ID), .title = (TITLE), .flags = LAB_LONG,                                           \
        .claim = "Sparse and linear attention reach 90% of answers at no smaller width than "      \
                 "softmax does (Figures 1 to 3, Theorem 4.4).",                                    \
        .criterion = "Each width and kind: against it where its answers are surely at least 90% "  \
                     "right and those of softmax surely are not; for it where those of softmax "   \
                     "surely are, or its own surely are not.",                                     \
        .x_param = WIDTH, .grid = LAB_GRID(widths), .x = {"width D", "", 1, 0, 0},                 \
        .y = {"right answers", "", 0, 0, 1},                                                       \
        .fixed = (const lab_fixed_t[]){{TASK, (KIND)}, {SIZE, (N)}}, .fixed_count = 2,             \
        .idle = ((KIND) == REASONING_ARITHMETIC ? 0 : 1u << MODULUS) |                             \
                ((KIND) == REASONING_ED_LOCAL ? 0 : 1u << BAND) | 1u << TASK,                      \
        LAB_COLUMNS_OF(columns)                                                                    \
    }

static const lab_panel_t panels[] = {
    PANEL("lis-6", "LIS of 6 numbers", REASONING_LIS, 6),
    PANEL("lis-10", "LIS of 10 numbers", REASONING_LIS, 10),
    PANEL("lis-16", "LIS of 16 numbers", REASONING_LIS, 16),
    PANEL("ed-3", "Edit distance of 3 letters", REASONING_ED, 3),
    PANEL("ed-4", "Edit distance of 4 letters", REASONING_ED, 4),
    PANEL("ed-6", "Edit distance of 6 letters", REASONING_ED, 6),
    PANEL("ed-local-4", "Banded edit distance of 4 letters", REASONING_ED_LOCAL, 4),
    PANEL("ed-local-6", "Banded edit distance of 6 letters", REASONING_ED_LOCAL, 6),
    PANEL("arithmetic-2", "Arithmetic with 2 operators", REASONING_ARITHMETIC, 2),
    PANEL("arithmetic-3", "Arithmetic with 3 operators", REASONING_ARITHMETIC, 3),
    PANEL("arithmetic-4", "Arithmetic with 4 operators", REASONING_ARITHMETIC, 4),
};

/* ---- points ---------------------------------------------------------------------------------------- */

static attn_status_t settings_of(const lab_point_t *point, const char *backend,
                                 study_settings_t *settings, attn_error_t *error) {
    const double *values = point->values;
    const study_choice_t choice = {.kind = (int32_t)values[TASK],
                                   .size = (int32_t)values[SIZE],
                                   .modulus = (int32_t)values[MODULUS],
                                   .band = (int32_t)values[BAND],
                                   .backend = backend,
                                   .width = (int64_t)values[WIDTH],
                                   .layers = (int64_t)values[LAYERS],
                                   .heads = (int64_t)values[HEADS],
                                   .batch = (int64_t)values[BATCH],
                                   .samples = values[TRIALS],
                                   .rate = values[RATE],
                                   .warm = values[WARM],
                                   .dropout = values[DROPOUT],
                                   .seed = point->run->seed};
    return study_settings_make(&choice, settings, error);
}

static attn_status_t compute_kind(const lab_point_t *point, int kind, double *row,
                                  attn_error_t *error) {
    study_settings_t settings;
    study_score_t score = {.samples = 0};
    study_t study;
    attn_status_t status = settings_of(point, kinds[kind], &settings, error);
    if (status) return status;
    status = study_create(point->run->context, &settings, &study, error);
    if (status) return status;
    status = study_train(&study, settings.steps, error);
    if (!status) status = study_solve(&study, (int64_t)point->values[TESTS], &score, error);
    const double samples = (double)score.samples;
    const statistics_rate_t rate = statistics_rate((double)score.answers, samples);
    row[RIGHT + 3 * kind] = rate.rate;
    row[RIGHT + 3 * kind + 1] = rate.low;
    row[RIGHT + 3 * kind + 2] = rate.high;
    row[WHOLE + kind] = (double)score.whole / samples;
    row[SAMPLES + kind] = (double)(study.trainer.step * settings.training.batch);
    row[FLOPS + kind] = nn_sequence_flops(&study.trainer.net).forward / 1e9;
    study_destroy(&study);
    return status;
}

static attn_status_t compute_point(const lab_point_t *point, double *row, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    for (int kind = 0; kind < KINDS && !status; kind++)
        status = compute_kind(point, kind, row, error);
    return status;
}

/* ---- about a run ----------------------------------------------------------------------------------- */

static attn_status_t check(const lab_point_t *point, attn_error_t *error) {
    study_settings_t settings;
    if (point->values[HEADS] > point->values[WIDTH])
        return attn_fail(error, ATTN_ERROR_RANGE, "heads (%.0f) must not be more than d (%.0f)",
                         point->values[HEADS], point->values[WIDTH]);
    return settings_of(point, kinds[0], &settings, error);
}

static double cost(const lab_point_t *point) {
    study_settings_t settings;
    if (settings_of(point, kinds[0], &settings, NULL)) return 1;
    const double width = point->values[WIDTH];
    return (double)(settings.steps * settings.task.length) * width * (width + 40);
}

/* The least width at which a kind has 90%; infinite where none has. */
static double least_width(const double *rows, uint32_t count, int kind) {
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * COLUMNS;
        if (row[RIGHT + 3 * kind] >= ENOUGH) least = fmin(least, row[X]);
    }
    return least;
}

/* Each width and kind; nothing is compared where no width is enough for softmax or for that kind. */
static tally_t compare(const double *rows, uint32_t count) {
    tally_t tally = {.holds = 0};
    for (int kind = 1; kind < KINDS; kind++) {
        if (isinf(least_width(rows, count, 0)) && isinf(least_width(rows, count, kind))) continue;
        for (uint32_t i = 0; i < count; i++) {
            const double *softmax = rows + (size_t)i * COLUMNS + RIGHT, *own = softmax + 3 * kind;
            const int fails = own[1] >= ENOUGH && softmax[2] < ENOUGH;
            const int holds = softmax[1] >= ENOUGH || own[2] < ENOUGH;
            tally_add(&tally, fails ? LAB_FAILS : holds ? LAB_HOLDS : LAB_UNDECIDED);
        }
    }
    return tally;
}

static void judge(const lab_run_t *run, const double *rows, uint32_t count,
                  lab_finding_t *finding) {
    const tally_t tally = compare(rows, count);
    (void)run;
    judge_tally(&tally, "comparisons", finding);
    judge_found(finding, "The least width with 90%%:");
    for (int kind = 0; kind < KINDS; kind++) {
        const double least = least_width(rows, count, kind);
        judge_found(finding, "%s %s", kind ? "," : "", kinds[kind]);
        if (isinf(least))
            judge_found(finding, " none of these");
        else
            judge_found(finding, " %.0f", least);
    }
    judge_found(finding, ".");
}

const lab_t lab_reasoning = {
    .name = "reasoning",
    .title = "Transformers that learn dynamic programs",
    .reference = "Do Efficient Transformers Really Save Computation?, section 5, Figures 1 to 3",
    .summary = "Decoders learn to write the chain of thought of LIS, edit distance and arithmetic. "
               "With sparse and linear attention they need to be wider as problems grow, unless "
               "each step looks back a little only.",
    .params = params,
    .param_count = PARAMS,
    .panels = panels,
    .panel_count = LAB_COUNT(panels),
    .check = check,
    .point = compute_point,
    .cost = cost,
    .judge = judge,
};
