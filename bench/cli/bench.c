/* cli/bench.c: `attn bench`: speed over ranges of sizes, on random input, or on arrays of files. */
#include "cli/bench_rows.h"
#include "cli/calibrate.h"
#include "cli/cli.h"
#include "cli/draw.h"
#include "cli/format.h"
#include "cli/gradients.h"
#include "cli/host.h"
#include "cli/inputs.h"
#include "cli/pieces.h"
#include "cli/runner.h"
#include "cli/stream.h"
#include "cli/table.h"
#include "cli/visible.h"
#include "measure/accuracy.h"
#include "measure/peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKED_ROWS = 64, COUNTED_ROWS = 256 };

/* Sizes in the order in which rows are measured, the last one changing first. */
enum { SIZE_BATCH, SIZE_HEADS, SIZE_N, SIZE_PAST, SIZE_M, SIZE_D, SIZE_DV, SIZE_KV_HEADS, SIZES };

typedef struct bench {
    settings_t settings; /* its threads: those of the context in use */
    inputs_t inputs;     /* files, where there are any, and what every problem is given */
    format_t formats;
    option_texts_t backends;
    option_integers_t sizes[SIZES], threads;
    const char *dtype;       /* of keys and values, a list */
    const char *query_dtype; /* of queries and output */
    attn_dtype_t dtypes[DRAW_DTYPES];
    int dtype_count;
    attn_dtype_t of_query;
    int backward, stream, kernels, calibrate, counted;
    counters_t counters;
    double seconds; /* per row */

    enum table_format format;
    attn_context_t *context;
    selection_t selection;
    bench_rows_t rows;
} bench_t;

static int has_files(const bench_t *bench) {
    const char *const *paths = bench->inputs.paths;
    return paths[INPUT_QUERY] || paths[INPUT_KEY] || paths[INPUT_VALUE];
}

/* ---- one problem ----------------------------------------------------------------------------- */

/* Pairs that no plan knows, because a run's arrays decide: those of queries from all over, by their weights.
 * Without weights they stay unknown. */
static void count_pairs(runner_t *runner, const attn_problem_t *problem) {
    const int64_t queries = problem->queries, rows = problem->batch * problem->heads * queries;
    const int64_t stride = accuracy_stride_for_rows(problem, COUNTED_ROWS);
    float *weights = runner_floats(1, 1, 1, problem->keys);
    double kept = 0, counted = 0;
    for (int64_t at = stride / 2; weights && at < rows; at += stride, counted++) {
        if (attn_weights(runner->plan, &runner->io, at / queries / problem->heads,
                         at / queries % problem->heads, at % queries, 1, weights, problem->keys,
                         &runner->error))
            break;
        for (int64_t j = 0; j < problem->keys; j++) kept += weights[j] != 0.0f;
    }
    if (counted > 0) runner->cost.pairs = kept / counted * (double)rows;
    free(weights);
}

static void warn_unsolved(const runner_t *runner, const attn_problem_t *problem) {
    cli_warn("%s with n = %lld, m = %lld: %s", runner->backend->id, (long long)problem->queries,
             (long long)problem->keys, runner->error.message);
}

/* Of its tokens one by one; without numbers where the backend has no streams for the problem. */
static int measure_stream(const bench_t *bench, runner_t *runner, const attn_problem_t *problem,
                          measure_t *time, double *relative) {
    const int64_t stride = accuracy_stride_for_rows(problem, CHECKED_ROWS);
    int64_t before = 0;
    attn_status_t failed =
        stream_time(runner, bench->context, &bench->settings, bench->seconds, &before, time);
    if (failed == ATTN_ERROR_UNSUPPORTED) {
        if (!bench->rows.round) warn_unsolved(runner, problem);
        runner->cost = (attn_cost_t){.pairs = NAN, .computed = NAN};
        return CLI_OK;
    }
    if (!failed) failed = accuracy_error(problem, &runner->io, stride, relative, &runner->error);
    if (!failed) failed = visible_tokens(runner, bench->context, &bench->settings, before);
    if (!failed) failed = stream_name_kernel(runner, bench->context, &bench->settings, 1);
    return failed ? cli_reject(runner->backend->id, &runner->error) : CLI_OK;
}

