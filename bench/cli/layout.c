/* cli/layout.c: `attn layout`: which pairs of queries and keys a backend keeps, cell by cell. */
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/runner.h"

#include "attn/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct layout {
    settings_t settings;
    inputs_t inputs;
    const char *backend, *output;
    int64_t n, m, d, heads, kv_heads; /* of random arrays; 0: not given */
    int64_t cell;                     /* queries and keys of one; 0: a block of the backend's */

    attn_context_t *context;
    runner_t runner;
    int64_t rows, columns;  /* of cells */
    uint8_t *cells;         /* (B, H, rows, columns): enum cell */
    int64_t kept, computed; /* pairs, and those of the cells that have one of them */
} layout_t;

enum cell { NONE, SOME, ALL };
static const char symbols[] = {[NONE] = '.', [SOME] = '+', [ALL] = '#'};

/* ---- cells ----------------------------------------------------------------------------------- */

/* Where the backend has no blocks, as many as fit a terminal of a thousand keys. */
static int64_t block_of(const attn_plan_t *plan) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; attn_plan_fact(plan, i, &fact); i++)
        if (strcmp(fact.name, "block") == 0) return (int64_t)fact.number;
    return 16;
}

/* Logits after masks are -inf where the pattern or a rule has no pair, however small weights are. */
static int64_t count_kept(const float *logits, int64_t stride, int64_t queries, int64_t keys) {
    int64_t kept = 0;
    for (int64_t i = 0; i < queries; i++)
        for (int64_t j = 0; j < keys; j++) kept += logits[i * stride + j] != -INFINITY;
    return kept;
}

static void fill_head(layout_t *layout, const float *logits, uint8_t *cells) {
    const int64_t n = layout->inputs.problem.queries, m = layout->inputs.problem.keys;
    const int64_t cell = layout->cell;
    for (int64_t r = 0; r < layout->rows; r++)
        for (int64_t c = 0; c < layout->columns; c++) {
            const int64_t queries = attn_min(cell, n - r * cell),
                          keys = attn_min(cell, m - c * cell);
            const int64_t kept = count_kept(logits + r * cell * m + c * cell, m, queries, keys);
            cells[r * layout->columns + c] = kept == 0 ? NONE : kept < queries * keys ? SOME : ALL;
            layout->kept += kept;
            layout->computed += kept ? queries * keys : 0;
        }
}

static int fill(layout_t *layout) {
    const attn_problem_t *problem = &layout->inputs.problem;
    const int64_t n = problem->queries, m = problem->keys, all = problem->batch * problem->heads;
    if (!layout->cell) layout->cell = block_of(layout->runner.plan);
    layout->rows = (n - 1) / layout->cell + 1;
    layout->columns = (m - 1) / layout->cell + 1;
    layout->cells = malloc((size_t)(all * layout->rows * layout->columns));
    if (!layout->cells) return cli_complain(CLI_USAGE, "no memory for the layout");
    for (int64_t head = 0; head < all; head++)
        fill_head(layout, (const float *)layout->runner.io.scores.data + head * n * m,
                  layout->cells + head * layout->rows * layout->columns);
    return CLI_OK;
}

/* ---- output ---------------------------------------------------------------------------------- */

static const uint8_t *head_of(const layout_t *layout, int64_t number) {
    return layout->cells + number * layout->rows * layout->columns;
}

static void print_head(const layout_t *layout, const uint8_t *cells) {
    for (int64_t r = 0; r < layout->rows; r++) {
        for (int64_t c = 0; c < layout->columns; c++)
            putchar(symbols[cells[r * layout->columns + c]]);
        putchar('\n');
    }
}

/* Neighbours that are alike are printed once. */
static void print_heads(const layout_t *layout) {
    const attn_problem_t *problem = &layout->inputs.problem;
    const size_t size = (size_t)(layout->rows * layout->columns);
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t h = 0, end; h < problem->heads; h = end) {
            const uint8_t *cells = head_of(layout, b * problem->heads + h);
            for (end = h + 1; end < problem->heads; end++)
                if (memcmp(cells, head_of(layout, b * problem->heads + end), size) != 0) break;
            printf("\nbatch %lld, head %lld", (long long)b, (long long)h);
            if (end > h + 1) printf(" to %lld", (long long)end - 1);
            putchar('\n');
            print_head(layout, cells);
        }
}

