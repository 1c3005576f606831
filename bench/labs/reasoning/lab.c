/*
 * labs/reasoning/lab.c: decoders with softmax, linear and sparse attention learn to solve dynamic programs step by step:
 * Figures 1 to 3 and Table 2 of "Do Efficient Transformers Really Save Computation?", at the paper's sizes and at
 * those that a laptop can train. A point is a cell: one model, trained from its seed and tested on questions it never
 * saw; panels that have a cell in common have its checkpoint in common, too.
 */
#include "labs/reasoning/lab.h"
#include "attn/support.h"
#include "labs/declare.h"
#include "labs/judge.h"
#include "labs/reasoning/study.h"
#include "labs/statistics.h"
#include "number/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAYERS,
    HEADS,
    BATCH,
    RATE,
    WARM,
    SCHEDULE,
    DROPOUT,
    EMBEDDING,
    MODULUS,
    BAND,
    TESTS,
    TRIALS,
    SEEDS,
    PARAMS
};

static const char *const schedules[] = {"linear", "constant", NULL};

static const attn_param_info_t params[PARAMS] = {
    [LAYERS] = LAB_INTEGER("layers", "layers", "", 1, NN_MOST_LAYERS, 3, "blocks of the decoder"),
    [HEADS] = LAB_INTEGER("heads", "heads", "", 1, 16, 4, "of attention"),
    [BATCH] = LAB_INTEGER("batch", "batch", "", 1, 4096, 64, "samples a step; the paper's is 512"),
    [RATE] = {.struct_size = sizeof(attn_param_info_t),
              .type = ATTN_PARAM_NUMBER,
              .name = "rate",
              .label = "learning rate",
              .help = "the highest; the paper's is 0.0001",
              .unit = "",
              .minimum = 1e-6,
              .maximum = 1,
              .automatic = "the task's"},
    [WARM] = LAB_NUMBER("warm", "warm-up", "", 0, 1, STUDY_WARM,
                        "part of the steps; the paper's is 0.05"),
    [SCHEDULE] = {.struct_size = sizeof(attn_param_info_t),
                  .type = ATTN_PARAM_CHOICE,
                  .name = "schedule",
                  .label = "schedule",
                  .help =
                      "after warm-up the rate falls linearly to 0, as the paper's, or is constant",
                  .unit = "",
                  .maximum = 1,
                  .choices = schedules},
    [DROPOUT] = LAB_NUMBER("dropout", "dropout", "", 0, 0.9, 0, "the paper's is 0.1"),
    [EMBEDDING] = {.struct_size = sizeof(attn_param_info_t),
                   .type = ATTN_PARAM_NUMBER,
                   .name = "embedding",
                   .label = "embedding",
                   .help = "standard deviation that the embedding begins with",
                   .unit = "",
                   .minimum = 1e-6,
                   .maximum = 100,
                   .automatic = "the task's"},
    [MODULUS] = LAB_INTEGER("modulus", "modulus", "", 2, 97, 5,
                            "of arithmetic, a prime; the paper's is 11"),
    [BAND] =
        LAB_INTEGER("band", "band", "", 1, 32, 2, "of ed_local: cells kept beside the diagonal"),
    [TESTS] = LAB_INTEGER("tests", "test samples", "", 32, 100000, 2048,
                          "that each model answers; the paper's are 100000"),
    [TRIALS] = {.struct_size = sizeof(attn_param_info_t),
                .type = ATTN_PARAM_INTEGER,
                .name = "trials",
                .label = "training samples",
                .help = "at most; a model that does 99.5% stops early; the paper's are 100000",
                .unit = "thousands",
                .minimum = 1,
                .maximum = 1000000,
                .automatic = "the task's"},
    [SEEDS] = LAB_INTEGER("seeds", "seeds", "", 1, 100, 1, "models of each cell"),
};

/* ---- panels ---------------------------------------------------------------------------------------- */

