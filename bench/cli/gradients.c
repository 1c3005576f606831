/* cli/gradients.c: see gradients.h. */
#include "cli/gradients.h"

#include "cli/cli.h"
#include "cli/container.h"
#include "cli/meant.h"

#include "attn/oracle.h"
#include "attn/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file behind "NAME=", where this is the array's name. */
static const char *file_of(const char *text, const char *name) {
    size_t length;
    const char *file = arguments_assigned(text, &length);
    return file && arguments_is(text, length, name) ? file : NULL;
}

const char *gradients_file(const gradients_t *gradients, const attn_array_info_t *info) {
    for (int i = 0; i < gradients->files.count; i++) {
        const char *file = file_of(gradients->files.items[i], info->name);
        if (file) return file;
    }
    return NULL;
}

static int check_one(const gradients_t *gradients, int which) {
    size_t length, other;
    const char *text = gradients->files.items[which], *file = arguments_assigned(text, &length);
    if (!file || !*file)
        return cli_complain(CLI_USAGE, "--grad: '%s' is not of the form NAME=FILE", text);
    for (int i = 0; i < which; i++) {
        arguments_assigned(gradients->files.items[i], &other);
        if (other == length && strncmp(gradients->files.items[i], text, length) == 0)
            return cli_complain(CLI_USAGE, "--grad: '%.*s' is given twice", (int)length, text);
    }
    return CLI_OK;
}

int gradients_check(const gradients_t *gradients) {
    attn_array_info_t out = {.struct_size = sizeof out};
    for (int i = 0; i < gradients->files.count; i++)
        if (check_one(gradients, i)) return CLI_USAGE;
    attn_backend_array(NULL, ATTN_ARRAY_OUT, &out);
    const int count = gradients->files.count;
    if (count > 0 && !gradients_file(gradients, &out))
        return cli_complain(CLI_USAGE, "--grad: the loss's gradient is missing: --grad out=FILE");
    if (count == 1)
        return cli_complain(CLI_USAGE, "--grad: no gradient is asked for: --grad query=FILE");
    return CLI_OK;
}

static void begin_io(gradients_t *gradients) {
    gradients->io = (attn_io_t){.struct_size = sizeof gradients->io,
                                .own = gradients->own,
                                .own_count = ATTN_MOST_OWN_ARRAYS};
}

/* ---- arrays -------------------------------------------------------------------------------------- */

/* Every name is an array that the backend's runs can have and that has a gradient, or out. */
static int check_name(const runner_t *runner, const char *text) {
    attn_array_info_t info = {.struct_size = sizeof info};
    char names[512] = "";
    char advice[MEANT_TEXT];
    size_t length, used = 0;
    arguments_assigned(text, &length);
    meant_t meant = meant_begin(text, length);
    for (uint32_t number = 0; attn_backend_array(runner->backend, number, &info); number++) {
        if (number != ATTN_ARRAY_OUT && !(info.flags & ATTN_ARRAY_DIFFERENTIABLE)) continue;
        if (info.feature & ~runner->backend->features) continue;
        if (arguments_is(text, length, info.name)) return CLI_OK;
        meant_try(&meant, info.name);
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     info.name);
    }
    return cli_complain(CLI_USAGE,
                        "--grad: there is no gradient of '%.*s'; there are those of %s%s",
                        (int)length, text, names, meant_advice(&meant, "", NULL, advice));
}

static const attn_tensor_t *tensor_of(runner_t *runner, uint32_t number) {
    if (number < ATTN_ARRAY_OWN) return attn_io_array(&runner->io, number);
    return runner->own[number - ATTN_ARRAY_OWN];
}

/*
 * A loss's gradient in out's type: programs that keep losses in float32 have no other, as .npy has no bfloat16.
 * Rounding may not make an infinity of a number.
 */