static void report(const layout_t *layout) {
    const attn_problem_t *problem = &layout->inputs.problem;
    const double pairs = (double)problem->batch * (double)problem->heads *
                         (double)problem->queries * (double)problem->keys;
    const double computed = runner_computed(&layout->runner, problem);
    char shapes[2][96], facts[512];
    printf("backend   %s\n", layout->runner.backend->id);
    if (runner_facts(&layout->runner, facts, sizeof facts)[0]) printf("facts     %s\n", facts);
    printf("sizes     Q %s, K %s\n", inputs_shape(&layout->inputs, INPUT_QUERY, shapes[0]),
           inputs_shape(&layout->inputs, INPUT_KEY, shapes[1]));
    printf("kept      %lld pairs, %.4g%% of n m\n", (long long)layout->kept,
           100 * (double)layout->kept / pairs);
    printf("cells     %lld x %lld; those with kept pairs have %.4g%% of n m, %.4g%% of it kept\n",
           (long long)layout->cell, (long long)layout->cell, 100 * (double)layout->computed / pairs,
           layout->computed ? 100 * (double)layout->kept / (double)layout->computed : 0);
    if (!isnan(computed))
        printf("computed  %.4g%% of n m, as the plan counts without arrays\n", 100 * computed);
}

static int write(const layout_t *layout) {
    const attn_problem_t *problem = &layout->inputs.problem;
    const int64_t shape[4] = {problem->batch, problem->heads, layout->rows, layout->columns};
    const size_t size = (size_t)(shape[0] * shape[1] * shape[2] * shape[3]);
    char header[NPY_HEADER_SIZE];
    output_t output = {.count = 0};
    for (size_t i = 0; i < size; i++) layout->cells[i] = layout->cells[i] != NONE;
    output_add(&output, layout->output, header,
               npy_header(header, ATTN_BOOL, layout->inputs.arrays[INPUT_QUERY].rank, shape),
               layout->cells, size);
    return output_write(&output);
}

/* ---- command --------------------------------------------------------------------------------- */

static int64_t or_else(int64_t given, int64_t otherwise) { return given ? given : otherwise; }

/* From files, or at random. Values have no say in what is kept. */
static int load(layout_t *layout) {
    inputs_t *inputs = &layout->inputs;
    const char **paths = inputs->paths;
    const int sized = layout->n || layout->m || layout->d || layout->heads || layout->kv_heads;
    if (!paths[INPUT_QUERY] != !paths[INPUT_KEY])
        return cli_complain(CLI_USAGE, "--q and --k go together: --%c is missing",
                            paths[INPUT_QUERY] ? 'k' : 'q');
    if (paths[INPUT_QUERY] && sized)
        return cli_complain(CLI_USAGE, "--n, --m, --d, --heads and --kv-heads are of random "
                                       "arrays, not of --q and --k");
    paths[INPUT_VALUE] = paths[INPUT_KEY];
    if (paths[INPUT_KEY]) return inputs_load(inputs);
    const int64_t heads = or_else(layout->heads, 1), n = or_else(layout->n, 256);
    const int64_t d = or_else(layout->d, 64);
    attn_problem_t sizes;
    attn_problem_init(&sizes, 1, heads, n, or_else(layout->m, n), d, d);
    sizes.kv_heads = or_else(layout->kv_heads, heads);
    return inputs_draw(inputs, &sizes);
}

static int compute(layout_t *layout) {
    runner_t *runner = &layout->runner;
    const attn_backend_t *backend = attn_backend_find(layout->context, layout->backend);
    if (!(backend->features & ATTN_FEATURE_SCORES))
        return cli_complain(CLI_USAGE,
                            "layout: backend '%s' does not do scores output, which says what is "
                            "kept; what each key weighs: attn run %s --weights W.npy",
                            backend->id, backend->id);
    if (runner_plan(runner, layout->context, backend, &layout->inputs.problem, &layout->settings,
                    &layout->inputs.arguments))
        return cli_reject(NULL, &runner->error);
    if (runner_load(runner, layout->inputs.shared)) return CLI_USAGE;
    if (runner_prepare(runner, &layout->inputs.io) || runner_run(runner))
        return cli_reject(NULL, &runner->error);
    return fill(layout);
}