#define CELL_COLUMNS                                                                               \
    [REASONING_X] = {"x", "cell", LAB_HIDDEN, 0},                                                  \
    [REASONING_TASK] = {"task", "task", LAB_HIDDEN, 0},                                            \
    [REASONING_SIZE] = {"n", "problem size n", LAB_HIDDEN, 0},                                     \
    [REASONING_ATTENTION] = {"attention", "attention", LAB_HIDDEN, 0},                             \
    [REASONING_WIDTH] = {"d", "width D", LAB_HIDDEN, 0},                                           \
    [REASONING_SEED] = {"seed", "seed", LAB_HIDDEN, 0},                                            \
    [REASONING_RIGHT] = {"right", "answers right, decoded greedily", LAB_LINE, 0},                 \
    [REASONING_LOW] = {"low", "", LAB_LOW, 0}, [REASONING_HIGH] = {"high", "", LAB_HIGH, 0},       \
    [REASONING_WHOLE] = {"whole", "every token right under teacher forcing", LAB_HIDDEN, 0},       \
    [REASONING_SAMPLES] = {"samples", "samples it was trained on", LAB_HIDDEN, 0},                 \
    [REASONING_GFLOP] = {"gflop", "GFLOP that a sequence takes", LAB_HIDDEN, 0}
static const lab_column_t columns[REASONING_COLUMNS] = {CELL_COLUMNS};
static const lab_column_t locality_columns[REASONING_LOCALITY_COLUMNS] = {
    CELL_COLUMNS,
    [REASONING_BAND] = {"band", "band; 0: whole rows", LAB_HIDDEN, 0},
};
static const char *name_of(uint32_t column, double value) {
    if (column == REASONING_TASK) return reasoning_name((int32_t)value);
    return column == REASONING_ATTENTION ? reasoning_attention((int32_t)value) : NULL;
}

static const lab_tiles_t tiles = {.map_row = REASONING_ATTENTION,
                                  .map_column = REASONING_TASK,
                                  .x = REASONING_WIDTH,
                                  .y = REASONING_SIZE,
                                  .shade = REASONING_RIGHT};

static const lab_tiles_t locality_tiles = {.map_row = REASONING_ATTENTION,
                                           .map_column = REASONING_SIZE,
                                           .x = REASONING_WIDTH,
                                           .y = REASONING_BAND,
                                           .shade = REASONING_RIGHT};

static const lab_column_t table_columns[REASONING_TABLE_COLUMNS] = {
    {"x", "", LAB_HIDDEN, 0},
    {"softmax", "softmax", LAB_LINE, 0},
    {"linear", "linear", LAB_LINE, 0},
    {"sparse", "sparse", LAB_LINE, 0},
};

static const lab_column_t width_columns[REASONING_WIDTH_COLUMNS] = {
    {"x", "", LAB_HIDDEN, 0},
    {"softmax", "softmax, by training", LAB_LINE, 0},
    {"linear", "linear, by training", LAB_LINE, 0},
    {"sparse", "sparse, by training", LAB_LINE, 0},
    [REASONING_CAPACITY] = {"capacity", "linear, by what a layer's state can hold", LAB_BOUND, 0},
};

#define SOLVES                                                                                     \
    .plain = "Softmax attention solves all tasks with one model size.",                            \
    .claim = "Softmax attention solves all tasks at all sizes at one fixed width (Figure 1).",     \
    .states = "Figure 1",                                                                          \
    .criterion = "Each task and size, at the width at which most are solved: for it where surely " \
                 "90% of answers are right, the paper's share, against it where surely fewer are."
#define LARGER_COUNTS                                                                              \
    "The least width with surely 90% of answers, of linear and of sparse at each size: for it "    \
    "where it is surely larger than softmax's, against it where surely smaller; equal widths "     \
    "decide nothing, and are counted apart."
#define WIDER                                                                                      \
    .plain = "Sparse and linear attention need bigger models for bigger problems.",                \
    .claim = "Linear and sparse attention generally need more width than softmax for 90% of "      \
             "answers, and on LIS more for larger problems (Figure 1).",                           \
    .criterion = LARGER_COUNTS                                                                     \
        " On LIS, the task without locality, also: for it where the largest problem surely needs " \
        "more than the smallest, against it where surely not. On arithmetic and ED growth is not " \
        "asked.",                                                                                  \
    .states = "Figure 1"
