/* cli/run.c: `attn run`: one backend on .npy files. */
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/table.h"
#include "cli/trial.h"
#include "tools/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct run {
    settings_t settings;
    inputs_t inputs;
    const char *backend, *out, *lse, *weights;

    attn_context_t *context;
    trial_t trial;
    float *weight_rows; /* (B, H, n, m) */
    double seconds;
} run_t;

static int compute_weights(run_t *run) {
    const attn_problem_t *problem = &run->inputs.problem;
    const int64_t n = problem->queries, m = problem->keys;
    run->weight_rows = trial_floats(problem->batch, problem->heads, n, m);
    if (!run->weight_rows)
        return cli_complain(CLI_USAGE, "no memory for %lld x %lld x %lld x %lld weights",
                            (long long)problem->batch, (long long)problem->heads, (long long)n,
                            (long long)m);
    float *rows = run->weight_rows;
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t h = 0; h < problem->heads; h++, rows += n * m)
            if (attn_weights(run->trial.plan, &run->trial.io, b, h, 0, n, rows, m,
                             &run->trial.error))
                return cli_reject(NULL, &run->trial.error);
    return CLI_OK;
}

static int compute(run_t *run) {
    trial_t *trial = &run->trial;
    const attn_backend_t *backend = attn_backend_find(run->context, run->backend);
    if (!backend)
        return cli_complain(CLI_USAGE, "unknown backend '%s' (see attn list)", run->backend);
    if (trial_plan(trial, run->context, backend, &run->inputs.problem, &run->settings) ||
        trial_prepare(trial, run->inputs.tensors, run->lse != NULL))
        return cli_reject(NULL, &trial->error);
    const double start = measure_clock();
    if (trial_run(trial)) return cli_reject(NULL, &trial->error);
    run->seconds = measure_clock() - start;
    return run->weights ? compute_weights(run) : CLI_OK;
}

/* An array with the leading dimensions that Q's file has; `dropped` trailing ones are 1. */
typedef struct array {
    const char *path;
    const float *data;
    int64_t columns;
    int dropped;
    char header[NPY_HEADER_SIZE];
} array_t;

static void add_array(const run_t *run, array_t *array, output_t *output) {
    const attn_problem_t *problem = &run->inputs.problem;
    const int32_t rank = run->inputs.ranks[INPUT_QUERY];
    const int64_t b = problem->batch, h = problem->heads, n = problem->queries;
    const int64_t full[4] = {b, h, n, array->columns}, short_one[4] = {1, b, h, n};
    const size_t size = array->dropped ? npy_header(array->header, rank - 1, short_one)
                                       : npy_header(array->header, rank, full);
    const size_t elements = (size_t)b * (size_t)h * (size_t)n * (size_t)array->columns;
    output_add(output, array->path, array->header, size, array->data, elements * sizeof(float));
}

static int write_outputs(const run_t *run) {
    const attn_problem_t *problem = &run->inputs.problem;
    array_t arrays[] = {
        {.path = run->out, .data = run->trial.out, .columns = problem->value_dim},
        {.path = run->lse, .data = run->trial.lse, .columns = 1, .dropped = 1},
        {.path = run->weights, .data = run->weight_rows, .columns = problem->keys},
    };
    output_t output = {.count = 0};
    for (int i = 0; i < 3; i++)
        if (arrays[i].path) add_array(run, &arrays[i], &output);
    return output_write(&output);
}

static const char *corner_name(int32_t causal) {
    return causal == ATTN_CAUSAL_NONE       ? "no"
           : causal == ATTN_CAUSAL_TOP_LEFT ? "top-left"
                                            : "bottom-right";
}

