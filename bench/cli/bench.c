/* cli/bench.c: `attn bench`: speed over ranges of sizes, on random input, or on arrays of files. */
#include "cli/calibrate.h"
#include "cli/cli.h"
#include "cli/format.h"
#include "cli/gradients.h"
#include "cli/host.h"
#include "cli/inputs.h"
#include "cli/pieces.h"
#include "cli/table.h"
#include "cli/trial.h"
#include "measure/accuracy.h"
#include "measure/peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const table_column_t columns[] = {
    {"backend", "backend", TABLE_WORD},
    {"n", "n", TABLE_INTEGER},
    {"m", "m", TABLE_INTEGER},
    {"d", "d", TABLE_INTEGER},
    {"dv", "dv", TABLE_INTEGER},
    {"heads", "heads", TABLE_INTEGER},
    {"kv_heads", "kv heads", TABLE_INTEGER},
    {"causal", "causal", TABLE_FLAG},
    {"backward", "backward", TABLE_FLAG},
    {"threads", "threads", TABLE_INTEGER},
    {"kernel", "kernel", TABLE_WORD},
    {"ms", "ms", TABLE_NUMBER},
    {"ms_low", "ms low", TABLE_NUMBER},
    {"ms_high", "ms high", TABLE_NUMBER},
    {"gflops", "GFLOP/s", TABLE_NUMBER},
    {"percent_of_peak", "% of peak", TABLE_NUMBER},
    {"gbps", "GB/s", TABLE_NUMBER},
    {"pairs", "pairs", TABLE_PERCENT},
    {"touched", "touched", TABLE_PERCENT},
    {"error", "error", TABLE_SCIENCE},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], CHECKED_ROWS = 64, COUNTED_ROWS = 256 };

typedef struct bench {
    settings_t settings; /* its threads: those of the context in use */
    inputs_t inputs;     /* files, where there are any, and what every problem is given */
    format_t formats;
    option_texts_t backends;
    option_integers_t n, m, d, dv, heads, kv_heads, threads;
    int backward, kernels, calibrate;
    double seconds; /* per row */

    enum table_format format;
    double peak, read; /* 1e9 a second */
    attn_context_t *context;
    selection_t selection;
    table_t table;
} bench_t;

static int has_files(const bench_t *bench) {
    const char *const *paths = bench->inputs.paths;
    return paths[INPUT_QUERY] || paths[INPUT_KEY] || paths[INPUT_VALUE];
}

/* ---- one problem ----------------------------------------------------------------------------- */

static void add_row(bench_t *bench, const trial_t *trial, const attn_problem_t *problem,
                    const measure_t *time, double relative) {
    const double threads = (double)bench->settings.threads;
    const double flops = bench->backward ? trial->cost.gradient_flops : trial->cost.flops;
    const double gflops = flops > 0 ? 1e-9 * flops / time->median : NAN;
    table_t *table = &bench->table;
    table_add_text(table, trial->backend->id);
    table_add_number(table, (double)problem->queries);
    table_add_number(table, (double)problem->keys);
    table_add_number(table, (double)problem->dim);
    table_add_number(table, (double)problem->value_dim);
    table_add_number(table, (double)problem->heads);
    table_add_number(table, (double)problem->kv_heads);
    table_add_number(table, problem->causal != ATTN_CAUSAL_NONE);
    table_add_number(table, bench->backward);
    table_add_number(table, threads);
    table_add_text(table, trial->plan ? attn_plan_kernel(trial->plan) : NULL);
    table_add_number(table, 1e3 * time->median);
    table_add_number(table, time->samples > 1 ? 1e3 * time->low : NAN);
    table_add_number(table, time->samples > 1 ? 1e3 * time->high : NAN);
    table_add_number(table, gflops);
    table_add_number(table, 100 * gflops / (threads * bench->peak));
    table_add_number(table, bench->backward ? NAN : 1e-9 * trial->cost.bytes / time->median);
    table_add_number(table, trial_pairs(trial, problem));
    table_add_number(table, trial_touched(trial, problem));
    table_add_number(table, relative);
}