#define WIDER_DEEP                                                                                 \
    .plain = "With more layers, too, sparse and linear attention need bigger models.",             \
    .claim = "With 5 layers, linear and sparse attention generally need more width than softmax "  \
             "for 90% of answers on ED, as with 3 (Figure 3).",                                    \
    .criterion = LARGER_COUNTS, .states = "Figure 3"
#define LOCAL                                                                                      \
    .plain = "Problems that look back a little only need less width of sparse and linear "         \
             "attention.",                                                                         \
    .claim = "Linear and sparse attention need less width for 90% of answers where each step "     \
             "looks back a little only (Figure 2: locality reduces the necessary width).",         \
    .criterion = "Each size: for it where the least width with 90% of answers is surely smaller "  \
                 "on ED_LOCAL than on ED, against it where surely larger; equal widths decide "    \
                 "nothing, and are counted apart.",                                                \
    .states = "Figure 2"
#define MORE_LOCAL                                                                                 \
    .plain = "The less each step looks back, the less width linear attention needs.",              \
    .claim = "Linear attention needs less width for 90% of answers as the steps of edit distance " \
             "look back less: bands of 1 and of 2 cells beside the diagonal, and whole rows "      \
             "(Figure 2: locality reduces the necessary width).",                                  \
    .states = "Figure 2",                                                                          \
    .criterion = "Each band beside the next wider one: for it where its least width with 90% of "  \
                 "answers is surely smaller, against it where surely larger; equal widths decide " \
                 "nothing."
#define FEWEST                                                                                     \
    .plain = "Softmax attention needs the least work to be good enough.",                          \
    .claim = "Softmax attention needs the fewest operations for 90% of answers (Table 2).",        \
    .states = "Table 2",                                                                           \
    .criterion = "Each size, of the narrowest model with surely 90%: for it where linear and "     \
                 "sparse need at least as many operations, or reach it at no width."

#define GROWS                                                                                      \
    .plain = "Bigger problems need wider models of sparse and linear attention.",                  \
    .claim = "Linear and sparse attention need more width for larger problems (Table 1), and not " \
             "less than a state that holds the L numbers that a step may ask for.",                \
    .criterion = "The least trained width with surely 90% of answers, of linear and of sparse: "   \
                 "each size against it where it is below the state's; the largest size also "      \
                 "where it is not above the smallest's; else for it. A width beyond the grid is "  \
                 "more than those in it.",                                                         \
    .states = "Table 1; Theorem 4.4"

/* Sparse attention may have a constant width, and linear attention's lower bound is below every width that is tried. */
#define MAY_STAY                                                                                   \
    .plain = "Whether arithmetic of more operators needs wider models.",                           \
    .claim = "For arithmetic, sparse attention can have a constant width (Proposition 5.1), and "  \
             "linear attention needs one that grows at least as L^0.25 (Proposition 5.2).",        \
    .criterion = "None: a width that training finds is no proof that a smaller one cannot do, "    \
                 "softmax's grows alike, and a state that holds sqrt L numbers is narrower than "  \
                 "all widths tried.",                                                              \
    .states = "Table 1"

/* At sizes that a laptop trains all kinds of attention reach 90% at widths that are equal, or nearly. */
#define TIES                                                                                       \
    .plain = "Whether softmax attention needs the least work to be good enough.",                  \
    .claim = "Softmax attention needs the fewest operations for 90% of answers (Table 2).",        \
    .states = "Table 2",                                                                           \
    .criterion = "None: where least widths are equal, operations differ by those of attention "    \
                 "alone, and widths are 16, 32 and 64."

/* Where a panel is judged. */
#define AT_LAPTOP                                                                                  \
    "At sizes that a laptop trains: LIS of 6 to 16 numbers, ED of 3 to 6 letters, arithmetic of "  \
    "2 to 4 operators modulo 5, D = 16 to 64."
#define AT_PAPER "At the paper's sizes, widths and training; arithmetic modulo 11."

#define CELLS(COUNT)                                                                               \
    .grid = {.count = (COUNT), .first = 0, .step = 1}, .x = {"cell", "", 0, 0, 0},                 \
    .y = {"right answers", "", 0, 0, 1}, LAB_COLUMNS_OF(columns), .tiles = &tiles,                 \
    .name_of = name_of
