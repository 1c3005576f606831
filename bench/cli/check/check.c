/* cli/check/check.c: `attn check`: the conformance of a backend, a built-in one or a plugin's. */
#include "cli/check/checks.h"
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(__wasm__) /* which has no threads: check_threads() says so */
enum { MANY = 1 };
#else
enum { MANY = 4 };
#endif

static const struct {
    const char *name;
    check_function_t *run;
} checks[] = {
    {"runs", check_runs},           {"guards", check_guards}, {"strides", check_strides},
    {"corners", check_corners},     {"batch", check_batch},   {"again", check_again},
    {"threads", check_threads},     {"hidden", check_hidden}, {"streams", check_streams},
    {"gradients", check_gradients}, {"told", check_told},
};

static const char *const verdicts[] = {
    [CHECK_OK] = "ok", [CHECK_FAILED] = "FAILED", [CHECK_SKIPPED] = "skipped"};

static int run_all(const check_context_t *check) {
    int failed = 0;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        result_t result = {CHECK_OK, ""};
        checks[i].run(check, &result);
        printf("%-9s  %s", checks[i].name, verdicts[result.verdict]);
        if (result.verdict == CHECK_FAILED)
            printf(" with --inputs %llu", (unsigned long long)check->seed);
        printf("%s%s\n", result.text[0] ? ": " : "", result.text);
        fflush(stdout);
        failed += result.verdict == CHECK_FAILED;
    }
    return failed;
}

typedef struct request {
    settings_t one, many;
    const char *backend;
    int64_t seed;
    double tolerance; /* NaN: that of rounding */
    attn_context_t *contexts[2];
} request_t;

static int execute(request_t *request) {
    const option_texts_t list = {.count = 1, .items = {request->backend}};
    selection_t selection;
    request->many = request->one;
    request->many.threads = MANY;
    if (request->tolerance <= 0)
        return cli_complain(CLI_USAGE,
                            "--tolerance: %g is not above 0; leave it out for that of "
                            "rounding",
                            request->tolerance);
    int status = settings_context(&request->one, &request->contexts[0]);
    if (!status) status = settings_context(&request->many, &request->contexts[1]);
    if (!status) status = settings_select(request->contexts[0], &list, &selection);
    if (!status) status = settings_check(&request->one, request->contexts[0], &selection);
    if (status) return status;
    check_context_t check = {.one = request->contexts[0],
                             .many = request->contexts[1],
                             .backend = attn_backend_find(request->contexts[0], request->backend),
                             .seed = (uint64_t)request->seed,
                             .tolerance = request->tolerance};
    parameters_t parameters;
    settings_parameters(&request->one, check.backend, &parameters);
    check.params = parameters.params, check.param_count = parameters.count;
    const int failed = run_all(&check);
    if (!failed) return CLI_OK;
    return cli_complain(CLI_FAILED, "%d check%s of backend '%s' failed", failed,
                        failed == 1 ? "" : "s", request->backend);
}

static const char summary[] =
    "Test a backend against the rules of all backends, on problems of many shapes.";
static const char details[] =
    "Each check prints a line: ok, FAILED with the inputs' seed and the numbers, or skipped with\n"
    "the reason.\n"
    "\n"
    "  runs       sizes of 1, around vectors of 4 to 64, primes: out is complete and finite\n"
    "  guards     only outputs are written, in four orders of memory\n"
    "  strides    the same result in all orders of memory\n"
    "  corners    at all sizes out is weights times V (attn.weights/1); softmax: exact attention\n"
    "  batch      a batch of three equals three runs\n"
    "  again      a second run gives the same bits\n"
    "  threads    four threads give the same bits as one\n"
    "  hidden     NaN in hidden keys changes nothing\n"
    "  streams    tokens in pieces give the result of one run\n"
    "  gradients  agree with differences of the loss\n"
    "  told       cost, facts and the kernel's name make sense\n"
    "\n"
    "Inputs are random, in (-1, 1). By default results may differ by the rounding of f32 at these\n"
    "sizes; a backend that computes with less precision needs --tolerance.\n"
    "Exit status: 0 no check failed, 1 one did, 2 wrong input.";

int cli_check(int argc, char **argv) {
    request_t request = {.one = {.threads = 1}, .seed = 1, .tolerance = NAN};
    settings_t *settings = &request.one;
    const option_t options[] = {
        {"BACKEND", 0, OPTION_ARGUMENT, NULL, "its id, as in attn list", &request.backend, 0, 0},
        {"inputs", 0, OPTION_INTEGER, "N", "seed of the inputs (default 1)", &request.seed, 0,
         INT64_MAX},
        {"tolerance", 0, OPTION_NUMBER, "X", "largest difference of two results",
         &request.tolerance, 0, 0},
        SETTINGS_PARAMETERS(*settings),
        SETTINGS_CPU(*settings),
        SETTINGS_PLUGIN(*settings),
        {.name = NULL},
    };
    const option_command_t command = {"check", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&request);
    for (int i = 0; i < 2; i++) attn_context_destroy(request.contexts[i]);
    return status;
}
