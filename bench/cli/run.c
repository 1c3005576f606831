/* cli/run.c: `attn run`: one backend on .npy files. */
#include "cli/cli.h"
#include "cli/gradients.h"
#include "cli/inputs.h"
#include "cli/mpi/join.h"
#include "cli/mpi/ranks.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/runner.h"
#include "cli/stream.h"
#include "cli/visible.h"
#include "measure/accuracy.h"
#include "npy/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_command {
    settings_t settings;
    inputs_t inputs;
    const char *backend, *weights, *present_key, *present_value;
    int64_t scores_mode; /* -1: none given */
    int64_t chunk;       /* of a stream; 0: no stream */
    int64_t mpi_wait;    /* -1: none given; cli/mpi/join.c has read it */

    attn_context_t *context;
    runner_t runner;
    gradients_t gradients;
    float *weight_rows; /* (B, H, n, m) */
    int is_on_stdout;   /* an array, which has it alone */
    int json, wants_error, over_ranks;
    report_t report;
} run_command_t;

static int compute_weights(run_command_t *run) {
    const attn_problem_t *problem = &run->inputs.problem;
    const int64_t n = problem->queries, m = problem->keys;
    run->weight_rows = runner_floats(problem->batch, problem->heads, n, m);
    if (!run->weight_rows)
        return cli_complain(CLI_USAGE, "no memory for %lld x %lld x %lld x %lld weights",
                            (long long)problem->batch, (long long)problem->heads, (long long)n,
                            (long long)m);
    float *rows = run->weight_rows;
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t h = 0; h < problem->heads; h++, rows += n * m)
            if (attn_weights(run->runner.plan, &run->runner.io, b, h, 0, n, rows, m,
                             &run->runner.error))
                return cli_reject(NULL, &run->runner.error);
    return CLI_OK;
}

/* How far the result is from exact softmax attention. */
static int compute_error(run_command_t *run) {
    runner_t *runner = &run->runner;
    inputs_t *inputs = &run->inputs;
    const int64_t stride = accuracy_stride(&inputs->problem, ACCURACY_WORK);
    const attn_io_t io = runner_exact_io(runner, inputs);
    if (!run->wants_error) return CLI_OK;
    if (accuracy_error(&inputs->problem, &io, stride, &run->report.error, &runner->error))
        return cli_reject(NULL, &runner->error);
    return CLI_OK;
}

static int compute(run_command_t *run) {
    runner_t *runner = &run->runner;
    const attn_backend_t *backend = attn_backend_find(run->context, run->backend);
    if (!backend) return settings_unknown(run->context, run->backend, strlen(run->backend));
    if (runner_plan_inputs(runner, run->context, backend, &run->inputs, &run->settings))
        return cli_reject(NULL, &runner->error);
    if (runner_load_inputs(runner, &run->inputs)) return CLI_USAGE;
    if (runner_prepare(runner, &run->inputs.io) ||
        visible_lengths(runner, run->context, &runner->settings))
        return cli_reject(NULL, &runner->error);
    if (gradients_prepare(&run->gradients, runner)) return CLI_USAGE;
    const double start = measure_clock();
    if (run->chunk ? stream_run(runner, run->context, &run->settings, run->chunk,
                                &run->report.stream_memory)
                   : attn_run(runner->plan, &runner->io, &runner->error))
        return cli_reject(NULL, &runner->error);
    run->report.seconds = measure_clock() - start;
    if (run->chunk && stream_name_kernel(runner, run->context, &run->settings, run->chunk))
        return cli_reject(NULL, &runner->error);
    const double turn = measure_clock();
    if (run->inputs.backward && gradients_run(&run->gradients, runner))
        return cli_reject(NULL, &runner->error);
    run->report.gradient_seconds = measure_clock() - turn;
    if (compute_error(run)) return CLI_USAGE;
    return run->weights ? compute_weights(run) : CLI_OK;
}

/* All files of a run, on their way. */
typedef struct targets {
    int count;
    char headers[BESIDE_MOST][NPY_HEADER_SIZE];
    output_t output;
} targets_t;

_Static_assert((int)INPUT_QUERY == (int)ATTN_ARRAY_QUERY &&
                   (int)INPUT_VALUE == (int)ATTN_ARRAY_VALUE,
               "files are in the order of their arrays");