#define TABLE(SIZES)                                                                               \
    .grid = LAB_GRID(SIZES), .x = {"operators", "", 0, 0, 0},                                      \
    .y = {"GFLOP of a sequence", "", 1, 0, 0}, LAB_COLUMNS_OF(table_columns)

#define WIDTHS(SIZES, LABEL)                                                                       \
    .grid = LAB_GRID(SIZES), .x = {(LABEL), "", 0, 0, 0}, .y = {"least width D", "", 1, 0, 0},     \
    LAB_COLUMNS_OF(width_columns)

/* What every panel has; IDLE: bits of parameters that make no difference to it. */
#define PANEL_AS(FLAGS, ID, PRESET, WHERE, TITLE, FIXED, IDLE)                                     \
    .id = (ID), .preset = (PRESET), .where = (WHERE), .title = (TITLE),                            \
    .flags = LAB_LONG | (FLAGS), .fixed = (FIXED), .fixed_count = LAB_COUNT(FIXED),                \
    .idle = (IDLE), .x_param = LAB_NO_PARAM
#define PANEL(ID, ...) PANEL_AS(0, ID, __VA_ARGS__)
#define SHOWN(ID, ...) PANEL_AS(LAB_ILLUSTRATION, ID, __VA_ARGS__)
#define LAPTOP "laptop", AT_LAPTOP
#define AS_PAPER "paper", AT_PAPER
#define NO_BAND (1u << BAND)
#define NO_MODULUS (1u << MODULUS)

#define LOCALITY_CELLS                                                                             \
    .grid = {.count = 18, .first = 0, .step = 1}, .x = {"cell", "", 0, 0, 0},                      \
    .y = {"right answers", "", 0, 0, 1}, LAB_COLUMNS_OF(locality_columns),                         \
    .tiles = &locality_tiles, .name_of = name_of

static const double table_sizes[] = {2, 3, 4}, table_sizes_paper[] = {6, 10, 13, 16};
static const double lis_sizes[] = {6, 10, 16}, lis_sizes_paper[] = {40, 110, 175, 250};
static const lab_fixed_t three[] = {{LAYERS, 3}}, five[] = {{LAYERS, 5}};
#define PAPER                                                                                      \
    {BATCH, 512}, {RATE, 1e-4}, {DROPOUT, 0.1}, {MODULUS, 11}, {TESTS, 100000}, { TRIALS, 100000 }
static const lab_fixed_t paper_three[] = {{LAYERS, 3}, PAPER}, paper_five[] = {{LAYERS, 5}, PAPER};

static const lab_panel_t panels[] = {
    {PANEL("softmax", LAPTOP, "Softmax attention on every task", three, 0), SOLVES, CELLS(36)},
    {PANEL("figure-1", LAPTOP, "Right answers by width and size", three, NO_BAND), WIDER,
     CELLS(81)},
    {PANEL("figure-2", LAPTOP, "Edit distance, banded and not", three, NO_MODULUS), LOCAL,
     CELLS(36)},
    {PANEL("figure-3", LAPTOP, "Edit distance with 5 layers", five, NO_MODULUS | NO_BAND),
     WIDER_DEEP, CELLS(27)},
    {SHOWN("table-2", LAPTOP, "Least operations for 90% of answers", three, NO_BAND), TIES,
     TABLE(table_sizes)},
    {PANEL("paper-softmax", AS_PAPER, "Softmax attention on every task", paper_three, 0), SOLVES,
     CELLS(92)},
    {PANEL("paper-figure-1", AS_PAPER, "Right answers by width and size", paper_three, NO_BAND),
     WIDER, CELLS(204)},
    {PANEL("paper-figure-2", AS_PAPER, "Edit distance, banded and not", paper_three, NO_MODULUS),
     LOCAL, CELLS(96)},
    {PANEL("paper-figure-3", AS_PAPER, "Edit distance with 5 layers", paper_five,
           NO_MODULUS | NO_BAND),
     WIDER_DEEP, CELLS(72)},
    {PANEL("paper-table-2", AS_PAPER, "Least operations for 90% of answers", paper_three, NO_BAND),
     FEWEST, TABLE(table_sizes_paper)},
    {PANEL("widths-lis", LAPTOP, "Least width by training, LIS", three, NO_BAND | NO_MODULUS),
     GROWS, WIDTHS(lis_sizes, "numbers")},
    {SHOWN("widths-arithmetic", LAPTOP, "Least width by training, arithmetic", three, NO_BAND),
     MAY_STAY, WIDTHS(table_sizes, "operators")},
    {PANEL("locality", "laptop",
           "Words of 3 letters, D = 16, 24, 32, 40, 48 and 64, up to 500 thousand samples a model.",
           "Edit distance by locality and width", three, NO_MODULUS | NO_BAND),
     MORE_LOCAL, LOCALITY_CELLS},
    {PANEL("paper-widths-lis", AS_PAPER, "Least width by training, LIS", paper_three,
           NO_BAND | NO_MODULUS),
     GROWS, WIDTHS(lis_sizes_paper, "numbers")},
    {SHOWN("paper-widths-arithmetic", AS_PAPER, "Least width by training, arithmetic", paper_three,
           NO_BAND),
     MAY_STAY, WIDTHS(table_sizes_paper, "operators")},
};

