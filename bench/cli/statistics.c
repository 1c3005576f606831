/* cli/statistics.c: `attn statistics`: what rows of weights are like, without a matrix of them. */
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/runner.h"
#include "cli/table.h"

#include "attn/statistics.h"
#include "attn/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct statistics {
    settings_t settings;
    inputs_t inputs;
    const char *backend;
    int64_t top, query; /* -1: all rows */
    int json;

    attn_context_t *context;
    runner_t runner;
    attn_io_t io; /* with a larger workspace */
    void *workspace;
    int64_t first, rows, keys;
    attn_statistics_t head; /* of one at a time */
} statistics_t;

/* ---- computing ------------------------------------------------------------------------------- */

static void *take(int64_t count, size_t size) { return calloc((size_t)attn_max(count, 1), size); }

static int prepare(statistics_t *statistics) {
    attn_statistics_t *head = &statistics->head;
    const uint64_t size = attn_statistics_workspace_size(statistics->runner.plan);
    const int64_t rows = statistics->rows;
    statistics->workspace =
        size < SIZE_MAX / 2 ? aligned_alloc(ATTN_ALIGNMENT, (size_t)size) : NULL;
    head->struct_size = sizeof *head;
    head->entropy = take(rows, sizeof *head->entropy);
    head->distance = take(rows, sizeof *head->distance);
    head->column_mass = take(statistics->keys, sizeof *head->column_mass);
    if (statistics->top && rows <= INT64_MAX / statistics->top) {
        head->top = (int32_t)statistics->top;
        head->top_keys = take(rows * head->top, sizeof *head->top_keys);
        head->top_weights = take(rows * head->top, sizeof *head->top_weights);
    }
    statistics->io = statistics->runner.io;
    statistics->io.workspace = statistics->workspace;
    statistics->io.workspace_size = size;
    if (statistics->workspace && head->entropy && head->distance && head->column_mass &&
        !head->top_keys == !statistics->top && !head->top_weights == !statistics->top)
        return CLI_OK;
    return cli_complain(CLI_USAGE, "no memory for the statistics of %lld rows of %lld keys",
                        (long long)rows, (long long)statistics->keys);
}

static int compute(statistics_t *statistics, int64_t batch, int64_t head) {
    runner_t *runner = &statistics->runner;
    if (attn_plan_statistics(runner->plan, &statistics->io, batch, head, statistics->first,
                             statistics->rows, &statistics->head, &runner->error))
        return cli_reject(NULL, &runner->error);
    return CLI_OK;
}

/* ---- for people ------------------------------------------------------------------------------ */

static const table_column_t columns[] = {
    {"batch", "batch", TABLE_INTEGER},
    {"head", "head", TABLE_INTEGER},
    {"entropy", "entropy, bits", TABLE_NUMBER},
    {"least_entropy", "least", TABLE_NUMBER},
    {"most_entropy", "most", TABLE_NUMBER},
    {"distance", "distance, tokens", TABLE_NUMBER},
    {"keys", "keys with most weight", TABLE_WORD},
};

/* Of the rows that have shares. */
typedef struct spread {
    double mean, least, most;
} spread_t;

static spread_t spread_of(const float *numbers, int64_t count) {
    spread_t spread = {0, INFINITY, -INFINITY};
    int64_t known = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(numbers[i])) continue;
        spread.mean += (double)numbers[i];
        spread.least = fmin(spread.least, (double)numbers[i]);
        spread.most = fmax(spread.most, (double)numbers[i]);
        known++;
    }
    if (!known) return (spread_t){NAN, NAN, NAN};
    spread.mean /= (double)known;
    return spread;
}

enum { FAVOURITES = 5, FAVOURITES_TEXT = 160 };

/* The keys that get most, with their shares of all that the rows give: "0 (31%), 17 (5%)". */
static const char *favourites(const double *mass, int64_t keys, char text[FAVOURITES_TEXT]) {
    double total = 0, before = INFINITY;
    int64_t last = -1;
    size_t used = 0;
    text[0] = 0;
    for (int64_t j = 0; j < keys; j++) total += mass[j];
    for (int found = 0; found < FAVOURITES; found++) {
        int64_t best = -1;
        for (int64_t j = 0; j < keys; j++) {
            const int is_next = mass[j] < before || (mass[j] == before && j > last);
            if (is_next && mass[j] > (best < 0 ? 0 : mass[best])) best = j;
        }
        if (best < 0) break;
        used += (size_t)snprintf(text + used, FAVOURITES_TEXT - used, "%s%lld (%.3g%%)",
                                 found ? ", " : "", (long long)best, 100 * mass[best] / total);
        before = mass[best], last = best;
    }
    return text;
}

