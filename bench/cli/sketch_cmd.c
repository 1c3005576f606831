/* cli/sketch_cmd.c: `attn sketch`: X on fewer features, and how near that is. */
#include "cli/arrays.h"
#include "cli/cli.h"
#include "cli/container.h"
#include "cli/csr.h"
#include "cli/files.h"
#include "cli/meant.h"
#include "cli/npz.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/settings.h"
#include "cli/table.h"
#include "sketching/sketch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sketch_run {
    const char *path, *keys, *method, *algebra, *out, *scores;
    csr_t csr;
    sketching_options_t options;
    int report, json;

    int32_t *places; /* of CSR, as the algorithms have them */
    float *dense;
    sketching_x_t x;
    sketching_features_t features;
    sketching_result_t result;
    sketching_distance_t distance;
    double largest; /* r */
} sketch_run_t;

/* ---- X ----------------------------------------------------------------------------------------------- */

static const npy_wanted_t matrix = {NPY_FLOAT32 | NPY_FLOAT64, 2, 2, "2 (n, d)", 0};

static int no_memory(const sketch_run_t *run) {
    return cli_complain(CLI_USAGE, "%s: no memory for X", run->path);
}

static int take_csr(sketch_run_t *run) {
    const csr_t *csr = &run->csr;
    run->places = malloc(((size_t)csr->stored + 1) * sizeof *run->places);
    if (!run->places) return no_memory(run);
    for (int64_t at = 0; at < csr->stored; at++) {
        const int64_t place = csr->places[at];
        if (place < 0 || place >= csr->columns)
            return cli_complain(CLI_USAGE, "%s: element %lld has column %lld, must be 0 to %lld",
                                run->path, (long long)at, (long long)place,
                                (long long)csr->columns - 1);
        run->places[at] = (int32_t)place;
    }
    run->x = (sketching_x_t){.rows = csr->rows,
                             .columns = csr->columns,
                             .starts = csr->starts,
                             .indices = run->places,
                             .data = csr->values};
    return CLI_OK;
}

static void put_rows(const attn_tensor_t *from, float *to) {
    for (int64_t i = 0; i < from->shape[2]; i++)
        for (int64_t j = 0; j < from->shape[3]; j++)
            *to++ = ((const float *)from->data)[i * from->stride[2] + j * from->stride[3]];
}

/* A bad element of K is told of K's file; one of Q, with all else of X, of Q's. */
static int put_keys(const sketch_run_t *run, const attn_tensor_t *from, float *to) {
    const sketching_x_t keys = {.rows = from->shape[2], .columns = from->shape[3], .dense = to};
    attn_error_t error;
    put_rows(from, to);
    return sketching_check(&keys, 0, &error) ? cli_reject(run->keys, &error) : CLI_OK;
}

/* The rows of X, which is freed, and, below them, those of --k. `status`: how reading X went. */
static int take_dense(sketch_run_t *run, array_t *dense, int status) {
    array_t x = *dense, k = {.memory = NULL};
    if (!status && run->keys) status = container_load(&k, run->keys, &matrix);
    const int64_t rows = x.tensor.shape[2], columns = x.tensor.shape[3];
    const int64_t more = k.memory ? k.tensor.shape[2] : 0;
    if (!status && k.memory && k.tensor.shape[3] != columns)
        status = cli_complain(CLI_USAGE, "%s: has %lld features, %s has %lld", run->keys,
                              (long long)k.tensor.shape[3], run->path, (long long)columns);
    if (!status) {
        const int64_t shape[4] = {1, 1, rows + more, columns};
        run->dense = array_allocate(ATTN_F32, shape);
        if (!run->dense) status = no_memory(run);
    }
    if (!status) {
        put_rows(&x.tensor, run->dense);
        if (more) status = put_keys(run, &k.tensor, run->dense + rows * columns);
        run->x = (sketching_x_t){.rows = rows + more, .columns = columns, .dense = run->dense};
    }
    array_free(&x);
    array_free(&k);
    return status;
}

static int load_csr(sketch_run_t *run) {
    const int status = csr_load(&run->csr);
    return status ? status : take_csr(run);
}