#define ALL_KINDS REASONING_NUMBERS(REASONING_SOFTMAX, REASONING_LINEAR, REASONING_SPARSE)

/* What is in them, in their order. */
#define GRID(CLAIM, PAPER, TASKS, ATTENTIONS)                                                      \
    { .claim = (CLAIM), .paper = (PAPER), .tasks = TASKS, .attentions = ATTENTIONS }
#define SOFTMAX_ALONE REASONING_NUMBERS(REASONING_SOFTMAX)
#define LINEAR_AND_SPARSE REASONING_NUMBERS(REASONING_LINEAR, REASONING_SPARSE)
#define ALL_TASKS                                                                                  \
    REASONING_NUMBERS(REASONING_ARITHMETIC, REASONING_ED, REASONING_ED_LOCAL, REASONING_LIS)
#define FIGURE_1_TASKS REASONING_NUMBERS(REASONING_ARITHMETIC, REASONING_ED, REASONING_LIS)
#define FIGURE_2_TASKS REASONING_NUMBERS(REASONING_ED_LOCAL, REASONING_ED)
#define TASK(KIND) REASONING_NUMBERS(KIND)
#define SOFTMAX_CELLS(PAPER) GRID(REASONING_SOLVES, PAPER, ALL_TASKS, SOFTMAX_ALONE)
#define FIGURE_1_CELLS(PAPER) GRID(REASONING_WIDER, PAPER, FIGURE_1_TASKS, ALL_KINDS)
#define FIGURE_2_CELLS(PAPER) GRID(REASONING_LOCAL, PAPER, FIGURE_2_TASKS, LINEAR_AND_SPARSE)
#define FIGURE_3_CELLS(PAPER) GRID(REASONING_WIDER, PAPER, TASK(REASONING_ED), ALL_KINDS)
#define TABLE_2_CELLS(PAPER)                                                                       \
    GRID(REASONING_LEAST_FLOPS, PAPER, TASK(REASONING_ARITHMETIC), ALL_KINDS)
#define WIDTHS_CELLS(PAPER, KIND) GRID(REASONING_LEAST_WIDTH, PAPER, TASK(KIND), ALL_KINDS)
static const reasoning_grid_t grids[LAB_COUNT(panels)] = {
    SOFTMAX_CELLS(0),
    FIGURE_1_CELLS(0),
    FIGURE_2_CELLS(0),
    FIGURE_3_CELLS(0),
    TABLE_2_CELLS(0),
    SOFTMAX_CELLS(1),
    FIGURE_1_CELLS(1),
    FIGURE_2_CELLS(1),
    FIGURE_3_CELLS(1),
    TABLE_2_CELLS(1),
    WIDTHS_CELLS(0, REASONING_LIS),
    WIDTHS_CELLS(0, REASONING_ARITHMETIC),
    {.claim = REASONING_LOCALITY,
     .tasks = REASONING_NUMBERS(REASONING_ED_LOCAL, REASONING_ED_LOCAL, REASONING_ED),
     .attentions = REASONING_NUMBERS(REASONING_LINEAR),
     .bands = REASONING_NUMBERS(1, 2, 0),
     .sizes = REASONING_NUMBERS(3),
     .widths = REASONING_NUMBERS(16, 24, 32, 40, 48, 64)},
    WIDTHS_CELLS(1, REASONING_LIS),
    WIDTHS_CELLS(1, REASONING_ARITHMETIC),
};