static void report(const run_t *run) {
    const inputs_t *inputs = &run->inputs;
    const attn_problem_t *problem = &inputs->problem;
    const attn_cost_t *cost = &run->trial.cost;
    const double all = (double)problem->batch * (double)problem->heads * (double)problem->queries *
                       (double)problem->keys;
    char shapes[INPUT_COUNT][96], workspace[24];
    printf("backend          %s %s\n", run->trial.backend->id, run->trial.backend->version);
    printf("kernel           %s\n", attn_plan_kernel(run->trial.plan));
    printf("sizes            Q %s, K %s, V %s\n", inputs_shape(inputs, INPUT_QUERY, shapes[0]),
           inputs_shape(inputs, INPUT_KEY, shapes[1]),
           inputs_shape(inputs, INPUT_VALUE, shapes[2]));
    printf("causal           %s\n", corner_name(problem->causal));
    if (!isnan(problem->scale)) printf("scale            %.9g\n", (double)problem->scale);
    printf("time             %.4g ms\n", 1e3 * run->seconds);
    if (!isnan(cost->flops))
        printf("speed            %.4g GFLOP/s\n", 1e-9 * cost->flops / run->seconds);
    if (!isnan(cost->pairs)) printf("pairs            %.4g%% of n m\n", 100 * cost->pairs / all);
    printf("workspace        %s\n",
           table_bytes(workspace, (double)attn_plan_workspace_size(run->trial.plan)));
    printf("non-finite       %lld in Q, %lld in K, %lld in V\n",
           (long long)inputs->nonfinite[INPUT_QUERY], (long long)inputs->nonfinite[INPUT_KEY],
           (long long)inputs->nonfinite[INPUT_VALUE]);
    printf("degenerate rows  %lld\n", (long long)run->trial.report.degenerate_rows);
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; attn_plan_fact(run->trial.plan, i, &fact); i++) {
        if (fact.text)
            printf("%-16s %s\n", fact.label, fact.text);
        else
            printf("%-16s %.9g\n", fact.label, fact.number);
    }
}

static int execute(run_t *run) {
    int status = settings_context(&run->settings, &run->context);
    option_texts_t backend = {.count = 1, .items = {run->backend}};
    selection_t selection;
    if (!status) status = settings_select(run->context, &backend, &selection);
    if (!status) status = settings_check(&run->settings, run->context, &selection);
    if (!status) status = inputs_load(&run->inputs);
    if (!status) status = compute(run);
    if (!status) status = write_outputs(run);
    if (!status) report(run);
    return status;
}

static const char summary[] = "Compute attention with one backend; prints a short report.";
static const char details[] =
    "Arrays are .npy files of float32 or float64, in C or Fortran order. NaN and infinity are\n"
    "computed with as IEEE 754 says, and counted. Output files appear complete or not at all.";

int cli_run(int argc, char **argv) {
    run_t run = {.settings = {.threads = 1}, .inputs = {.scale = NAN}};
    const option_t options[] = {
        {"BACKEND", 0, OPTION_ARGUMENT, NULL, "softmax, or another that attn list shows",
         &run.backend, 0, 0},
        INPUTS_ARRAYS(run.inputs),
        {"output", 'o', OPTION_TEXT | OPTION_REQUIRED, "O.npy",
         "where the result goes: float32, of Q's rank", &run.out, 0, 0},
        {"lse", 0, OPTION_TEXT, "L.npy", "also write log sum_j exp(S_ij): (n), (H, n) or (B, H, n)",
         &run.lse, 0, 0},
        {"weights", 0, OPTION_TEXT, "W.npy",
         "also write the effective weights: (n, m), (H, n, m) or (B, H, n, m)", &run.weights, 0, 0},
        INPUTS_RULES(run.inputs),
        SETTINGS_PARAMETERS(run.settings),
        SETTINGS_THREADS(run.settings),
        SETTINGS_CPU(run.settings),
        SETTINGS_PLUGIN(run.settings),
        {.name = NULL},
    };
    const option_command_t command = {"run", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&run);
    free(run.weight_rows);
    trial_free(&run.trial);
    inputs_free(&run.inputs);
    attn_context_destroy(run.context);
    return status;
}