/* A file of the last `rank` dimensions of a tensor in C order; a path of NULL is none. */
static int add_target(run_command_t *run, targets_t *targets, const char *path,
                      const attn_tensor_t *tensor, int32_t rank) {
    if (!path) return CLI_OK;
    if (targets->count == BESIDE_MOST)
        return cli_complain(CLI_USAGE, "more than %d outputs", BESIDE_MOST);
    char *header = targets->headers[targets->count++];
    size_t bytes = npy_element_size(tensor->dtype);
    for (int axis = 0; axis < 4; axis++) bytes *= (size_t)tensor->shape[axis];
    const size_t size = npy_header(header, tensor->dtype, rank, tensor->shape);
    output_add(&targets->output, path, header, size, tensor->data, bytes);
    run->is_on_stdout |= place_is_stdout(path);
    if (run->json && run->is_on_stdout)
        return cli_complain(CLI_USAGE, "--json: standard output has an array already");
    return CLI_OK;
}

/* The same of a tensor without its last axes, which are 1. */
static int add_shorter(run_command_t *run, targets_t *targets, const char *path,
                       attn_tensor_t tensor, int32_t left_out, int32_t rank) {
    for (int axis = 3; axis >= 0; axis--)
        tensor.shape[axis] = axis >= left_out ? tensor.shape[axis - left_out] : 1;
    return add_target(run, targets, path, &tensor, rank);
}

/* An output without the axes that Q's file lacks, and without those at its end that are always 1. */
static int add_output(run_command_t *run, targets_t *targets, const char *path,
                      const attn_tensor_t *tensor, const attn_array_info_t *info) {
    int32_t left_out;
    const int32_t rank =
        declared_rank(info, tensor->shape, 4 - inputs_rank(&run->inputs), &left_out);
    return add_shorter(run, targets, path, *tensor, left_out, rank);
}

/* A gradient of an array is of the shape that the array's file has. */
static int add_gradient(run_command_t *run, targets_t *targets, uint32_t number,
                        const attn_array_info_t *info) {
    const inputs_t *inputs = &run->inputs;
    const array_t *of = number >= ATTN_ARRAY_OWN     ? &run->runner.arrays[number]
                        : number <= ATTN_ARRAY_VALUE ? &inputs->arrays[number]
                                                     : &inputs->shared[number];
    return add_shorter(run, targets, gradients_file(&run->gradients, info),
                       run->gradients.arrays[number].tensor, of->left_out, of->rank);
}

static int add_outputs(run_command_t *run, targets_t *targets) {
    attn_array_info_t info = {.struct_size = sizeof info};
    int status = CLI_OK;
    for (uint32_t number = 0; !status && attn_backend_array(run->runner.backend, number, &info);
         number++) {
        const array_t *output = &run->runner.arrays[number];
        if (info.role == ATTN_ROLE_OUTPUT && output->memory)
            status = add_output(run, targets,
                                arguments_value(&run->inputs.arguments, number, &info, NULL),
                                &output->tensor, &info);
        if (info.role == ATTN_ROLE_INPUT && run->gradients.arrays[number].memory)
            status = add_gradient(run, targets, number, &info);
    }
    return status;
}

/* What is written of elements of this type: .npy has no bf16. */
static attn_dtype_t written_as(attn_dtype_t dtype) { return dtype == ATTN_BF16 ? ATTN_F32 : dtype; }

/* A file's array as it is in memory, but in C order. */
static int order(array_t *array, const char *path) {
    return path ? array_copy(array, NULL, written_as(array->tensor.dtype), path) : CLI_OK;
}

/* The results are complete: nothing reads them as they were. */
static int widen_outputs(run_command_t *run) {
    for (int number = 0; number < DECLARED_MOST; number++) {
        array_t *const made[] = {&run->runner.arrays[number], &run->gradients.arrays[number]};
        for (int i = 0; i < 2; i++)
            if (made[i]->memory && made[i]->tensor.dtype == ATTN_BF16 &&
                array_copy(made[i], NULL, ATTN_F32, "the output"))
                return CLI_USAGE;
    }
    return CLI_OK;
}

static int write_outputs(run_command_t *run) {
    const attn_problem_t *problem = &run->inputs.problem;
    array_t *key = &run->inputs.arrays[INPUT_KEY], *value = &run->inputs.arrays[INPUT_VALUE];
    if (widen_outputs(run) || order(key, run->present_key) || order(value, run->present_value))
        return CLI_USAGE;
    const attn_tensor_t weights = attn_tensor_bhnd(run->weight_rows, problem->batch, problem->heads,
                                                   problem->queries, problem->keys);
    targets_t targets = {.count = 0};
    int status = add_outputs(run, &targets);
    if (!status)
        status = add_target(run, &targets, run->weights, &weights, inputs_rank(&run->inputs));
    if (!status) status = add_target(run, &targets, run->present_key, &key->tensor, key->rank);
    if (!status)
        status = add_target(run, &targets, run->present_value, &value->tensor, value->rank);
    return status ? status : output_write(&targets.output);
}