static const reasoning_grid_t *grid_of(const lab_run_t *run) { return &grids[run->panel - panels]; }

static int is_table(const lab_run_t *run) { return grid_of(run)->claim >= REASONING_LEAST_FLOPS; }

/* ---- a cell ---------------------------------------------------------------------------------------- */

static attn_status_t settings_of(const lab_run_t *run, const reasoning_cell_t *cell,
                                 study_settings_t *settings, attn_error_t *error) {
    const double *values = run->values;
    const study_choice_t choice = {
        .kind = cell->task,
        .size = cell->size,
        .modulus = (int32_t)values[MODULUS],
        .band = cell->band ? cell->band : (int32_t)values[BAND],
        .backend = reasoning_attention(cell->attention),
        .width = cell->width,
        .layers = (int64_t)values[LAYERS],
        .heads = (int64_t)values[HEADS],
        .batch = (int64_t)values[BATCH],
        .samples = values[TRIALS],
        .rate = values[RATE],
        .embedding = values[EMBEDDING],
        .warm = values[WARM],
        .constant = values[SCHEDULE] != 0,
        .dropout = values[DROPOUT],
        .seed = cell->seed,
    };
    if (choice.heads > choice.width)
        return attn_fail(error, ATTN_ERROR_RANGE, "heads (%lld) must not be more than d (%lld)",
                         (long long)choice.heads, (long long)choice.width);
    return study_settings_make(&choice, settings, error);
}

/* What `attn lab train -o` may have written, too. */
static void name_cell(const lab_run_t *run, const reasoning_cell_t *cell, char name[LAB_FILE]) {
    char band[16] = "";
    if (cell->band) attn_format(band, sizeof band, "-w%d", (int)cell->band);
    attn_format(name, LAB_FILE, "%s-%d%s-%s-d%d-l%.0f-s%llu.study", reasoning_name(cell->task),
                (int)cell->size, band, reasoning_attention(cell->attention), (int)cell->width,
                run->values[LAYERS], (unsigned long long)cell->seed);
}

/* So that nothing is made of the many cells of a large grid that have not even begun. */
static int has_begun(const lab_run_t *run, const reasoning_cell_t *cell) {
    char name[LAB_FILE], *bytes = NULL;
    size_t size;
    name_cell(run, cell, name);
    const int failed = run->store->read(run->store->data, name, &bytes, &size);
    const int has = bytes != NULL;
    free(bytes);
    return failed || has;
}

/* What is wrong with this cell alone: a training that diverged, a checkpoint that is damaged. */
static attn_status_t of_cell(attn_status_t status) {
    return status == ATTN_ERROR_RANGE || status == ATTN_ERROR_ARGUMENT ? LAB_SPOILT : status;
}

static attn_status_t train(const lab_run_t *run, const reasoning_cell_t *cell, study_t *study,
                           attn_error_t *error) {
    const lab_store_t *store = run->store;
    char name[LAB_FILE];
    if (!store) return study_train(study, study->settings.steps, error);
    name_cell(run, cell, name);
    const attn_status_t status = study_resume(study, store, name, error);
    if (status || study_is_done(study)) return status;
    return store->finished_only ? LAB_UNFINISHED : study_work(study, store, name, error);
}

static void fill_row(const study_t *study, const study_score_t *score, double *row) {
    const double samples = (double)score->samples;
    const statistics_rate_t rate = statistics_rate((double)score->answers, samples);
    row[REASONING_RIGHT] = rate.rate;
    row[REASONING_LOW] = rate.low;
    row[REASONING_HIGH] = rate.high;
    row[REASONING_WHOLE] = (double)score->whole / samples;
    row[REASONING_SAMPLES] = (double)(study->trainer.step * study->settings.training.batch);
    row[REASONING_GFLOP] = nn_sequence_flops(&study->trainer.net).forward / 1e9;
}