static int execute(layout_t *layout) {
    option_texts_t backend = {.count = 1, .items = {layout->backend}};
    selection_t selection;
    layout->inputs.arguments.flagged[ATTN_ARRAY_SCORES] = "the layout";
    layout->inputs.scores = ATTN_SCORES_MASKED;
    int status = settings_context(&layout->settings, &layout->context);
    if (!status) status = settings_select(layout->context, &backend, &selection);
    if (!status) status = settings_check(&layout->settings, layout->context, &selection);
    if (!status) status = arguments_check(&layout->inputs.arguments, layout->context, &selection);
    if (!status) status = load(layout);
    if (!status) status = compute(layout);
    if (status) return status;
    if (layout->output) status = write(layout);
    if (status || place_is_stdout(layout->output)) return status;
    report(layout);
    if (!layout->output) print_heads(layout);
    return CLI_OK;
}

static const char summary[] = "Show which pairs of queries and keys a backend keeps, cell by cell.";
static const char details[] =
    "A cell is a square of pairs; its rows are queries, its columns keys: # all pairs are kept, +\n"
    "some, . none. A pair is kept unless pattern, causal, window, lengths, mask or bias hide it.\n"
    "A pattern that depends on the arrays is that of these arrays. The file is bool, true where a\n"
    "pair of the cell is kept, (n / cell, m / cell) behind Q's batches and heads, as --input\n"
    "block_mask takes it. --cell 1 shows every pair. This needs memory for all logits. A logit of\n"
    "-inf because Q or K are not finite, or because their product overflows, counts as hidden.\n"
    "\n"
    "Computed are the pairs of the blocks that the backend takes at a time, as its plan says.";

int cli_layout(int argc, char **argv) {
    layout_t layout = {.settings = {.threads = 1}, .inputs = {.rules = {.scale = NAN}}};
    inputs_t *inputs = &layout.inputs;
    const int64_t most = (int64_t)1 << 40;
    option_t options[OPTION_LIST_SIZE] = {
        {"BACKEND", 0, OPTION_ARGUMENT, NULL, "sparse, or another backend that has scores",
         &layout.backend, 0, 0},
        {"q", 0, OPTION_TEXT, "Q.npy", "queries, (n, d), (H, n, d) or (B, H, n, d)",
         &inputs->paths[INPUT_QUERY], 0, 0},
        {"k", 0, OPTION_TEXT, "K.npy", "keys, (m, d) likewise", &inputs->paths[INPUT_KEY], 0, 0},
        {"n", 0, OPTION_INTEGER, "N", "without files: number of random queries (default 256)",
         &layout.n, 1, most},
        {"m", 0, OPTION_INTEGER, "M", "number of keys (default: n)", &layout.m, 1, most},
        {"d", 0, OPTION_INTEGER, "D", "columns (default 64)", &layout.d, 1, most},
        {"heads", 0, OPTION_INTEGER, "H", "heads (default 1)", &layout.heads, 1, most},
        {"kv-heads", 0, OPTION_INTEGER, "H", "heads of K (default: heads)", &layout.kv_heads, 1,
         most},
        {"cell", 0, OPTION_INTEGER, "C",
         "queries and keys of a cell (default: the backend's block, or 16)", &layout.cell, 1, most},
        {"output", 'o', OPTION_TEXT, "FILE.npy",
         "write the layout to a file instead of printing its picture", &layout.output, 0, 0},
        RULES_OPTIONS(inputs->rules),
        SETTINGS_PARAMETERS(layout.settings),
        SETTINGS_CPU(layout.settings),
        SETTINGS_PLUGIN(layout.settings),
        ARGUMENTS_INPUT(inputs->arguments),
    };
    arguments_add_flags(&inputs->arguments, ATTN_ROLE_INPUT, options);
    const option_command_t command = {"layout", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&layout);
    free(layout.cells);
    runner_free(&layout.runner);
    inputs_free(inputs);
    attn_context_destroy(layout.context);
    return status;
}