int gradients_round_loss(array_t *array, attn_dtype_t dtype, const char *path) {
    if (array->tensor.dtype == dtype) return CLI_OK;
    if (array->tensor.dtype != ATTN_F32 && array_copy(array, NULL, ATTN_F32, path))
        return CLI_USAGE;
    const int64_t before = array_nonfinite(array);
    if (array_copy(array, NULL, dtype, path)) return CLI_USAGE;
    if (array_nonfinite(array) == before) return CLI_OK;
    return cli_complain(CLI_USAGE,
                        "%s: has numbers beyond the largest %s, which out is: scale the loss", path,
                        dtype == ATTN_F16 ? "float16, 65504" : "bfloat16, 3.39e38");
}

const npy_wanted_t gradients_loss = {.types = NPY_FLOATS | NPY_BFLOAT16,
                                     .low = 2,
                                     .high = 4,
                                     .ranks = "2 (n, dv), 3 (H, n, dv) or 4 (B, H, n, dv)"};

int gradients_check_loss(const array_t *loss, const int64_t out[4], const char *path) {
    char shape[96], expected[96];
    array_t result = {.rank = 4};
    memcpy(result.tensor.shape, out, sizeof result.tensor.shape);
    while (result.rank > loss->rank && out[4 - result.rank] == 1) result.rank--;
    if (memcmp(loss->tensor.shape, out, sizeof loss->tensor.shape) == 0) return CLI_OK;
    return cli_complain(CLI_USAGE, "%s: the gradient of out is %s, out itself %s", path,
                        array_shape(loss, shape), array_shape(&result, expected));
}

static int read_loss(array_t *array, const attn_tensor_t *out, const char *path) {
    int status = container_load(array, path, &gradients_loss);
    if (!status) status = gradients_check_loss(array, out->shape, path);
    if (status) return status;
    return gradients_round_loss(array, out->dtype, path);
}

/* Room for an array like another. */
static int make_like(array_t *array, const attn_tensor_t *of, const char *name) {
    return array_make(array, of->dtype, of->shape, 4, name);
}

static int prepare(gradients_t *gradients, runner_t *runner, uint32_t number,
                   const attn_array_info_t *info) {
    const char *path = gradients_file(gradients, info);
    const attn_tensor_t *of = tensor_of(runner, number);
    array_t *array = &gradients->arrays[number];
    if (!path) return CLI_OK;
    if (!of || !of->data) return cli_complain(CLI_USAGE, "--grad: the run has no %s", info->name);
    const int status =
        number == ATTN_ARRAY_OUT ? read_loss(array, of, path) : make_like(array, of, path);
    if (status) return status;
    if (number < ATTN_ARRAY_OWN)
        *attn_io_array(&gradients->io, number) = array->tensor;
    else
        gradients->own[number - ATTN_ARRAY_OWN] = &array->tensor;
    return CLI_OK;
}

/* A run that is to be gone back through has lse, where its backend has one. */
static int make_lse(gradients_t *gradients, runner_t *runner) {
    attn_tensor_t lse;
    if (runner->io.lse.data || !(runner->backend->features & ATTN_FEATURE_LSE)) return CLI_OK;
    attn_plan_array(runner->plan, ATTN_ARRAY_LSE, &lse);
    const int status = make_like(&gradients->lse, &lse, "lse");
    runner->io.lse = gradients->lse.tensor;
    return status;
}

int gradients_check_names(const gradients_t *gradients, const runner_t *runner) {
    for (int i = 0; i < gradients->files.count; i++)
        if (check_name(runner, gradients->files.items[i])) return CLI_USAGE;
    return CLI_OK;
}

int gradients_prepare(gradients_t *gradients, runner_t *runner) {
    attn_array_info_t info = {.struct_size = sizeof info};
    begin_io(gradients);
    if (gradients_check_names(gradients, runner)) return CLI_USAGE;
    for (uint32_t number = 0; attn_backend_array(runner->backend, number, &info); number++)
        if (prepare(gradients, runner, number, &info)) return CLI_USAGE;
    return gradients->files.count ? make_lse(gradients, runner) : CLI_OK;
}

