/* cli/compare.c: `attn compare`: several backends on the same .npy files. */
#include "cli/cli.h"
#include "cli/format.h"
#include "cli/inputs.h"
#include "cli/lemmas.h"
#include "cli/runner.h"
#include "cli/stream.h"
#include "cli/table.h"
#include "cli/visible.h"
#include "measure/accuracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const table_column_t columns[] = {
    {"backend", "backend", TABLE_WORD},
    {"kernel", "kernel", TABLE_WORD},
    {"ms", "ms", TABLE_NUMBER},
    {"ms_low", "ms low", TABLE_NUMBER},
    {"ms_high", "ms high", TABLE_NUMBER},
    {"gflops", "GFLOP/s", TABLE_NUMBER},
    {"workspace", "workspace", TABLE_BYTES},
    {"stream", "stream", TABLE_BYTES},
    {"pairs", "pairs", TABLE_PERCENT},
    {"computed", "computed", TABLE_PERCENT},
    {"error", "error", TABLE_SCIENCE},
    {"degenerate_rows", "degenerate rows", TABLE_INTEGER},
    {"note", "note", TABLE_WORD},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], NUMBERS = 10 };

typedef struct compare {
    settings_t settings;
    inputs_t inputs;
    format_t formats;
    option_texts_t backends;
    double seconds; /* per backend */

    enum table_format format;
    attn_context_t *context;
    selection_t selection;
    runner_t *runners; /* selection.count of them */
    int64_t stride;    /* of the queries that the error is taken over */
    table_t table;
} compare_t;

/* All plans and arrays before the first run, so that a wrong one is found at once. */
static int plan_all(compare_t *compare) {
    compare->runners = calloc((size_t)compare->selection.count, sizeof *compare->runners);
    if (!compare->runners)
        return cli_complain(CLI_USAGE, "no memory for %d plans", compare->selection.count);
    for (int i = 0; i < compare->selection.count; i++) {
        runner_t *runner = &compare->runners[i];
        const attn_backend_t *backend =
            attn_backend_at(compare->context, compare->selection.indices[i]);
        const attn_status_t status = runner_plan_inputs(runner, compare->context, backend,
                                                        &compare->inputs, &compare->settings);
        if (status && status != ATTN_ERROR_UNSUPPORTED)
            return cli_reject(backend->id, &runner->error);
        if (!status && runner_load_inputs(runner, &compare->inputs)) return CLI_USAGE;
    }
    return CLI_OK;
}

static void add_absent_row(compare_t *compare, const runner_t *runner) {
    table_add_text(&compare->table, runner->backend->id);
    table_add_text(&compare->table, NULL);
    for (int i = 0; i < NUMBERS; i++) table_add_number(&compare->table, NAN);
    table_add_text(&compare->table, runner->error.message);
}

/* What the plan chose, and what is promised for these arrays. */
static void note(const compare_t *compare, const runner_t *runner, char *text, size_t size) {
    const double longest = inputs_longest(&compare->inputs);
    char lemmas[256];
    runner_facts(runner, text, size);
    if (!lemmas_describe(runner->plan, longest, lemmas, sizeof lemmas)[0]) return;
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "; %s", lemmas);
}

static void add_row(compare_t *compare, runner_t *runner, const measure_t *time, double relative) {
    const attn_problem_t *problem = &compare->inputs.problem;
    char facts[768];
    table_t *table = &compare->table;
    table_add_text(table, runner->backend->id);
    table_add_text(table, attn_plan_kernel(runner->plan));
    table_add_number(table, 1e3 * time->median);
    table_add_number(table, 1e3 * time->low);
    table_add_number(table, 1e3 * time->high);
    table_add_number(table, 1e-9 * runner->cost.flops / time->median);
    table_add_number(table, (double)attn_plan_workspace_size(runner->plan));
    table_add_number(table, stream_bytes(runner, compare->context, &compare->settings));
    table_add_number(table, runner_pairs(runner, problem));
    table_add_number(table, runner_computed(runner, problem));
    table_add_number(table, relative);
    table_add_number(table, (double)runner->report.degenerate_rows);
    note(compare, runner, facts, sizeof facts);
    table_add_text(table, facts[0] ? facts : NULL);
}