static attn_status_t compute_cell(const lab_run_t *run, const reasoning_cell_t *cell, double *row,
                                  attn_error_t *error) {
    study_settings_t settings;
    study_score_t score = {.samples = 0};
    study_t study;
    if (run->store && run->store->finished_only && !has_begun(run, cell)) return LAB_UNFINISHED;
    attn_status_t status = settings_of(run, cell, &settings, error);
    if (!status) status = study_create(run->context, &settings, &study, error);
    if (status) return status;
    status = of_cell(train(run, cell, &study, error));
    if (!status) status = study_solve(&study, (int64_t)run->values[TESTS], &score, error);
    if (!status) fill_row(&study, &score, row);
    study_destroy(&study);
    return status;
}
static void place_cell(const reasoning_cell_t *cell, double *row) {
    row[REASONING_TASK] = cell->task;
    row[REASONING_SIZE] = cell->size;
    row[REASONING_ATTENTION] = cell->attention;
    row[REASONING_WIDTH] = cell->width;
    row[REASONING_SEED] = (double)cell->seed;
}

/* ---- points ---------------------------------------------------------------------------------------- */

static uint32_t count(const lab_run_t *run) {
    if (is_table(run)) return run->panel->grid.count;
    return reasoning_cell_count(grid_of(run)) * (uint32_t)run->values[SEEDS];
}

static reasoning_cell_t cell_of(const lab_point_t *point) {
    return reasoning_cell_at(grid_of(point->run), (uint32_t)point->x, point->run->seed);
}

static void place(const lab_point_t *point, double *row) {
    if (is_table(point->run)) return;
    const reasoning_cell_t cell = cell_of(point);
    place_cell(&cell, row);
    if (grid_of(point->run)->claim == REASONING_LOCALITY) row[REASONING_BAND] = cell.band;
}

static void file(const lab_point_t *point, char name[LAB_FILE]) {
    if (is_table(point->run)) return;
    const reasoning_cell_t cell = cell_of(point);
    name_cell(point->run, &cell, name);
}

/* Whose error it is. */
static void name_error(const lab_run_t *run, const reasoning_cell_t *cell, attn_error_t *error) {
    const attn_error_t of = *error;
    char name[LAB_FILE];
    name_cell(run, cell, name);
    attn_fail(error, of.status, "%s: %s", name, of.message);
}

/* What a cell surely has right, the mean of its seeds, as figures compare widths; and its GFLOP. */
static attn_status_t compute_seeds(const lab_run_t *run, uint32_t number, double *low,
                                   double *gflop, attn_error_t *error) {
    const uint32_t seeds = (uint32_t)run->values[SEEDS];
    *low = 0;
    for (uint32_t s = 0; s < seeds; s++) {
        double row[REASONING_COLUMNS];
        const reasoning_cell_t cell = reasoning_cell_at(grid_of(run), number, run->seed + s);
        const attn_status_t status = compute_cell(run, &cell, row, error);
        /* a file that is damaged, or of other settings */
        if (status == LAB_SPOILT || status == ATTN_ERROR_SHAPE) name_error(run, &cell, error);
        if (status) return status;
        *low += row[REASONING_LOW] / seeds;
        *gflop = row[REASONING_GFLOP];
    }
    return ATTN_OK;
}

/*
 * The least D for which the states of a layer's heads, d^2 + d numbers each, hold L numbers: any token of the sample may
 * be asked for. Of arithmetic sqrt L are enough (Proposition 5.2). As the panels `dimension` of the lab constructions.
 */
static double capacity(const lab_run_t *run, int32_t size) {
    const int32_t kind = grid_of(run)->tasks.items[0];
    const double heads = run->values[HEADS];
    reasoning_task_t task;
    double dim = 1;
    if (reasoning_make(kind, size, (int32_t)run->values[MODULUS], (int32_t)run->values[BAND], &task,
                       NULL))
        return NAN;
    const double numbers = kind == REASONING_ARITHMETIC ? sqrt(task.length) : task.length;
    while (heads * (dim * dim + dim) < numbers) dim++;
    return heads * dim;
}