/* Once, but not before something is found that can be timed. */
static void measure_peaks(bench_t *bench) {
    if (bench->peak > 0) return;
    const attn_tier_t tier = attn_context_tier(bench->context);
    bench->peak = peak_gflops(tier, peak_share(bench->seconds));
    bench->read = peak_read_gbps(tier, peak_share(bench->seconds));
}

/* Pairs that no plan knows, because a run's arrays decide: those of queries from all over, by their weights.
 * Without weights they stay unknown. */
static void count_pairs(trial_t *trial, const attn_problem_t *problem) {
    const int64_t queries = problem->queries, rows = problem->batch * problem->heads * queries;
    const int64_t stride = accuracy_stride_for_rows(problem, COUNTED_ROWS);
    float *weights = trial_floats(1, 1, 1, problem->keys);
    double kept = 0, counted = 0;
    for (int64_t at = stride / 2; weights && at < rows; at += stride, counted++) {
        if (attn_weights(trial->plan, &trial->io, at / queries / problem->heads,
                         at / queries % problem->heads, at % queries, 1, weights, problem->keys,
                         &trial->error))
            break;
        for (int64_t j = 0; j < problem->keys; j++) kept += weights[j] != 0.0f;
    }
    if (counted > 0) trial->cost.pairs = kept / counted * (double)rows;
    free(weights);
}

/* Of a run, or of its gradients. */
static int measure_trial(const bench_t *bench, trial_t *trial, const attn_problem_t *problem,
                         measure_t *time, double *relative) {
    const int64_t stride = accuracy_stride_for_rows(problem, CHECKED_ROWS);
    gradients_t gradients = {.files = {.count = 0}};
    int status = CLI_OK;
    if (!bench->backward) {
        if (trial_time(trial, bench->seconds, time) ||
            accuracy_error(problem, &trial->io, stride, relative, &trial->error))
            return cli_reject(trial->backend->id, &trial->error);
        return CLI_OK;
    }
    status = gradients_draw(&gradients, trial, ARRAY_SEED);
    if (!status && (trial_run(trial) || gradients_time(&gradients, trial, bench->seconds, time)))
        status = cli_reject(trial->backend->id, &trial->error);
    *relative = NAN; /* where weights are not softmax's */
    if (!status && trial->backend->features & ATTN_FEATURE_LSE)
        status = gradients_error(&gradients, trial, problem, stride, relative);
    gradients_free(&gradients);
    return status;
}

static int measure_one(bench_t *bench, const attn_backend_t *backend, const attn_problem_t *problem,
                       const attn_io_t *inputs, array_t *shared) {
    const measure_t never = {.median = NAN, .low = NAN, .high = NAN};
    measure_t time;
    double relative;
    trial_t trial;
    int status = CLI_OK;
    const attn_status_t planned = trial_plan(&trial, bench->context, backend, problem,
                                             &bench->settings, &bench->inputs.given);
    if (planned == ATTN_OK) measure_peaks(bench);
    if (planned == ATTN_ERROR_UNSUPPORTED) {
        cli_warn("%s with n = %lld, m = %lld: %s", backend->id, (long long)problem->queries,
                 (long long)problem->keys, trial.error.message);
        add_row(bench, &trial, problem, &never, NAN);
    } else if (!planned && trial_load(&trial, shared)) {
        status = CLI_USAGE;
    } else if (planned || trial_prepare(&trial, inputs)) {
        status = cli_reject(backend->id, &trial.error);
    } else {
        status = measure_trial(bench, &trial, problem, &time, &relative);
        if (!status && isnan(trial.cost.pairs)) count_pairs(&trial, problem);
        if (!status) add_row(bench, &trial, problem, &time, relative);
    }
    trial_free(&trial);
    return status;
}