/* A file tells by its bytes what it is; an array that is named in one is dense. */
static int load_file(sketch_run_t *run) {
    size_t size;
    char *bytes = NULL;
    array_t dense = {.memory = NULL};
    if (container_has_name(run->path))
        return take_dense(run, &dense, container_load(&dense, run->path, &matrix));
    int status = file_read(run->path, &bytes, &size);
    if (status) return status;
    if (!csr_is_packed(bytes, size)) {
        status = container_take(&dense, run->path, bytes, size, &matrix);
        return take_dense(run, &dense, status);
    }
    run->csr.archive = run->path;
    if (run->keys) status = cli_complain(CLI_USAGE, "--k takes a dense X");
    if (!status) status = csr_unpack(&run->csr, bytes, size);
    free(bytes);
    return status ? status : take_csr(run);
}

static int load(sketch_run_t *run) {
    attn_error_t error;
    const int status = run->csr.indptr ? load_csr(run) : load_file(run);
    if (status) return status;
    if (sketching_check(&run->x, run->csr.stored, &error)) return cli_reject(run->path, &error);
    return CLI_OK;
}

/* ---- the sketch ----------------------------------------------------------------------------------------- */

static int compute(sketch_run_t *run) {
    attn_error_t error;
    run->features.x = &run->x;
    if ((run->report || run->options.method != SKETCHING_OSNAP) &&
        !sketching_features_create(&run->x, &run->features))
        return no_memory(run);
    if (sketching_sketch(&run->features, &run->options, &run->result, &error))
        return cli_reject(run->path, &error);
    run->largest = sketching_largest(&run->x);
    if (run->scores && !run->result.scores)
        return cli_complain(CLI_USAGE, "--scores: method %s has none", run->method);
    if (!run->report) return CLI_OK;
    if (!run->result.solver)
        run->result.solver = run->options.solver ? run->options.solver : algebra_best();
    if (sketching_measure(&run->features, run->result.solver, run->result.y, run->result.size,
                          &run->distance, &error))
        return cli_reject(run->path, &error);
    return CLI_OK;
}

static int write_files(const sketch_run_t *run) {
    char header[2][NPY_HEADER_SIZE];
    output_t output = {.count = 0};
    const sketching_result_t *result = &run->result;
    const int64_t y[4] = {1, 1, result->rows, result->size}, s[4] = {1, 1, 1, run->x.columns};
    float *scores = NULL;
    if (run->out)
        output_add(&output, run->out, header[0], npy_header(header[0], ATTN_F32, 2, y), result->y,
                   (size_t)(result->rows * result->size) * sizeof *result->y);
    if (run->scores) {
        scores = array_allocate(ATTN_F32, s);
        if (!scores) return no_memory(run);
        for (int64_t j = 0; j < run->x.columns; j++) scores[j] = (float)result->scores[j];
        output_add(&output, run->scores, header[1], npy_header(header[1], ATTN_F32, 1, s), scores,
                   (size_t)run->x.columns * sizeof *scores);
    }
    const int status = output.count ? output_write(&output) : CLI_OK;
    free(scores);
    return status;
}

/* ---- what is said of it ----------------------------------------------------------------------------------- */

typedef struct line {
    const char *name, *title;
    double number;
    int is_told;
} line_t;

/* Distinct features among those kept; NaN where there is no memory to mark them. */
static double distinct(const sketch_run_t *run) {
    char *seen = calloc((size_t)run->x.columns, 1);
    double count = seen ? 0 : NAN;
    for (int64_t t = 0; seen && t < run->result.size; t++) {
        count += !seen[run->result.kept[t]];
        seen[run->result.kept[t]] = 1;
    }
    free(seen);
    return count;
}

static void print_line(const line_t *line, int json) {
    if (!line->is_told) return;
    if (json) {
        printf(",\n  \"%s\": ", line->name);
        json_number(stdout, line->number);
    } else {
        const int is_count = line->number == floor(line->number) && line->number < 0x1p53;
        if (isnan(line->number))
            printf("%-46s none\n", line->title);
        else
            printf(is_count ? "%-46s %.0f\n" : "%-46s %.6g\n", line->title, line->number);
    }
}