static int measure_one(compare_t *compare, runner_t *runner) {
    measure_t time;
    double relative;
    if (!runner->plan) {
        add_absent_row(compare, runner);
        return CLI_OK;
    }
    if (runner_prepare(runner, &compare->inputs.io) ||
        runner_time(runner, compare->seconds, &time) ||
        visible_lengths(runner, compare->context, &runner->settings))
        return cli_reject(runner->backend->id, &runner->error);
    const attn_io_t io = runner_exact_io(runner, &compare->inputs);
    if (accuracy_error(&compare->inputs.problem, &io, compare->stride, &relative, &runner->error))
        return cli_reject(runner->backend->id, &runner->error);
    add_row(compare, runner, &time, relative);
    return CLI_OK;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_json_head(const compare_t *compare) {
    static const char names[INPUT_COUNT] = {'q', 'k', 'v'};
    const inputs_t *inputs = &compare->inputs;
    char rules[256];
    fputs("{", stdout);
    for (int which = 0; which < INPUT_COUNT; which++) {
        printf("\"%c\": [", names[which]);
        for (int axis = 4 - inputs->arrays[which].rank; axis < 4; axis++)
            printf("%lld%s", (long long)inputs->arrays[which].tensor.shape[axis],
                   axis < 3 ? ", " : "], ");
    }
    printf("\"causal\": ");
    json_string(stdout, rules_corner(inputs->problem.causal));
    printf(", \"scale\": ");
    json_number(stdout, (double)inputs->problem.scale);
    printf(", \"rules\": ");
    json_string(stdout, rules_describe(&inputs->problem, rules));
    printf(", \"tier\": \"%s\", \"threads\": %lld",
           attn_tier_name(attn_context_tier(compare->context)),
           (long long)compare->settings.threads);
    printf(", \"nonfinite\": {\"q\": %lld, \"k\": %lld, \"v\": %lld}, \"error_stride\": %lld,\n",
           (long long)inputs->nonfinite[INPUT_QUERY], (long long)inputs->nonfinite[INPUT_KEY],
           (long long)inputs->nonfinite[INPUT_VALUE], (long long)compare->stride);
    printf("\"rows\": ");
}

static void print_text_head(const compare_t *compare) {
    const inputs_t *inputs = &compare->inputs;
    char shapes[INPUT_COUNT][96], rules[256];
    rules_describe(&inputs->problem, rules);
    printf("Q %s, K %s, V %s", inputs_shape(inputs, INPUT_QUERY, shapes[0]),
           inputs_shape(inputs, INPUT_KEY, shapes[1]),
           inputs_shape(inputs, INPUT_VALUE, shapes[2]));
    if (inputs->problem.causal != ATTN_CAUSAL_NONE) printf(", causal");
    if (rules[0]) printf(", %s", rules);
    printf("; %s, %lld thread%s; error: relative to exact attention in double precision",
           attn_tier_name(attn_context_tier(compare->context)),
           (long long)compare->settings.threads, compare->settings.threads == 1 ? "" : "s");
    if (compare->stride > 1) printf(", over one query in %lld", (long long)compare->stride);
    printf("\n\n");
}

static int print(const compare_t *compare) {
    if (compare->table.broken) return cli_complain(CLI_USAGE, "no memory for the table");
    if (compare->format == TABLE_JSON)
        print_json_head(compare);
    else if (compare->format != TABLE_CSV)
        print_text_head(compare);
    table_print(&compare->table, compare->format, stdout);
    if (compare->format == TABLE_JSON) puts("}");
    return CLI_OK;
}

/* ---- command --------------------------------------------------------------------------------- */

static int execute(compare_t *compare) {
    int status = format_choose(&compare->formats, &compare->format);
    if (!status) status = settings_context(&compare->settings, &compare->context);
    if (!status)
        status = settings_select(compare->context, &compare->backends, &compare->selection);
    if (!status) status = settings_check(&compare->settings, compare->context, &compare->selection);
    if (!status)
        status = arguments_check(&compare->inputs.arguments, compare->context, &compare->selection);
    if (!status) status = inputs_check(&compare->inputs, "compare", NULL);
    if (!status) status = inputs_load(&compare->inputs);
    if (!status) status = plan_all(compare);
    if (!status) compare->stride = accuracy_stride(&compare->inputs.problem, ACCURACY_WORK);
    for (int i = 0; !status && i < compare->selection.count; i++) {
        status = measure_one(compare, &compare->runners[i]);
        runner_free(&compare->runners[i]);
    }
    return status ? status : print(compare);
}

static const char summary[] = "Compare time and error of several backends on the same arrays.";
static const char details[] =
    "Arrays are .npy files. The file name - is standard input, which is read once.\n"
    "\n"
    "ms         median time of one run; ms low and ms high: its 95% confidence interval\n"
    "GFLOP/s    operations that the method needs, by time\n"
    "workspace  memory beside the arrays; stream: of a stream that holds all keys and values\n"
    "pairs      share of (query, key) pairs whose weight is not zero by construction; computed:\n"
    "           share of the pairs in the blocks that are computed\n"
    "error      ||O - O*|| / ||O*|| (Frobenius) against exact softmax in double precision\n"
    "note       what the plan chose and what a sketch guarantees for these arrays, or why the\n"
    "           backend cannot solve the problem\n"
    "\n"
    "Degenerate rows of linear have a normaliser of 0, or one lost to rounding, or are not\n"
    "finite.\n"
    "\n"
    "--x is Q and K in one. A backend that takes CSR gets it as it is; the other backends and the\n"
    "error get a dense copy.\n"
    "\n"
    "--set NAME=VALUE goes to every backend that has the parameter, --set BACKEND.NAME=VALUE to\n"
    "one. --input NAME=VALUE goes to every backend that has the array.";

int cli_compare(int argc, char **argv) {
    compare_t compare = {.settings = {.threads = 1},
                         .inputs = {.rules = {.scale = NAN}, .dense = INPUTS_DENSE_FOR_ALL},
                         .seconds = 0.5,
                         .table = table_make(columns, COLUMNS)};
    option_t options[OPTION_LIST_SIZE] = {
        INPUTS_ARRAYS(compare.inputs),
        INPUTS_CSR(compare.inputs),
        {"backends", 0, OPTION_TEXTS, "A,B,...", "which backends, in this order (default: all)",
         &compare.backends, 0, 0},
        RULES_OPTIONS(compare.inputs.rules),
        SETTINGS_PARAMETERS(compare.settings),
        SETTINGS_THREADS(compare.settings),
        SETTINGS_CPU(compare.settings),
        SETTINGS_PLUGIN(compare.settings),
        {"time", 0, OPTION_NUMBER, "SECONDS", "how long to time each backend (default 0.5)",
         &compare.seconds, 0, 3600},
        FORMAT_OPTIONS(compare.formats),
        ARGUMENTS_INPUT(compare.inputs.arguments),
    };
    arguments_add_flags(&compare.inputs.arguments, ATTN_ROLE_INPUT, options);
    const option_command_t command = {"compare", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&compare);
    for (int i = 0; compare.runners && i < compare.selection.count; i++)
        runner_free(&compare.runners[i]);
    free(compare.runners);
    table_free(&compare.table);
    inputs_free(&compare.inputs);
    attn_context_destroy(compare.context);
    return status;
}