/* Random inputs of these sizes, or those of the files. */
static int measure_problem(bench_t *bench, const attn_problem_t *sizes) {
    inputs_t inputs = bench->inputs;
    inputs.backward = bench->backward;
    int status = has_files(bench) ? inputs_load(&inputs) : inputs_draw(&inputs, sizes);
    for (int i = 0; !status && i < bench->selection.count; i++)
        status = measure_one(bench, attn_backend_at(bench->context, bench->selection.indices[i]),
                             &inputs.problem, &inputs.io, inputs.shared);
    inputs_free(&inputs);
    return status;
}

/* ---- all problems ---------------------------------------------------------------------------- */

/* Value `index` of a list, and whether there is one; an empty list is `fallback` alone. */
static int value_at(const option_integers_t *list, int index, int64_t fallback, int64_t *value) {
    *value = list->count ? list->items[index < list->count ? index : 0] : fallback;
    return index < (list->count ? list->count : 1);
}

/* All values of kv_heads, for one of everything else. */
static int measure_groups(bench_t *bench, attn_problem_t *problem) {
    int64_t kv;
    for (int a = 0; value_at(&bench->kv_heads, a, problem->heads, &kv); a++) {
        problem->kv_heads = kv;
        const int status = measure_problem(bench, problem);
        if (status) return status;
    }
    return CLI_OK;
}

static int measure_sizes(bench_t *bench) {
    int64_t h, n, m, d, dv;
    if (has_files(bench)) return measure_problem(bench, NULL);
    for (int a = 0; value_at(&bench->heads, a, 8, &h); a++)
        for (int b = 0; value_at(&bench->n, b, 1024, &n); b++)
            for (int c = 0; value_at(&bench->m, c, n, &m); c++)
                for (int e = 0; value_at(&bench->d, e, 64, &d); e++)
                    for (int f = 0; value_at(&bench->dv, f, d, &dv); f++) {
                        attn_problem_t problem;
                        attn_problem_init(&problem, 1, h, n, m, d, dv);
                        const int status = measure_groups(bench, &problem);
                        if (status) return status;
                    }
    return CLI_OK;
}