static void tell(const sketch_run_t *run) {
    const sketching_result_t *result = &run->result;
    const sketching_distance_t *distance = &run->distance;
    const int ranked = result->rank >= 0 || run->report;
    const line_t lines[] = {
        {"n", "rows n", (double)run->x.rows, 1},
        {"d", "features d", (double)run->x.columns, 1},
        {"stored", "elements of CSR", (double)run->csr.stored, !run->x.dense},
        {"m", "features m of the sketch", (double)result->size, 1},
        {"asked", "features that the bound for eps, delta asks", result->asked, 1},
        {"exact", "all features kept (1: yes)", result->is_exact, 1},
        {"rank", "rank of X", (double)(run->report ? distance->rank : result->rank), ranked},
        {"distinct", "different features kept", result->kept ? distinct(run) : 0,
         result->kept != NULL},
        {"score_sum", "sum of the scores", result->total, result->scores != NULL},
        {"distortion", "spectral distortion", distance->distortion, run->report},
        {"entry", "max |A' - A| of the attention matrix", distance->entry, run->report},
        {"r", "r, max |X X^T|", run->largest, 1},
        {"bound", "12 r, where the distortion is below 1", 12 * run->largest, 1},
    };
    if (run->json) {
        printf("{\n  \"method\": \"%s\",\n  \"algebra\": \"%s\"", run->method,
               result->solver ? result->solver->name : "none");
    } else {
        printf("%-46s %s\n", "method", run->method);
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) print_line(&lines[i], run->json);
    if (run->json) puts("\n}");
}

static void warn(const sketch_run_t *run) {
    if (!run->result.is_exact && run->largest >= 0.1)
        cli_warn("max |X X^T| is %.3g, and Lemmas 3.1 to 3.4 ask for less than 0.1: 12 r bounds "
                 "nothing here",
                 run->largest);
    else if (!run->result.is_exact && 12 * run->largest >= 1)
        cli_warn("12 r is %.3g, and no weight moves by more than 1: it bounds nothing here",
                 12 * run->largest);
    if (run->report && run->distance.distortion >= 1)
        cli_warn("the distortion is not below 1: 12 r bounds nothing here");
}

/* Unless others are given. */
#define EPS 0.5
#define DELTA 0.1

/* ---- the command ---------------------------------------------------------------------------------------------- */

/* Refuses what a context would: what the environment says of tiers (sketching/embed.h). */
static int check_environment(void) {
    const settings_t settings = {.threads = 1};
    attn_context_t *context;
    const int status = settings_context(&settings, &context);
    attn_context_destroy(context);
    return status;
}

/* An option that only other methods have. */
static int check_given(const sketch_run_t *run) {
    const sketching_options_t *options = &run->options;
    const enum sketching_method method = options->method;
    const char *name = NULL;
    if (options->sparsity && method != SKETCHING_OSNAP) name = "sparsity";
    if (options->factor > 0 && method != SKETCHING_APPROXIMATE) name = "factor";
    if (options->delta != DELTA &&
        (method == SKETCHING_DETERMINISTIC || method == SKETCHING_UNIFORM))
        name = "delta";
    if (options->eps != EPS && method == SKETCHING_UNIFORM) name = "eps";
    if (!name) return CLI_OK;
    return cli_complain(CLI_USAGE, "--%s: method %s has no such parameter", name, run->method);
}

static int unknown_method(const char *name) {
    meant_t meant = meant_begin(name, strlen(name));
    char advice[MEANT_TEXT];
    for (int i = 0; i < SKETCHING_METHODS; i++) meant_try(&meant, sketching_names[i]);
    return cli_complain(CLI_USAGE,
                        "--method: '%s' is none of gaussian, ams, osnap, leverage, srht, "
                        "approximate, uniform, deterministic%s",
                        name, meant_advice(&meant, "", NULL, advice));
}

static int choose(sketch_run_t *run) {
    attn_error_t error;
    int method = 0;
    while (method < SKETCHING_METHODS && strcmp(run->method, sketching_names[method]) != 0)
        method++;
    if (method == SKETCHING_METHODS) return unknown_method(run->method);
    run->options.method = (enum sketching_method)method;
    const char *algebra = run->algebra;
    if (strcmp(algebra, "plain") == 0)
        run->options.solver = &algebra_plain;
    else if (strcmp(algebra, "lapack") == 0 && !(run->options.solver = algebra_lapack()))
        return cli_complain(CLI_USAGE,
                            "--algebra: this program finds no LAPACK, or no memory for it");
    else if (!run->options.solver && strcmp(algebra, "best") != 0)
        return cli_complain(CLI_USAGE, "--algebra: '%s' is none of best, lapack, plain", algebra);
    if (sketching_check_options(&run->options, &error))
        return cli_complain(CLI_USAGE, "--%s", error.message);
    if (check_given(run)) return CLI_USAGE;
    run->csr.data = run->path;
    if (run->csr.indptr && csr_is_archive(run->path)) run->csr.archive = run->path;
    if (run->keys && run->csr.indptr) return cli_complain(CLI_USAGE, "--k takes a dense X");
    return csr_check(&run->csr);
}