static int check_options(run_command_t *run) {
    attn_array_info_t info = {.struct_size = sizeof info};
    const int needs_rows = run->chunk || run->present_key || run->present_value || run->over_ranks;
    if (inputs_check(&run->inputs, "run",
                     needs_rows ? "--stream, --present-k, --present-v and --mpi" : NULL) ||
        gradients_check(&run->gradients))
        return CLI_USAGE;
    attn_backend_array(NULL, ATTN_ARRAY_SCORES, &info);
    if (run->scores_mode >= 0 &&
        !arguments_value(&run->inputs.arguments, ATTN_ARRAY_SCORES, &info, NULL))
        return cli_complain(CLI_USAGE, "--scores-mode needs --scores");
    if (run->chunk && run->weights) return cli_complain(CLI_USAGE, "--stream has no --weights");
    if (run->chunk && run->gradients.files.count)
        return cli_complain(CLI_USAGE, "--stream has no --grad");
    if (run->mpi_wait >= 0 && !run->over_ranks)
        return cli_complain(CLI_USAGE, "--mpi-wait needs --mpi");
    run->inputs.backward = run->gradients.files.count > 0;
    run->inputs.dense = run->wants_error ? INPUTS_DENSE_FOR_ERROR : INPUTS_DENSE_FOR_NONE;
    run->inputs.scores = run->scores_mode > 0 ? (int32_t)run->scores_mode : ATTN_SCORES_RAW;
    return CLI_OK;
}

/* What a run over ranks does not do; an exit status. */
static int check_ranks(const run_command_t *run) {
    const struct {
        int is_given;
        const char *option;
    } others[] = {{run->weights != NULL, "--weights"},
                  {run->chunk > 0, "--stream"},
                  {run->present_key != NULL, "--present-k"},
                  {run->present_value != NULL, "--present-v"},
                  {run->wants_error, "--error"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].is_given) return cli_complain(CLI_USAGE, "--mpi has no %s", others[i].option);
    return CLI_OK;
}

static int run_over_ranks(run_command_t *run, const attn_backend_t *backend) {
    ranks_run_t over = {.context = run->context,
                        .backend = backend,
                        .settings = &run->settings,
                        .inputs = &run->inputs,
                        .gradients = &run->gradients,
                        .json = run->json};
    return check_ranks(run) ? CLI_USAGE : ranks_run(&over);
}

static int execute(run_command_t *run) {
    int status = check_options(run);
    if (!status) status = settings_context(&run->settings, &run->context);
    option_texts_t backend = {.count = 1, .items = {run->backend}};
    selection_t selection;
    if (!status) status = settings_select(run->context, &backend, &selection);
    if (!status) status = settings_check(&run->settings, run->context, &selection);
    if (!status) status = arguments_check(&run->inputs.arguments, run->context, &selection);
    if (!status && run->over_ranks)
        return run_over_ranks(run, attn_backend_find(run->context, run->backend));
    if (!status) status = inputs_load(&run->inputs);
    if (!status) status = compute(run);
    if (!status) status = write_outputs(run);
    run->report.is_stream = run->chunk > 0;
    if (!status && run->json)
        report_json(&run->report);
    else if (!status && !run->is_on_stdout)
        report_text(&run->report);
    return status;
}