/* ---- measuring ------------------------------------------------------------------------------------ */

int gradients_draw(gradients_t *gradients, runner_t *runner, uint64_t seed) {
    static const uint32_t numbers[] = {ATTN_ARRAY_OUT, ATTN_ARRAY_QUERY, ATTN_ARRAY_KEY,
                                       ATTN_ARRAY_VALUE};
    begin_io(gradients);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        array_t *array = &gradients->arrays[numbers[i]];
        if (make_like(array, attn_io_array(&runner->io, numbers[i]), "gradients")) return CLI_USAGE;
        *attn_io_array(&gradients->io, numbers[i]) = array->tensor;
    }
    const attn_tensor_t *out = &gradients->io.out;
    const int64_t count = out->shape[0] * out->shape[1] * out->shape[2] * out->shape[3];
    for (int64_t i = 0; i < count; i++)
        ((float *)out->data)[i] = (float)attn_random_normal(seed, 3, (uint64_t)i);
    return make_lse(gradients, runner);
}

static double number_at(const attn_tensor_t *tensor, int64_t b, int64_t h, int64_t i, int64_t c) {
    return (double)*(const float *)(const void *)array_element(tensor, (int64_t[]){b, h, i, c});
}

/* Adds a row's difference and size. */
static void compare_row(const gradients_t *gradients, const runner_t *runner,
                        const attn_problem_t *problem, const int64_t at[3], double *scratch,
                        double sums[2]) {
    const int64_t m = problem->keys, kv_head = at[1] / (problem->heads / problem->kv_heads);
    double *weights = scratch, *logits = weights + m, *products = logits + m;
    const attn_tensor_t *key = &runner->io.key, *query = &gradients->io.query;
    const double scale =
        isnan(problem->scale) ? 1 / sqrt((double)problem->dim) : (double)problem->scale;
    attn_oracle_row_backward(problem, &runner->io, &gradients->io.out, at[0], at[1], at[2], weights,
                             logits, products, products + m);
    for (int64_t k = 0; k < problem->dim; k++) {
        double exact = 0;
        for (int64_t j = 0; j < m; j++)
            exact += scale * products[j] * number_at(key, at[0], kv_head, j, k);
        const double found = number_at(query, at[0], at[1], at[2], k);
        sums[0] += (found - exact) * (found - exact);
        sums[1] += exact * exact;
    }
}

int gradients_error(const gradients_t *gradients, const runner_t *runner,
                    const attn_problem_t *problem, int64_t stride, double *relative) {
    double *scratch = calloc((size_t)(4 * problem->keys + problem->value_dim), sizeof *scratch);
    double sums[2] = {0, 0};
    if (!scratch) return cli_complain(CLI_USAGE, "no memory for a row of weights");
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t h = 0; h < problem->heads; h++)
            for (int64_t i = 0; i < problem->queries; i += stride)
                compare_row(gradients, runner, problem, (int64_t[]){b, h, i}, scratch, sums);
    *relative = sums[0] == 0 ? 0 : sqrt(sums[0] / sums[1]);
    free(scratch);
    return CLI_OK;
}

attn_status_t gradients_run(gradients_t *gradients, runner_t *runner) {
    return attn_backward(runner->plan, &runner->io, &gradients->io, &runner->error);
}

typedef struct timed {
    gradients_t *gradients;
    runner_t *runner;
} timed_t;

static attn_status_t run_once(void *data) {
    const timed_t *timed = data;
    return gradients_run(timed->gradients, timed->runner);
}

attn_status_t gradients_time(gradients_t *gradients, runner_t *runner, double budget,
                             measure_t *time) {
    timed_t timed = {gradients, runner};
    return measure_repeat(run_once, &timed, budget, time);
}

void gradients_free(gradients_t *gradients) {
    for (int number = 0; number < DECLARED_MOST; number++) array_free(&gradients->arrays[number]);
    array_free(&gradients->lse);
}