static int measure_backward(const bench_t *bench, runner_t *runner, const attn_problem_t *problem,
                            measure_t *time, double *relative) {
    const int64_t stride = accuracy_stride_for_rows(problem, CHECKED_ROWS);
    gradients_t gradients = {.files = {.count = 0}};
    int status = gradients_draw(&gradients, runner, ARRAY_SEED);
    if (!status && (runner_run(runner) || gradients_time(&gradients, runner, bench->seconds, time)))
        status = cli_reject(runner->backend->id, &runner->error);
    if (!status && runner->backend->features & ATTN_FEATURE_LSE) /* else weights are others */
        status = gradients_error(&gradients, runner, problem, stride, relative);
    gradients_free(&gradients);
    return status;
}

static int measure_run(const bench_t *bench, runner_t *runner, const attn_problem_t *problem,
                       measure_t *time, double *relative) {
    const int64_t stride = accuracy_stride_for_rows(problem, CHECKED_ROWS);
    if (runner_time(runner, bench->seconds, time) ||
        accuracy_error(problem, &runner->io, stride, relative, &runner->error))
        return cli_reject(runner->backend->id, &runner->error);
    return CLI_OK;
}

static int measure_runner(const bench_t *bench, runner_t *runner, const attn_problem_t *problem,
                          measure_t *time, double *relative) {
    if (bench->stream) return measure_stream(bench, runner, problem, time, relative);
    if (bench->backward) return measure_backward(bench, runner, problem, time, relative);
    return measure_run(bench, runner, problem, time, relative);
}

/* Of runs that are not timed: counting them may take time. */
static int count_run(bench_t *bench, runner_t *runner, bench_row_t *row) {
    enum { RUNS = 8 };
    attn_status_t failed = ATTN_OK;
    counters_start(&bench->counters);
    for (int i = 0; i < RUNS && !failed; i++) failed = runner_run(runner);
    counters_stop(&bench->counters, row->counts);
    for (int i = 0; i < COUNTERS; i++) row->counts[i] /= RUNS;
    return failed ? cli_reject(runner->backend->id, &runner->error) : CLI_OK;
}

static int measure_one(bench_t *bench, const attn_backend_t *backend, const attn_problem_t *problem,
                       const attn_io_t *inputs, array_t *shared) {
    measure_t time = {.median = NAN, .low = NAN, .high = NAN};
    double relative = NAN;
    runner_t runner;
    int status = CLI_OK;
    const attn_status_t planned = runner_plan(&runner, bench->context, backend, problem,
                                              &bench->settings, &bench->inputs.arguments);
    if (planned == ATTN_ERROR_UNSUPPORTED) {
        if (!bench->rows.round) warn_unsolved(&runner, problem);
    } else if (!planned && runner_load(&runner, shared)) {
        status = CLI_USAGE;
    } else if (planned || runner_prepare(&runner, inputs) ||
               visible_lengths(&runner, bench->context, &bench->settings)) {
        status = cli_reject(backend->id, &runner.error);
    } else {
        status = measure_runner(bench, &runner, problem, &time, &relative);
        if (!status && !isnan(time.median) && isnan(runner.cost.pairs))
            count_pairs(&runner, problem);
    }
    bench_row_t row = {.runner = &runner,
                       .problem = problem,
                       .time = time,
                       .error = relative,
                       .threads = bench->settings.threads,
                       .stream = bench->stream,
                       .backward = bench->backward};
    if (!status && bench->counted && !isnan(time.median)) status = count_run(bench, &runner, &row);
    if (!status) bench_rows_add(&bench->rows, &row);
    runner_free(&runner);
    return status;
}