static const char summary[] = "Compute attention with one backend and print a short report.";
static const char details[] =
    "Arrays are .npy files, or FILE.npz:NAME and FILE.safetensors:NAME (leave out NAME when there\n"
    "is only one array), in C or Fortran order: float32, float64 (rounded to float32), float16\n"
    "and bfloat16 (computed in float32, by backends with half precision); K and V also int8 with\n"
    "--key-scales and --value-scales, one number for each row. A bfloat16 result is written as\n"
    "float32. The file name - is standard input, which is read once. NaN and infinity follow IEEE\n"
    "754 and are counted.\n"
    "\n"
    "Output files are complete or absent (attn --help names the exception). As an output, - is\n"
    "standard output, and no report is printed. Degenerate rows of linear have a normaliser of 0,\n"
    "or one lost to rounding, or are not finite.\n"
    "\n"
    "A key is visible to a query when causal, window, lengths, mask and bias all allow it. A\n"
    "query without a visible key gets zeros, and -inf as lse. Query i stands at key i, or at p +\n"
    "i after a past of p keys, or at i + m - n with bottom-right alignment. Masks and biases have\n"
    "up to 4 dimensions and broadcast as in NumPy; columns may be missing where --kv-lens leaves\n"
    "no sequence a key. Backend-specific arrays (attn list) go by --input and --output. Shapes\n"
    "align from the right: a file may lack leading axes, and trailing axes that are always 1.\n"
    "Outputs lack the latter, and leading axes that Q lacks.\n"
    "\n"
    "--grad out=DO.npy --grad query=DQ.npy --grad key=DK.npy: reads the gradient of a loss by the\n"
    "result, writes those by the inputs. The gradient of K begins with that of past K. DO is\n"
    "rounded to the result's type where that is float16 or bfloat16; bfloat16 gradients are\n"
    "written as float32.\n"
    "\n"
    "The time is that of the first call, which also fills the caches; attn bench repeats. --error\n"
    "is the relative error against softmax in double precision, as compare defines it, over\n"
    "evenly spaced rows where there are many.";

int cli_run(int argc, char **argv) {
    int done;
    if (ranks_elsewhere(argc, argv, &done)) return done;
    run_command_t run = {.settings = {.threads = 1},
                         .inputs = {.rules = {.scale = NAN}},
                         .scores_mode = -1,
                         .mpi_wait = -1,
                         .report = {.runner = &run.runner,
                                    .inputs = &run.inputs,
                                    .gradients = &run.gradients,
                                    .error = NAN}};
    option_t options[OPTION_LIST_SIZE] = {
        {"BACKEND", 0, OPTION_ARGUMENT, NULL, "softmax, or another that attn list shows",
         &run.backend, 0, 0},
        INPUTS_ARRAYS(run.inputs),
        INPUTS_CSR(run.inputs),
        {"output", 'o', OPTION_TEXTS | OPTION_REQUIRED, "O.npy",
         "the result: Q's rank, float32, or float16 if Q is; NAME=FILE: another output",
         &run.inputs.arguments.outputs, 0, 0},
        {"weights", 0, OPTION_TEXT, "W.npy",
         "also write the effective weights: (n, m), (H, n, m) or (B, H, n, m)", &run.weights, 0, 0},
        {"scores-mode", 0, OPTION_INTEGER, "MODE",
         "0: scale Q K^T (default), 1: after softcap, 2: after masks, 3: softmax", &run.scores_mode,
         0, 3},
        {"stream", 0, OPTION_INTEGER, "CHUNK",
         "use a stream: append and query CHUNK tokens at a time; needs --causal", &run.chunk, 1,
         INT64_MAX},
        {"present-k", 0, OPTION_TEXT, "PK.npy", "also write past K and K, joined", &run.present_key,
         0, 0},
        {"present-v", 0, OPTION_TEXT, "PV.npy", "also write past V and V, joined",
         &run.present_value, 0, 0},
        GRADIENTS_OPTION(run.gradients),
        {"error", 0, OPTION_SWITCH, NULL, "also report the distance from exact softmax attention",
         &run.wants_error, 0, 0},
        {"json", 0, OPTION_SWITCH, NULL, "the report as JSON, with all digits", &run.json, 0, 0},
        {"mpi", 0, OPTION_SWITCH, NULL,
         "under mpirun: each rank reads and writes its rows of the .npy files", &run.over_ranks, 0,
         0},
        {"mpi-wait", 0, OPTION_INTEGER, "SECONDS",
         "how long a rank waits for all to join; default 600, 0 for ever", &run.mpi_wait, 0,
         JOIN_MOST},
        RULES_OPTIONS(run.inputs.rules),
        SETTINGS_PARAMETERS(run.settings),
        SETTINGS_THREADS(run.settings),
        SETTINGS_CPU(run.settings),
        SETTINGS_PLUGIN(run.settings),
        ARGUMENTS_INPUT(run.inputs.arguments),
    };
    arguments_add_flags(&run.inputs.arguments, ATTN_ROLE_INPUT, options);
    arguments_add_flags(&run.inputs.arguments, ATTN_ROLE_OUTPUT, options);
    const option_command_t command = {"run", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&run);
    free(run.weight_rows);
    gradients_free(&run.gradients);
    runner_free(&run.runner);
    inputs_free(&run.inputs);
    attn_context_destroy(run.context);
    return status;
}