/* A context has a fixed number of threads, so there is one for each number. */
static int measure_threads(bench_t *bench) {
    int status = CLI_OK;
    for (int i = 0; !status && value_at(&bench->threads, i, 1, &bench->settings.threads); i++) {
        status = settings_context(&bench->settings, &bench->context);
        if (!status) status = settings_select(bench->context, &bench->backends, &bench->selection);
        if (!status) status = settings_check(&bench->settings, bench->context, &bench->selection);
        if (!status) status = given_check(&bench->inputs.given, bench->context, &bench->selection);
        if (!status) status = measure_sizes(bench);
        attn_context_destroy(bench->context);
        bench->context = NULL;
    }
    return status;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_json(const bench_t *bench, const char *host) {
    printf("{\"host\": ");
    json_string(stdout, host);
    printf(", \"compiler\": ");
    json_string(stdout, host_compiler());
    printf(", \"commit\": ");
    json_string(stdout, host_commit());
    printf(", \"peak_gflops\": ");
    json_number(stdout, bench->peak > 0 ? bench->peak : NAN);
    printf(", \"read_gbps\": ");
    json_number(stdout, bench->read > 0 ? bench->read : NAN);
    printf(",\n\"rows\": ");
    table_print(&bench->table, TABLE_JSON, stdout);
    puts("}");
}

static int print(const bench_t *bench) {
    char host[192];
    host_cpu(host, sizeof host);
    if (bench->table.broken) return cli_complain(CLI_USAGE, "no memory for the table");
    if (bench->format == TABLE_JSON) {
        print_json(bench, host);
        return CLI_OK;
    }
    if (bench->format != TABLE_CSV && bench->peak > 0)
        printf(
            "%s; %s; libattn %s\n"
            "measured on one core: %.4g GFLOP/s of multiply-adds, %.3g GB/s read from memory\n\n",
            host, host_compiler(), host_commit(), bench->peak, bench->read);
    table_print(&bench->table, bench->format, stdout);
    return CLI_OK;
}

/* ---- command --------------------------------------------------------------------------------- */

/* --kernels and --calibrate run no problem: what chooses one, and what --kernels alone lacks, is refused by name. */
static int check_alone(const bench_t *bench) {
    const char *mode = bench->kernels ? "kernels" : "calibrate";
    const settings_t *settings = &bench->settings;
    const char *const *paths = bench->inputs.paths;
    const rules_t *rules = &bench->inputs.rules;
    const struct {
        const char *name;
        int is_given;
    } without[] = {
        {"n", bench->n.count},
        {"m", bench->m.count},
        {"d", bench->d.count},
        {"dv", bench->dv.count},
        {"heads", bench->heads.count},
        {"kv-heads", bench->kv_heads.count},
        {"q", paths[INPUT_QUERY] != NULL},
        {"k", paths[INPUT_KEY] != NULL},
        {"v", paths[INPUT_VALUE] != NULL},
        {"threads", bench->threads.count},
        {"causal", rules->causal != NULL},
        {"window", rules->window != NULL},
        {"scale", !isnan(rules->scale)},
        {"softcap", rules->softcap != 0},
        {"backward", bench->backward},
        {"input", bench->inputs.given.inputs.count},
        {"set", settings->assignments.count},
        {"seed", settings->seed != NULL},
        {"backend", bench->kernels && bench->backends.count},
        {"plugin", bench->kernels && settings->plugins.count},
    };
    if (!bench->kernels && !bench->calibrate) return CLI_OK;
    if (bench->kernels && bench->calibrate)
        return cli_complain(CLI_USAGE, "--kernels and --calibrate exclude each other");
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (without[i].is_given)
            return cli_complain(CLI_USAGE, "--%s has no --%s", mode, without[i].name);
    return CLI_OK;
}

static int check_files(const bench_t *bench, int has_sizes) {
    const char *const *paths = bench->inputs.paths;
    if (!has_files(bench)) return CLI_OK;
    if (has_sizes) return cli_complain(CLI_USAGE, "--q, --k and --v have sizes of their own");
    if (!(paths[INPUT_QUERY] && paths[INPUT_KEY] && paths[INPUT_VALUE]))
        return cli_complain(CLI_USAGE, "bench: --q, --k and --v go together");
    return CLI_OK;
}

static int execute(bench_t *bench) {
    const int has_sizes = bench->n.count || bench->m.count || bench->d.count || bench->dv.count ||
                          bench->heads.count || bench->kv_heads.count;
    int status = format_choose(&bench->formats, &bench->format);
    if (!status) status = check_alone(bench);
    if (!status) status = check_files(bench, has_sizes);
    if (!status && bench->kernels)
        return pieces_print(&bench->settings, bench->format, bench->seconds);
    if (!status && bench->calibrate)
        return calibrate_print(&bench->settings, &bench->backends, bench->format, bench->seconds);
    if (!status) status = measure_threads(bench);
    return status ? status : print(bench);
}

static const char summary[] =
    "Speed over ranges of sizes, on independent standard normal Q, K and V, or on those of files.";
static const char details[] =
    "Every combination of the lists is a row for each backend. Kernel is what the plan runs:\n"
    "instruction set and tile, and what a parameter such as precision changed. ms is the median\n"
    "of the time of one run, between ms low and ms high (95% confidence; - where --time left but\n"
    "one). GFLOP/s and GB/s count what the method needs. The peak is that of one core's\n"
    "multiply-adds of floats with the same instruction set (integers may do more), measured in\n"
    "this run, with less effort where --time is below 0.1; the percentage is per thread. Pairs is\n"
    "the share of (query, key) pairs that are kept, of some 256 queries where a run's arrays\n"
    "decide which; touched\n"
    "that of the blocks which are computed for them.\n"
    "The error is against exact softmax attention in double precision, over about 64 rows. A\n"
    "backend that cannot solve a problem has a row without numbers, and standard error says why.\n"
    "With --backward the error is that of the gradient by Q, against exact softmax attention's;\n"
    "linear, whose weights are others, has none.\n"
    "\n"
    "--kernels times what all kernels share instead, each piece alone on data in the nearest "
    "cache\n"
    "(96 keys, d = 64), on every tier of this machine up to --cpu; the peak is the tier's own\n"
    "(compilers make vectors of the scalar tier's pieces, not of its peak).\n"
    "\n"
    "--calibrate measures what one core does at most: arithmetic by instruction set, reading "
    "memory in\n"
    "several orders (the best is what a bench's GB/s are a share of), reading arrays of growing "
    "size;\n"
    "and tells the caches, and the kernels that plans choose for usual problems.\n"
    "\n"
    "--set NAME=VALUE goes to every backend that has the parameter, --set BACKEND.NAME=VALUE to\n"
    "one. --input NAME=VALUE goes to every backend that has the array; files have to fit all "
    "sizes.";

int cli_bench(int argc, char **argv) {
    bench_t bench = {.settings = {.threads = 1},
                     .inputs = {.rules = {.scale = NAN}},
                     .seconds = 0.5,
                     .table = table_make(columns, COLUMNS)};
    const int64_t most = (int64_t)1 << 40;
    const option_t options[] = {
        {"backend", 0, OPTION_TEXTS, "A,B,...", "which backends; may be repeated (default: all)",
         &bench.backends, 0, 0},
        {"n", 0, OPTION_INTEGERS, "N,...", "queries (default 1024)", &bench.n, 1, most},
        {"m", 0, OPTION_INTEGERS, "M,...", "keys (default: n)", &bench.m, 1, most},
        {"d", 0, OPTION_INTEGERS, "D,...", "columns of Q and K (default 64)", &bench.d, 1, most},
        {"dv", 0, OPTION_INTEGERS, "DV,...", "columns of V (default: d)", &bench.dv, 1, most},
        {"heads", 0, OPTION_INTEGERS, "H,...", "heads (default 8)", &bench.heads, 1, most},
        {"kv-heads", 0, OPTION_INTEGERS, "H,...", "heads of K and V (default: heads)",
         &bench.kv_heads, 1, most},
        {"q", 0, OPTION_TEXT, "Q.npy",
         "queries, in place of sizes: (n, d), (H, n, d) or (B, H, n, d)",
         &bench.inputs.paths[INPUT_QUERY], 0, 0},
        {"k", 0, OPTION_TEXT, "K.npy", "keys", &bench.inputs.paths[INPUT_KEY], 0, 0},
        {"v", 0, OPTION_TEXT, "V.npy", "values", &bench.inputs.paths[INPUT_VALUE], 0, 0},
        {"threads", 0, OPTION_INTEGERS, "T,...", "threads to compute with (default 1)",
         &bench.threads, 1, 1024},
        RULES_OPTIONS(bench.inputs.rules),
        {"backward", 0, OPTION_SWITCH, NULL, "time the gradients by Q, K and V, not the run",
         &bench.backward, 0, 0},
        {"kernels", 0, OPTION_SWITCH, NULL, "time the pieces that kernels share", &bench.kernels, 0,
         0},
        {"calibrate", 0, OPTION_SWITCH, NULL, "tell what this machine does, and which kernels run",
         &bench.calibrate, 0, 0},
        GIVEN_INPUT(bench.inputs.given),
        SETTINGS_PARAMETERS(bench.settings),
        SETTINGS_CPU(bench.settings),
        SETTINGS_PLUGIN(bench.settings),
        {"time", 0, OPTION_NUMBER, "SECONDS", "how long to time each row (default 0.5)",
         &bench.seconds, 0, 3600},
        FORMAT_OPTIONS(bench.formats),
        {.name = NULL},
    };
    const option_command_t command = {"bench", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&bench);
    table_free(&bench.table);
    return status;
}