/* A table's row of a size, from figure-1's cells. Wider models than the first that is good enough take more. */
static attn_status_t compute_row(const lab_point_t *point, double *row, attn_error_t *error) {
    const lab_run_t *run = point->run;
    const int is_width = grid_of(run)->claim == REASONING_LEAST_WIDTH;
    if (is_width) row[REASONING_CAPACITY] = capacity(run, (int32_t)point->x);
    for (uint32_t c = 0; c < reasoning_cell_count(grid_of(run)); c++) {
        const reasoning_cell_t cell = reasoning_cell_at(grid_of(run), c, run->seed);
        double *least = &row[1 + cell.attention], low, gflop;
        if (cell.size != (int32_t)point->x || !isnan(*least)) continue;
        const attn_status_t status = compute_seeds(run, c, &low, &gflop, error);
        if (status) return status;
        if (low >= REASONING_ENOUGH) *least = is_width ? cell.width : gflop;
    }
    return ATTN_OK;
}

static attn_status_t compute_point(const lab_point_t *point, double *row, attn_error_t *error) {
    if (is_table(point->run)) return compute_row(point, row, error);
    const reasoning_cell_t cell = cell_of(point);
    return compute_cell(point->run, &cell, row, error);
}

static attn_status_t check(const lab_point_t *point, attn_error_t *error) {
    study_settings_t settings;
    const reasoning_cell_t cell = cell_of(point);
    return settings_of(point->run, &cell, &settings, error);
}

static double cost(const lab_point_t *point) {
    study_settings_t settings;
    const reasoning_cell_t cell = cell_of(point);
    if (settings_of(point->run, &cell, &settings, NULL)) return 1;
    const double tokens = (double)(settings.steps * settings.training.batch * settings.task.length);
    return tokens * (double)settings.layers * cell.width * (cell.width + 40.0);
}

/* What `auto` is, task by task. */
static void note(const lab_run_t *run, const double *rows, uint32_t row_count, char *text,
                 size_t size) {
    const reasoning_numbers_t *tasks = &grid_of(run)->tasks;
    (void)rows, (void)row_count;
    if (run->values[RATE] > 0 && run->values[TRIALS] > 0 && run->values[EMBEDDING] > 0) return;
    for (int32_t i = 0; i < tasks->count; i++) {
        const study_learning_t learning = study_learning(tasks->items[i]);
        const size_t used = strlen(text);
        char embedding[40] = "Xavier's";
        if (learning.embedding > 0)
            attn_format(embedding, sizeof embedding, "deviation %g", learning.embedding);
        attn_format(text + used, size - used, "%s%s: rate %g, %g thousand samples, embedding %s",
                    i ? "; " : "auto: ", reasoning_name(tasks->items[i]), learning.rate,
                    learning.samples, embedding);
    }
}

static void judge(const lab_run_t *run, const double *rows, uint32_t row_count,
                  lab_finding_t *finding) {
    if (grid_of(run)->claim == REASONING_LOCALITY) {
        reasoning_judge_locality(rows, row_count, finding);
        return;
    }
    reasoning_judge(grid_of(run)->claim, rows, row_count, finding);
    if (!(run->panel->flags & LAB_ILLUSTRATION)) return;
    finding->sure[0] = 0;
    judge_sure(finding, grid_of(run)->claim == REASONING_LEAST_WIDTH
                            ? "widths found by training prove no bound"
                            : "equal least widths are ties");
}

const lab_t lab_reasoning = {
    .name = "reasoning",
    .title = "Transformers that learn dynamic programs",
    .reference = "Do Efficient Transformers Really Save Computation?, section 6, Figures 1 to 3, "
                 "Table 2",
    .summary = "Decoders learn to write the chain of thought of LIS, edit distance and arithmetic. "
               "With sparse and linear attention they need to be wider as problems grow, unless "
               "each step looks back a little only.",
    .params = params,
    .param_count = PARAMS,
    .panels = panels,
    .panel_count = LAB_COUNT(panels),
    .check = check,
    .count = count,
    .place = place,
    .file = file,
    .point = compute_point,
    .cost = cost,
    .note = note,
    .judge = judge,
};