static int check_gradients(const attn_problem_t *problem) {
    const int is_query = problem->dtype != ATTN_F32;
    if (!problem->backward || (!is_query && problem->kv_dtype == ATTN_F32)) return CLI_OK;
    return cli_complain(CLI_USAGE, "--backward measures gradients in f32, and %s %s",
                        is_query ? "Q is" : "K and V are",
                        attn_dtype_name(is_query ? problem->dtype : problem->kv_dtype));
}

/* Random inputs of these sizes, or those of the files. */
static int measure_problem(bench_t *bench, const attn_problem_t *sizes) {
    inputs_t inputs = bench->inputs;
    inputs.backward = bench->backward;
    int status = has_files(bench) ? inputs_load(&inputs) : inputs_draw(&inputs, sizes);
    if (!status) status = check_gradients(&inputs.problem);
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

/* A size that is not given follows those before it. */
static int64_t default_size(int size, const int64_t values[SIZES]) {
    switch (size) {
    case SIZE_BATCH:
        return 1;
    case SIZE_HEADS:
        return 8;
    case SIZE_N:
        return 1024;
    case SIZE_PAST:
        return 0;
    case SIZE_M:
        return values[SIZE_PAST] + values[SIZE_N];
    case SIZE_D:
        return 64;
    case SIZE_DV:
        return values[SIZE_D];
    default:
        return values[SIZE_HEADS];
    }
}

/* In every element type. */
static int measure_types(bench_t *bench, const int64_t values[SIZES]) {
    attn_problem_t problem;
    int status = CLI_OK;
    if (values[SIZE_PAST] > values[SIZE_M])
        return cli_complain(CLI_USAGE, "--past: %lld keys of %lld (--m counts the past, too)",
                            (long long)values[SIZE_PAST], (long long)values[SIZE_M]);
    attn_problem_init(&problem, values[SIZE_BATCH], values[SIZE_HEADS], values[SIZE_N],
                      values[SIZE_M], values[SIZE_D], values[SIZE_DV]);
    problem.kv_heads = values[SIZE_KV_HEADS];
    problem.past = values[SIZE_PAST];
    for (int i = 0; !status && i < bench->dtype_count; i++) {
        problem.dtype = bench->of_query;
        problem.kv_dtype = bench->dtypes[i];
        status = measure_problem(bench, &problem);
    }
    return status;
}

/* All values of sizes from number `size` on, beside those before it. */
static int measure_sizes(bench_t *bench, int size, int64_t values[SIZES]) {
    int status = CLI_OK;
    if (size == SIZES) return measure_types(bench, values);
    const int64_t fallback = default_size(size, values);
    for (int i = 0; !status && value_at(&bench->sizes[size], i, fallback, &values[size]); i++)
        status = measure_sizes(bench, size + 1, values);
    return status;
}

static int measure_all(bench_t *bench) {
    int64_t values[SIZES];
    return has_files(bench) ? measure_problem(bench, NULL) : measure_sizes(bench, 0, values);
}

/* A context has a fixed number of threads, so there is one for each number. */
static int measure_threads(bench_t *bench) {
    int status = CLI_OK;
    for (int i = 0; !status && value_at(&bench->threads, i, 1, &bench->settings.threads); i++) {
        status = settings_context(&bench->settings, &bench->context);
        if (!status) status = settings_select(bench->context, &bench->backends, &bench->selection);
        if (!status) status = settings_check(&bench->settings, bench->context, &bench->selection);
        if (!status)
            status = arguments_check(&bench->inputs.arguments, bench->context, &bench->selection);
        if (!status) {
            bench_rows_measure_on(&bench->rows, attn_context_tier(bench->context),
                                  peak_share(bench->seconds));
            status = measure_all(bench);
        }
        attn_context_destroy(bench->context);
        bench->context = NULL;
    }
    return status;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_json(const bench_t *bench, const char *host) {
    const double peak = bench->rows.limits.peaks[LIMIT_F32], read = bench->rows.limits.read;
    printf("{\"host\": ");
    json_string(stdout, host);
    printf(", \"compiler\": ");
    json_string(stdout, host_compiler());
    printf(", \"commit\": ");
    json_string(stdout, host_commit());
    printf(", \"peak_gflops\": ");
    json_number(stdout, peak > 0 ? peak : NAN);
    printf(", \"read_gbps\": ");
    json_number(stdout, read > 0 ? read : NAN);
    printf(",\n\"rows\": ");
    table_print(&bench->rows.table, TABLE_JSON, stdout);
    bench_rows_print_rounds(&bench->rows, stdout);
    puts("}");
}

static int print(const bench_t *bench) {
    char host[192];
    host_cpu(host, sizeof host);
    const limits_t *limits = &bench->rows.limits;
    if (bench->rows.table.broken) return cli_complain(CLI_USAGE, "no memory for the table");
    if (bench->format == TABLE_JSON) {
        print_json(bench, host);
        return CLI_OK;
    }
    if (bench->format != TABLE_CSV && limits->peaks[LIMIT_F32] > 0)
        printf(
            "%s; %s; libattn %s\n"
            "measured on one core: %.4g GFLOP/s of multiply-adds, %.3g GB/s read from memory\n\n",
            host, host_compiler(), host_commit(), limits->peaks[LIMIT_F32], limits->read);
    table_print(&bench->rows.table, bench->format, stdout);
    return CLI_OK;
}

/* ---- command --------------------------------------------------------------------------------- */

static const char *const size_names[SIZES] = {
    [SIZE_BATCH] = "batch", [SIZE_HEADS] = "heads", [SIZE_N] = "n",   [SIZE_PAST] = "past",
    [SIZE_M] = "m",         [SIZE_D] = "d",         [SIZE_DV] = "dv", [SIZE_KV_HEADS] = "kv-heads",
};

/* A size that is given; NULL for none. */
static const char *first_size(const bench_t *bench) {
    for (int i = 0; i < SIZES; i++)
        if (bench->sizes[i].count) return size_names[i];
    return NULL;
}

/* An array of the library's that a flag gives, by the flag's name; 0 for none. */
static int first_flag(const bench_t *bench, char flag[DECLARED_TEXT]) {
    attn_array_info_t info = {.struct_size = sizeof info};
    for (uint32_t i = 0; i < ATTN_ARRAY_OWN && attn_backend_array(NULL, i, &info); i++)
        if (bench->inputs.arguments.flagged[i]) {
            declared_flag(i, &info, flag);
            return 1;
        }
    return 0;
}

/* --kernels and --calibrate run no problem: what chooses one, and what --kernels alone lacks, is refused by name. */
static int check_alone(const bench_t *bench) {
    const char *mode = bench->kernels ? "kernels" : "calibrate";
    const settings_t *settings = &bench->settings;
    const char *const *paths = bench->inputs.paths;
    const rules_t *rules = &bench->inputs.rules;
    char flag[DECLARED_TEXT];
    const struct {
        const char *name;
        int is_given;
    } without[] = {
        {"q", paths[INPUT_QUERY] != NULL},
        {"k", paths[INPUT_KEY] != NULL},
        {"v", paths[INPUT_VALUE] != NULL},
        {"threads", bench->threads.count},
        {"causal", rules->causal != NULL},
        {"window", rules->window != NULL},
        {"scale", !isnan(rules->scale)},
        {"softcap", rules->softcap != 0},
        {"backward", bench->backward},
        {"stream", bench->stream},
        {"dtype", bench->dtype != NULL},
        {"q-dtype", bench->query_dtype != NULL},
        {"rounds", bench->rows.rounds > 1},
        {"counters", bench->counted},
        {"input", bench->inputs.arguments.inputs.count},
        {"set", settings->assignments.count},
        {"seed", settings->seed != NULL},
        {"backend", bench->kernels && bench->backends.count},
        {"plugin", bench->kernels && settings->plugins.count},
    };
    if (!bench->kernels && !bench->calibrate) return CLI_OK;
    if (bench->kernels && bench->calibrate)
        return cli_complain(CLI_USAGE, "--kernels and --calibrate exclude each other");
    if (first_size(bench))
        return cli_complain(CLI_USAGE, "--%s has no --%s", mode, first_size(bench));
    if (first_flag(bench, flag)) return cli_complain(CLI_USAGE, "--%s has no --%s", mode, flag);
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (without[i].is_given)
            return cli_complain(CLI_USAGE, "--%s has no --%s", mode, without[i].name);
    return CLI_OK;
}

static int check_files(const bench_t *bench) {
    const char *const *paths = bench->inputs.paths;
    if (!has_files(bench)) return CLI_OK;
    if (first_size(bench))
        return cli_complain(CLI_USAGE, "--%s: --q, --k and --v have sizes of their own",
                            first_size(bench));
    if (bench->dtype)
        return cli_complain(CLI_USAGE, "--dtype: --k and --v have element types of their own");
    if (bench->query_dtype)
        return cli_complain(CLI_USAGE, "--q-dtype: --q has an element type of its own");
    if (!(paths[INPUT_QUERY] && paths[INPUT_KEY] && paths[INPUT_VALUE]))
        return cli_complain(CLI_USAGE, "bench: --q, --k and --v go together");
    return CLI_OK;
}

/* Scales of random keys and values are made with these. */
static int check_scales(const bench_t *bench) {
    static const uint32_t scales[] = {ATTN_ARRAY_KEY_SCALES, ATTN_ARRAY_VALUE_SCALES};
    attn_array_info_t info = {.struct_size = sizeof info};
    char label[DECLARED_TEXT];
    for (int i = 0; !has_files(bench) && i < 2; i++)
        if (attn_backend_array(NULL, scales[i], &info) &&
            arguments_value(&bench->inputs.arguments, scales[i], &info, label))
            return cli_complain(CLI_USAGE, "%s: is for --k and --v; --dtype=i8 makes its own",
                                label);
    return CLI_OK;
}

/* A stream's queries are its last tokens: that is the corner where none is named. */
static void choose_corner(bench_t *bench) {
    rules_t *rules = &bench->inputs.rules;
    if (bench->stream && rules->causal && !*rules->causal && !bench->sizes[SIZE_PAST].count)
        rules->causal = "bottom-right";
}

static int check_ways(const bench_t *bench) {
    attn_array_info_t info = {.struct_size = sizeof info};
    char label[DECLARED_TEXT];
    if (bench->stream && bench->backward)
        return cli_complain(CLI_USAGE, "--stream and --backward exclude each other");
    if (bench->stream && !bench->inputs.rules.causal && !bench->inputs.rules.window)
        return cli_complain(CLI_USAGE, "--stream needs --causal");
    attn_backend_array(NULL, ATTN_ARRAY_KV_LENGTHS, &info);
    if (bench->stream &&
        arguments_value(&bench->inputs.arguments, ATTN_ARRAY_KV_LENGTHS, &info, label))
        return cli_complain(CLI_USAGE, "--stream has no %s: its keys are those that came", label);
    if (bench->counted && (bench->stream || bench->backward))
        return cli_complain(CLI_USAGE, "--counters is for runs, not for --%s",
                            bench->stream ? "stream" : "backward");
    return check_scales(bench);
}

static int open_counters(bench_t *bench) {
    const char *refusal = bench->counted ? counters_open(&bench->counters) : NULL;
    if (refusal) return cli_complain(CLI_USAGE, "--counters: %s", refusal);
    if (bench->counted) bench_rows_show_counts(&bench->rows);
    return CLI_OK;
}

static int read_query_dtype(bench_t *bench) {
    attn_dtype_t dtypes[DRAW_DTYPES];
    int count;
    const int status = draw_read_dtypes(bench->query_dtype, "--q-dtype", dtypes, &count);
    bench->of_query = dtypes[0];
    if (!status && (count > 1 || dtypes[0] == ATTN_I8))
        return cli_complain(CLI_USAGE, "--q-dtype: '%s' is none of f32, f16 and bf16",
                            bench->query_dtype);
    return status;
}

static int execute(bench_t *bench) {
    int status = format_choose(&bench->formats, &bench->format);
    if (!status) status = check_alone(bench);
    if (!status) status = check_files(bench);
    if (!status)
        status = draw_read_dtypes(bench->dtype, "--dtype", bench->dtypes, &bench->dtype_count);
    if (!status) status = read_query_dtype(bench);
    if (!status) status = check_ways(bench);
    choose_corner(bench);
    if (!status && bench->kernels)
        return pieces_print(&bench->settings, bench->format, bench->seconds);
    if (!status && bench->calibrate)
        return calibrate_print(&bench->settings, &bench->backends, bench->format, bench->seconds);
    if (!status) status = open_counters(bench);
    for (; !status && bench->rows.round < bench->rows.rounds; bench_rows_end_round(&bench->rows))
        status = measure_threads(bench);
    if (bench->counted) counters_close(&bench->counters);
    return status ? status : print(bench);
}

static const char summary[] =
    "Measure speed over ranges of sizes, on standard normal Q, K and V or on files.";
static const char details[] =
    "Each combination of the lists is one row for each backend.\n"
    "\n"
    "kernel   what the plan runs: instruction set and tile, and the effect of a parameter such as\n"
    "         precision\n"
    "ms       median time of one run; ms low and ms high: its 95% confidence interval (- when\n"
    "         --time left only one run)\n"
    "GFLOP/s, GB/s\n"
    "         operations that the method needs, and bytes of queries, results and visible keys\n"
    "         and values (as their types and --kv-lens say), by time\n"
    "peak     multiply-adds on one core in the number format and with the instruction set that\n"
    "         'peak of' names, measured in this run; '/ 3': three products for each of the\n"
    "         method's. The percentage is per thread\n"
    "FLOP/B   arithmetic intensity: operations for each of these bytes; roofline: the GFLOP/s "
    "that\n"
    "         peak and reading memory allow, times threads. Arrays in a cache may do better\n"
    "pairs    share of (query, key) pairs that are kept, estimated from 256 queries where the\n"
    "         arrays decide; computed: share of the pairs in the blocks that are computed\n"
    "error    against exact softmax attention in double precision, over about 64 rows; with\n"
    "         --backward, of the gradient by Q (none for linear, which has other weights)\n"
    "\n"
    "A backend that cannot solve a problem has a row without numbers; standard error says why.\n"
    "\n"
    "--stream: a row is the last n of m tokens, one by one; those before them are appended before\n"
    "the clock starts. Its --causal without a corner is bottom-right, unless --past says where\n"
    "the queries stand. Kernel is what a token runs. linear keeps sums in place of keys, so it\n"
    "has no GFLOP/s and GB/s there.\n"
    "\n"
    "--kernels times the pieces that all kernels share, each alone on data in the nearest cache\n"
    "(96 keys, d = 64), on every tier of this machine up to --cpu, against the tier's own peak.\n"
    "(Compilers vectorise the scalar tier's pieces, not its peak.)\n"
    "\n"
    "--calibrate measures the limits of one core: arithmetic by instruction set, and reading\n"
    "memory in several orders (the best one is what GB/s are compared with) and in arrays of\n"
    "growing size. It also lists the caches, and the kernels that plans choose for common\n"
    "problems.\n"
    "\n"
    "--set NAME=VALUE goes to every backend that has the parameter, --set BACKEND.NAME=VALUE to\n"
    "one. --input NAME=VALUE goes to every backend that has the array; files have to fit all\n"
    "sizes.";

int cli_bench(int argc, char **argv) {
    bench_t bench = {.settings = {.threads = 1},
                     .inputs = {.rules = {.scale = NAN}},
                     .seconds = 0.5,
                     .rows = bench_rows_make()};
    const int64_t most = (int64_t)1 << 40;
    option_t options[OPTION_LIST_SIZE] = {
        {"backend", 0, OPTION_TEXTS, "A,B,...", "which backends; may be repeated (default: all)",
         &bench.backends, 0, 0},
        {"n", 0, OPTION_INTEGERS, "N,...", "queries (default 1024)", &bench.sizes[SIZE_N], 1, most},
        {"m", 0, OPTION_INTEGERS, "M,...", "keys, those of the past included (default: past + n)",
         &bench.sizes[SIZE_M], 1, most},
        {"past", 0, OPTION_INTEGERS, "P,...", "keys before the first query (default 0)",
         &bench.sizes[SIZE_PAST], 0, most},
        {"d", 0, OPTION_INTEGERS, "D,...", "columns of Q and K (default 64)", &bench.sizes[SIZE_D],
         1, most},
        {"dv", 0, OPTION_INTEGERS, "DV,...", "columns of V (default: d)", &bench.sizes[SIZE_DV], 1,
         most},
        {"batch", 0, OPTION_INTEGERS, "B,...", "sequences (default 1)", &bench.sizes[SIZE_BATCH], 1,
         most},
        {"heads", 0, OPTION_INTEGERS, "H,...", "heads (default 8)", &bench.sizes[SIZE_HEADS], 1,
         most},
        {"kv-heads", 0, OPTION_INTEGERS, "H,...", "heads of K and V (default: heads)",
         &bench.sizes[SIZE_KV_HEADS], 1, most},
        {"dtype", 0, OPTION_TEXT, "T,...", "elements of K and V: f32 (default), f16, bf16, i8",
         &bench.dtype, 0, 0},
        {"q-dtype", 0, OPTION_TEXT, "T",
         "elements of Q and of the output: f32 (default), f16, bf16", &bench.query_dtype, 0, 0},
        {"q", 0, OPTION_TEXT, "Q.npy",
         "queries, in place of sizes: (n, d), (H, n, d) or (B, H, n, d)",
         &bench.inputs.paths[INPUT_QUERY], 0, 0},
        {"k", 0, OPTION_TEXT, "K.npy", "keys", &bench.inputs.paths[INPUT_KEY], 0, 0},
        {"v", 0, OPTION_TEXT, "V.npy", "values", &bench.inputs.paths[INPUT_VALUE], 0, 0},
        {"threads", 0, OPTION_INTEGERS, "T,...", "threads to compute with (default 1)",
         &bench.threads, 1, 1024},
        RULES_OPTIONS(bench.inputs.rules),
        {"backward", 0, OPTION_SWITCH, NULL, "time the gradients by Q, K and V instead of the run",
         &bench.backward, 0, 0},
        {"stream", 0, OPTION_SWITCH, NULL,
         "decode token by token: append its key and value, then query; needs --causal",
         &bench.stream, 0, 0},
        {"counters", 0, OPTION_SWITCH, NULL,
         "also cycles, instructions and cache misses of a run on the calling thread",
         &bench.counted, 0, 0},
        {"kernels", 0, OPTION_SWITCH, NULL, "time the pieces that kernels share", &bench.kernels, 0,
         0},
        {"calibrate", 0, OPTION_SWITCH, NULL,
         "measure the limits of this machine, and list the kernels that run", &bench.calibrate, 0,
         0},
        ARGUMENTS_INPUT(bench.inputs.arguments),
        SETTINGS_PARAMETERS(bench.settings),
        SETTINGS_CPU(bench.settings),
        SETTINGS_PLUGIN(bench.settings),
        {"time", 0, OPTION_NUMBER, "SECONDS",
         "how long to time each row, in each round (default 0.5)", &bench.seconds, 0, 3600},
        {"rounds", 0, OPTION_INTEGER, "R", "measure all rows so many times, by turns (default 1)",
         &bench.rows.rounds, 1, BENCH_MOST_ROUNDS},
        FORMAT_OPTIONS(bench.formats),
    };
    arguments_add_flags(&bench.inputs.arguments, ATTN_ROLE_INPUT, options);
    const option_command_t command = {"bench", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&bench);
    bench_rows_free(&bench.rows);
    return status;
}