static int execute(sketch_run_t *run) {
    const int takes_stdout =
        (run->out && place_is_stdout(run->out)) || (run->scores && place_is_stdout(run->scores));
    int status = check_environment();
    if (!status) status = choose(run);
    if (!status && (run->json || run->report) && takes_stdout)
        status = cli_complain(CLI_USAGE, "--%s prints to standard output, where an output goes",
                              run->json ? "json" : "report");
    if (!status) status = load(run);
    if (!status) status = compute(run);
    if (!status) status = write_files(run);
    if (status) return status;
    if (!takes_stdout) tell(run);
    warn(run);
    return CLI_OK;
}

static const char summary[] =
    "Reduce the features of X (n, d): Y (n, m), m < d, Y Y^T near X X^T (arXiv:2304.04397).";
static const char details[] =
    "Methods: gaussian, ams, osnap and srht mix features. leverage (exact scores), approximate\n"
    "(Algorithm 2's scores) and uniform sample them. deterministic (Theorem 4.2) weights them.\n"
    "The size is what the method's bound needs for eps and delta, or --size.\n"
    "\n"
    "X is dense or CSR: a .npz of SciPy's save_npz(), or X's data as the argument with --x-indptr\n"
    "and --x-indices. CSR is made dense only where m would be at least d; Y is then X.";

int cli_sketch(int argc, char **argv) {
    sketch_run_t run = {
        .method = "approximate", .algebra = "best", .options = {.eps = EPS, .delta = DELTA}};
    int64_t seed = 0;
    const option_t options[] = {
        {"X", 0, OPTION_ARGUMENT, NULL,
         "float32 or float64 (n, d), dense or SciPy's .npz, or the data of CSR; -: standard input",
         &run.path, 0, 0},
        {"method", 0, OPTION_TEXT, "M", "one of the methods below (default approximate)",
         &run.method, 0, 0},
        {"eps", 0, OPTION_NUMBER, "E", "error that the size allows for (default 0.5)",
         &run.options.eps, 0, 0},
        {"delta", 0, OPTION_NUMBER, "D", "probability of a larger error (default 0.1)",
         &run.options.delta, 0, 0},
        {"size", 0, OPTION_INTEGER, "M", "number of features, in place of eps and delta",
         &run.options.size, 1, SKETCHING_MOST_COLUMNS},
        {"sparsity", 0, OPTION_INTEGER, "S",
         "osnap: columns that each feature goes into (default 4)", &run.options.sparsity, 1, 64},
        {"factor", 0, OPTION_NUMBER, "F",
         "approximate: allowed error of its scores; larger: faster, more features (default 3)",
         &run.options.factor, 2, 1000},
        {"seed", 0, OPTION_INTEGER, "N", "seed of the random draws (default 0)", &seed, 0,
         INT64_C(9007199254740991)},
        {"k", 0, OPTION_TEXT, "K.npy", "rows to append below those of X: X is then [Q; K]",
         &run.keys, 0, 0},
        CSR_OPTIONS(run.csr),
        {"output", 'o', OPTION_TEXT, "Y.npy", "the result, float32 (n, m); -: standard output",
         &run.out, 0, 0},
        {"scores", 0, OPTION_TEXT, "FILE", "write the leverage scores, float32 (d)", &run.scores, 0,
         0},
        {"report", 0, OPTION_SWITCH, NULL, "measure the distortion, and compare attention matrices",
         &run.report, 0, 0},
        {"algebra", 0, OPTION_TEXT, "A", "lapack or plain (default: the best that is there)",
         &run.algebra, 0, 0},
        {"json", 0, OPTION_SWITCH, NULL, "print as JSON", &run.json, 0, 0},
        {.name = NULL},
    };
    const option_command_t command = {"sketch", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    run.options.seed = (uint64_t)seed;
    const int status = execute(&run);
    sketching_result_destroy(&run.result);
    sketching_features_destroy(&run.features);
    csr_free(&run.csr);
    free(run.places);
    free(run.dense);
    return status;
}