static void add_head(const statistics_t *statistics, int64_t batch, int64_t head, table_t *table) {
    const spread_t entropy = spread_of(statistics->head.entropy, statistics->rows);
    char text[FAVOURITES_TEXT];
    table_add_number(table, (double)batch);
    table_add_number(table, (double)head);
    table_add_number(table, entropy.mean);
    table_add_number(table, entropy.least);
    table_add_number(table, entropy.most);
    table_add_number(table, spread_of(statistics->head.distance, statistics->rows).mean);
    table_add_text(table, favourites(statistics->head.column_mass, statistics->keys, text));
}

static void print_backend(const statistics_t *statistics) {
    char shapes[2][96], facts[512];
    printf("backend   %s\n", statistics->runner.backend->id);
    if (runner_facts(&statistics->runner, facts, sizeof facts)[0]) printf("facts     %s\n", facts);
    printf("sizes     Q %s, K %s\n", inputs_shape(&statistics->inputs, INPUT_QUERY, shapes[0]),
           inputs_shape(&statistics->inputs, INPUT_KEY, shapes[1]));
    if (statistics->query >= 0) printf("query     %lld\n", (long long)statistics->query);
    putchar('\n');
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_floats(const char *name, const float *numbers, int64_t count) {
    printf(", \"%s\": [", name);
    for (int64_t i = 0; i < count; i++) {
        if (i) fputs(", ", stdout);
        json_number(stdout, (double)numbers[i]);
    }
    putchar(']');
}

static void put_doubles(const char *name, const double *numbers, int64_t count) {
    printf(", \"%s\": [", name);
    for (int64_t i = 0; i < count; i++) {
        if (i) fputs(", ", stdout);
        json_number(stdout, numbers[i]);
    }
    putchar(']');
}

/* Of each row those that there are. */
static void put_top(const attn_statistics_t *head, int64_t rows) {
    for (int part = 0; part < 2; part++) {
        printf(", \"%s\": [", part ? "top_weights" : "top_keys");
        for (int64_t r = 0; r < rows; r++) {
            fputs(r ? ", [" : "[", stdout);
            for (int64_t k = r * head->top; k < (r + 1) * head->top && head->top_keys[k] >= 0;
                 k++) {
                if (k > r * head->top) fputs(", ", stdout);
                json_number(stdout,
                            part ? (double)head->top_weights[k] : (double)head->top_keys[k]);
            }
            putchar(']');
        }
        putchar(']');
    }
}

static void put_head(const statistics_t *statistics, int64_t batch, int64_t head) {
    const attn_statistics_t *found = &statistics->head;
    printf("{\"batch\": %lld, \"head\": %lld, \"first_query\": %lld", (long long)batch,
           (long long)head, (long long)statistics->first);
    put_floats("entropy", found->entropy, statistics->rows);
    put_floats("distance", found->distance, statistics->rows);
    put_doubles("column_mass", found->column_mass, statistics->keys);
    if (found->top) put_top(found, statistics->rows);
    putchar('}');
}

/* ---- command --------------------------------------------------------------------------------- */

/* Calls `tell` for each head, one after another in memory. */
static int each_head(statistics_t *statistics, table_t *table) {
    const attn_problem_t *problem = &statistics->inputs.problem;
    int status = CLI_OK, told = 0;
    for (int64_t b = 0; !status && b < problem->batch; b++)
        for (int64_t h = 0; !status && h < problem->heads; h++) {
            status = compute(statistics, b, h);
            if (status) break;
            if (!statistics->json) {
                add_head(statistics, b, h, table);
                continue;
            }
            fputs(told++ ? ",\n" : "[", stdout);
            put_head(statistics, b, h);
        }
    return status;
}

static int tell(statistics_t *statistics) {
    table_t table = table_make(columns, sizeof columns / sizeof *columns);
    int status = each_head(statistics, &table);
    if (!status && statistics->json) puts("]");
    if (!status && !statistics->json) {
        print_backend(statistics);
        if (!table_print(&table, TABLE_TEXT, stdout))
            status = cli_complain(CLI_USAGE, "no memory for the table");
    }
    table_free(&table);
    return status;
}

static int choose_rows(statistics_t *statistics) {
    const attn_problem_t *problem = &statistics->inputs.problem;
    const int all = statistics->query < 0;
    if (statistics->query >= problem->queries)
        return cli_complain(CLI_USAGE, "--query: %lld is outside 0 to %lld",
                            (long long)statistics->query, (long long)problem->queries - 1);
    statistics->keys = problem->keys;
    statistics->first = all ? 0 : statistics->query;
    statistics->rows = all ? problem->queries : 1;
    return CLI_OK;
}

static int begin(statistics_t *statistics) {
    runner_t *runner = &statistics->runner;
    const attn_backend_t *backend = attn_backend_find(statistics->context, statistics->backend);
    if (runner_plan(runner, statistics->context, backend, &statistics->inputs.problem,
                    &statistics->settings, &statistics->inputs.arguments))
        return cli_reject(NULL, &runner->error);
    if (runner_load(runner, statistics->inputs.shared)) return CLI_USAGE;
    if (runner_prepare(runner, &statistics->inputs.io)) return cli_reject(NULL, &runner->error);
    return prepare(statistics);
}

static int execute(statistics_t *statistics) {
    option_texts_t backend = {.count = 1, .items = {statistics->backend}};
    const char **paths = statistics->inputs.paths;
    selection_t selection;
    const char **flagged = statistics->inputs.arguments.flagged;
    paths[INPUT_VALUE] = paths[INPUT_KEY]; /* values have no say in weights */
    if (!flagged[ATTN_ARRAY_VALUE_SCALES])
        flagged[ATTN_ARRAY_VALUE_SCALES] = flagged[ATTN_ARRAY_KEY_SCALES];
    int status = settings_context(&statistics->settings, &statistics->context);
    if (!status) status = settings_select(statistics->context, &backend, &selection);
    if (!status) status = settings_check(&statistics->settings, statistics->context, &selection);
    if (!status)
        status = arguments_check(&statistics->inputs.arguments, statistics->context, &selection);
    if (!status) status = inputs_load(&statistics->inputs);
    if (!status) status = choose_rows(statistics);
    if (!status) status = begin(statistics);
    return status ? status : tell(statistics);
}

static const char summary[] = "Say what rows of weights are like, without a matrix of them.";
static const char details[] =
    "Entropy is in bits: 0 where one key has all of a row, log2 k where k keys share it evenly.\n"
    "Distance is how far keys are from their query, on average by weight. The table has means\n"
    "over the rows, and the keys that get most weight of all rows together. Rows without shares\n"
    "(no key is visible, a weight is below 0 or not finite) are left out of means; in JSON they\n"
    "are null. A key that gets a weight that is not finite is not listed.\n"
    "\n"
    "--json prints one object for each batch and head: entropy and distance of each row,\n"
    "column_mass of each key (the sum of its weights), top_keys and top_weights of each row.\n"
    "\n"
    "Memory grows with queries and with keys, never with their product: 100,000 tokens are fine.";

static void release(statistics_t *statistics) {
    const attn_statistics_t *head = &statistics->head;
    free(statistics->workspace);
    free(head->entropy), free(head->distance), free(head->column_mass);
    free(head->top_keys), free(head->top_weights);
    runner_free(&statistics->runner);
    inputs_free(&statistics->inputs);
    attn_context_destroy(statistics->context);
}

int cli_statistics(int argc, char **argv) {
    statistics_t statistics = {
        .settings = {.threads = 1}, .inputs = {.rules = {.scale = NAN}}, .top = 8, .query = -1};
    inputs_t *inputs = &statistics.inputs;
    option_t options[OPTION_LIST_SIZE] = {
        {"BACKEND", 0, OPTION_ARGUMENT, NULL, "softmax, or another that attn list shows",
         &statistics.backend, 0, 0},
        {"q", 0, OPTION_TEXT | OPTION_REQUIRED, "Q.npy",
         "queries, (n, d), (H, n, d) or (B, H, n, d)", &inputs->paths[INPUT_QUERY], 0, 0},
        {"k", 0, OPTION_TEXT | OPTION_REQUIRED, "K.npy", "keys, (m, d) likewise",
         &inputs->paths[INPUT_KEY], 0, 0},
        {"query", 0, OPTION_INTEGER, "I", "of this query alone (default: of all)",
         &statistics.query, 0, INT64_MAX},
        {"top", 0, OPTION_INTEGER, "K", "keys that --json has of each row (default 8)",
         &statistics.top, 0, INT32_MAX},
        {"json", 0, OPTION_SWITCH, NULL, "all numbers as JSON", &statistics.json, 0, 0},
        RULES_OPTIONS(inputs->rules),
        SETTINGS_PARAMETERS(statistics.settings),
        SETTINGS_THREADS(statistics.settings),
        SETTINGS_CPU(statistics.settings),
        SETTINGS_PLUGIN(statistics.settings),
        ARGUMENTS_INPUT(inputs->arguments),
    };
    arguments_add_flags(&inputs->arguments, ATTN_ROLE_INPUT, options);
    const option_command_t command = {"statistics", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&statistics);
    release(&statistics);
    return status;
}
