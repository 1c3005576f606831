/* cli/inputs.c: see inputs.h. */
#include "cli/inputs.h"

#include "cli/cli.h"
#include "cli/container.h"
#include "cli/draw.h"
#include "cli/lemmas.h"

#include <stdio.h>
#include <string.h>

static const char *const names[INPUT_COUNT] = {"Q", "K", "V"};
static const char *const past_names[INPUT_COUNT] = {NULL, "past K", "past V"};

/* ---- shapes ---------------------------------------------------------------------------------- */

/* That dimension `axis` is the same in arrays a and b. */
static int check_equal(const char *a_name, const array_t *a, const char *b_name, const array_t *b,
                       int axis, const char *what) {
    const int64_t left = a->tensor.shape[axis], right = b->tensor.shape[axis];
    char shapes[2][96];
    if (left == right) return CLI_OK;
    return cli_complain(CLI_USAGE, "%s %s and %s %s do not fit together: %lld and %lld %s", a_name,
                        array_shape(a, shapes[0]), b_name, array_shape(b, shapes[1]),
                        (long long)left, (long long)right, what);
}

static int check_inputs(const inputs_t *inputs, int a, int b, int axis, const char *what) {
    return check_equal(names[a], &inputs->arrays[a], names[b], &inputs->arrays[b], axis, what);
}

static int check_shapes(const inputs_t *inputs) {
    int status = check_inputs(inputs, INPUT_QUERY, INPUT_KEY, AXIS_COLUMNS, "columns (d)");
    if (!status) status = check_inputs(inputs, INPUT_KEY, INPUT_VALUE, AXIS_ROWS, "rows (m)");
    if (!status) status = check_inputs(inputs, INPUT_KEY, INPUT_VALUE, AXIS_HEADS, "heads");
    if (!status) status = check_inputs(inputs, INPUT_QUERY, INPUT_KEY, AXIS_BATCH, "batches");
    if (!status) status = check_inputs(inputs, INPUT_KEY, INPUT_VALUE, AXIS_BATCH, "batches");
    return status;
}

static int check_past(const inputs_t *inputs, int which, const array_t *past) {
    static const char *const what[4] = {"batches", "heads", NULL, "columns"};
    for (int axis = 0; axis < 4; axis++)
        if (what[axis] && check_equal(past_names[which], past, names[which], &inputs->arrays[which],
                                      axis, what[axis]))
            return CLI_USAGE;
    return CLI_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

npy_wanted_t inputs_wanted(int which) {
    return (npy_wanted_t){.types = NPY_FLOATS | NPY_BFLOAT16 |
                                   (which == INPUT_QUERY ? 0 : (uint32_t)NPY_INT8),
                          .low = 2,
                          .high = 4,
                          .ranks = "2 (n, d), 3 (H, n, d) or 4 (B, H, n, d)"};
}

static int load(array_t *array, const char *path, int which) {
    const npy_wanted_t wanted = inputs_wanted(which);
    return container_load(array, path, &wanted);
}

/* An array that is not there has no shape. */
static int is_there(const array_t *array) { return array->tensor.shape[AXIS_BATCH] > 0; }

/* K and V have one dtype, that of their files where it is the same in all, or else f32; an exit status. */
static int common_dtype(const inputs_t *inputs, const array_t pasts[INPUT_COUNT],
                        attn_dtype_t *dtype) {
    int is_int8 = 0, is_common = 1;
    *dtype = inputs->arrays[INPUT_KEY].tensor.dtype;
    for (int which = INPUT_KEY; which <= INPUT_VALUE; which++) {
        const array_t *array = &inputs->arrays[which], *past = &pasts[which];
        is_int8 |=
            array->tensor.dtype == ATTN_I8 || (is_there(past) && past->tensor.dtype == ATTN_I8);
        is_common &= array->tensor.dtype == *dtype;
        is_common &= !is_there(past) || past->tensor.dtype == *dtype;
    }
    if (is_int8 && !is_common)
        return cli_complain(CLI_USAGE, "K, V and their past must all be int8, or none of them");
    if (!is_common) *dtype = ATTN_F32;
    return CLI_OK;
}

/* Puts the past before K and V, all of them in one dtype. */
static int join(inputs_t *inputs, const array_t pasts[INPUT_COUNT]) {
    attn_dtype_t dtype;
    if (common_dtype(inputs, pasts, &dtype)) return CLI_USAGE;
    for (int which = INPUT_KEY; which <= INPUT_VALUE; which++) {
        array_t *array = &inputs->arrays[which];
        const array_t *past = pasts[which].memory ? &pasts[which] : NULL;
        if (!past && array->tensor.dtype == dtype) continue;
        const int status = array_copy(array, past, dtype, inputs->paths[which]);
        if (status) return status;
    }
    inputs->problem.past = pasts[INPUT_KEY].memory ? pasts[INPUT_KEY].tensor.shape[AXIS_ROWS] : 0;
    return CLI_OK;
}

static int check_pasts(const inputs_t *inputs, const array_t pasts[INPUT_COUNT]) {
    for (int which = INPUT_KEY; which <= INPUT_VALUE; which++)
        if (check_past(inputs, which, &pasts[which])) return CLI_USAGE;
    return check_equal(past_names[INPUT_KEY], &pasts[INPUT_KEY], past_names[INPUT_VALUE],
                       &pasts[INPUT_VALUE], AXIS_ROWS, "rows");
}

int inputs_check_pasts(const inputs_t *inputs) {
    if (!inputs->pasts[INPUT_KEY] == !inputs->pasts[INPUT_VALUE]) return CLI_OK;
    return cli_complain(CLI_USAGE, "--past-k and --past-v go together: --past-%c is missing",
                        inputs->pasts[INPUT_KEY] ? 'v' : 'k');
}

static int load_past(inputs_t *inputs, array_t pasts[INPUT_COUNT]) {
    if (inputs_check_pasts(inputs)) return CLI_USAGE;
    for (int which = INPUT_KEY; inputs->pasts[INPUT_KEY] && which <= INPUT_VALUE; which++)
        if (load(&pasts[which], inputs->pasts[which], which)) return CLI_USAGE;
    if (inputs->pasts[INPUT_KEY] && check_pasts(inputs, pasts)) return CLI_USAGE;
    return join(inputs, pasts);
}

int inputs_are_csr(const inputs_t *inputs) { return inputs->x.archive || inputs->x.data; }

int32_t inputs_rank(const inputs_t *inputs) { return inputs->arrays[INPUT_QUERY].rank; }

double inputs_longest(const inputs_t *inputs) {
    const array_t *arrays = inputs->arrays;
    if (inputs_are_csr(inputs)) return inputs->x.longest;
    return lemmas_longer(array_longest(&arrays[INPUT_QUERY]), array_longest(&arrays[INPUT_KEY]));
}

/* What is wrong where neither --x nor --x-data is given; an exit status. */
static int check_dense(const inputs_t *inputs, const char *command) {
    const char *const *paths = inputs->paths, *given = csr_given(&inputs->arguments.inputs);
    if (inputs->x.indptr || inputs->x.indices || inputs->x.columns)
        return cli_complain(CLI_USAGE, "--x-indptr, --x-indices and --columns are for --x-data");
    if (given)
        return cli_complain(
            CLI_USAGE,
            "--input %s: a sparse X is given by --x, or by --x-data, --x-indptr and "
            "--x-indices",
            given);
    if (paths[INPUT_QUERY] && paths[INPUT_KEY]) return CLI_OK;
    return cli_complain(CLI_USAGE, "%s: --%s is missing, or --x for both (see attn %s --help)",
                        command, paths[INPUT_QUERY] ? "k" : "q", command);
}

/* The same where one of them is. */
static int check_x(const inputs_t *inputs) {
    const char *const *paths = inputs->paths, *given = csr_given(&inputs->arguments.inputs);
    if (paths[INPUT_QUERY] || paths[INPUT_KEY] || inputs->pasts[INPUT_KEY] ||
        inputs->pasts[INPUT_VALUE])
        return cli_complain(CLI_USAGE, "--x stands for --q and --k, and has no past");
    if (inputs->x.archive && inputs->x.data)
        return cli_complain(CLI_USAGE, "--x and --x-data are two ways to say one thing");
    if (inputs->x.data && !inputs->x.indptr)
        return cli_complain(CLI_USAGE, "--x-data needs --x-indptr and --x-indices");
    if (given) return cli_complain(CLI_USAGE, "--x stands for --input %s", given);
    return csr_check(&inputs->x);
}

int inputs_check(inputs_t *inputs, const char *command, const char *needs) {
    if (!inputs_are_csr(inputs)) return check_dense(inputs, command);
    if (check_x(inputs)) return CLI_USAGE;
    if (!inputs->x.archive || csr_is_archive(inputs->x.archive))
        return needs ? cli_complain(CLI_USAGE, "%s need --q and --k", needs) : CLI_OK;
    if (strcmp(inputs->x.archive, "-") == 0)
        return cli_complain(CLI_USAGE,
                            "--x: X is Q and K, and standard input is read once: give a file");
    inputs->paths[INPUT_QUERY] = inputs->paths[INPUT_KEY] = inputs->x.archive;
    inputs->x.archive = NULL;
    return CLI_OK;
}

/* Q and K with the heads and rows of V, and the columns of X. */
static void describe_x(inputs_t *inputs) {
    const array_t *value = &inputs->arrays[INPUT_VALUE];
    array_t *query = &inputs->arrays[INPUT_QUERY];
    const int64_t *v = value->tensor.shape;
    query->tensor =
        attn_tensor_bhnd(NULL, v[AXIS_BATCH], v[AXIS_HEADS], v[AXIS_ROWS], inputs->x.columns);
    query->rank = value->rank;
    inputs->arrays[INPUT_KEY] = *query;
}

/* X as Q and K, in place of their descriptions. */
static int write_x(inputs_t *inputs) {
    array_t *query = &inputs->arrays[INPUT_QUERY], *key = &inputs->arrays[INPUT_KEY];
    const attn_tensor_t described = query->tensor;
    const int status = array_make(query, ATTN_F32, described.shape, query->rank, "X, written out");
    if (status) return status;
    memset(query->memory, 0, (size_t)(inputs->x.rows * inputs->x.columns) * sizeof(float));
    csr_write(&inputs->x, query->memory);
    *key = (array_t){.tensor = query->tensor, .rank = query->rank};
    return CLI_OK;
}

/* X and V, in f32, which is what sketches are of. */
static int load_x(inputs_t *inputs) {
    array_t *value = &inputs->arrays[INPUT_VALUE];
    int status = csr_load(&inputs->x);
    if (!status) status = csr_verify(&inputs->x); /* what it says names the file */
    if (!status) status = load(value, inputs->paths[INPUT_VALUE], INPUT_QUERY);
    if (!status && value->tensor.dtype != ATTN_F32)
        status = array_copy(value, NULL, ATTN_F32, inputs->paths[INPUT_VALUE]);
    if (status) return status;
    const int64_t *v = value->tensor.shape;
    const int64_t rows = v[AXIS_BATCH] * v[AXIS_HEADS] * v[AXIS_ROWS];
    if (rows != inputs->x.rows)
        return cli_complain(CLI_USAGE, "X has %lld rows, V has %lld of all heads together",
                            (long long)inputs->x.rows, (long long)rows);
    describe_x(inputs);
    return inputs->dense == INPUTS_DENSE_FOR_NONE ? CLI_OK : write_x(inputs);
}

static int load_all(inputs_t *inputs) {
    array_t pasts[INPUT_COUNT] = {0};
    if (inputs_are_csr(inputs)) return load_x(inputs);
    int status = CLI_OK;
    for (int which = 0; !status && which < INPUT_COUNT; which++)
        status = load(&inputs->arrays[which], inputs->paths[which], which);
    if (!status) status = check_shapes(inputs);
    if (!status) status = load_past(inputs, pasts);
    for (int which = 0; which < INPUT_COUNT; which++) array_free(&pasts[which]);
    return status;
}

/* ---- the problem ----------------------------------------------------------------------------- */

static int make_problem(inputs_t *inputs) {
    const attn_tensor_t *query = &inputs->arrays[INPUT_QUERY].tensor;
    const attn_tensor_t *key = &inputs->arrays[INPUT_KEY].tensor;
    const attn_tensor_t *value = &inputs->arrays[INPUT_VALUE].tensor;
    const int64_t *q = query->shape, *k = key->shape, past = inputs->problem.past;
    attn_error_t error;
    attn_problem_init(&inputs->problem, q[AXIS_BATCH], q[AXIS_HEADS], q[AXIS_ROWS], k[AXIS_ROWS],
                      q[AXIS_COLUMNS], value->shape[AXIS_COLUMNS]);
    inputs->problem.kv_heads = k[AXIS_HEADS];
    inputs->problem.dtype = query->dtype;
    inputs->problem.kv_dtype = key->dtype;
    inputs->problem.past = past;
    inputs->problem.scores = inputs->scores;
    inputs->problem.backward = inputs->backward;
    if (rules_apply(&inputs->rules, &inputs->problem)) return CLI_USAGE;
    if (arguments_apply(&inputs->arguments, NULL, &inputs->problem, &error))
        return cli_reject(NULL, &error);
    if (attn_problem_check(&inputs->problem, &error)) return cli_reject(NULL, &error);
    return CLI_OK;
}

int inputs_make_problem(inputs_t *inputs, const array_t pasts[INPUT_COUNT]) {
    const int64_t past = pasts[INPUT_KEY].tensor.shape[AXIS_ROWS];
    attn_dtype_t dtype;
    if (check_shapes(inputs) || (is_there(&pasts[INPUT_KEY]) && check_pasts(inputs, pasts)) ||
        common_dtype(inputs, pasts, &dtype))
        return CLI_USAGE;
    for (int which = INPUT_KEY; which <= INPUT_VALUE; which++) {
        inputs->arrays[which].tensor.shape[AXIS_ROWS] += past;
        inputs->arrays[which].tensor.dtype = dtype;
    }
    inputs->problem.past = past;
    return make_problem(inputs);
}

static void collect(inputs_t *inputs) {
    inputs->io = (attn_io_t){.struct_size = sizeof inputs->io,
                             .query = inputs->arrays[INPUT_QUERY].tensor,
                             .key = inputs->arrays[INPUT_KEY].tensor,
                             .value = inputs->arrays[INPUT_VALUE].tensor};
}

static void count_nonfinite(inputs_t *inputs) {
    int64_t *count = inputs->nonfinite;
    for (int which = inputs_are_csr(inputs) ? INPUT_VALUE : 0; which < INPUT_COUNT; which++)
        count[which] = array_nonfinite(&inputs->arrays[which]);
    if (count[INPUT_QUERY] || count[INPUT_KEY] || count[INPUT_VALUE])
        cli_warn("NaN or infinite elements: %lld in Q, %lld in K, %lld in V; computed with as "
                 "IEEE 754 says",
                 (long long)count[INPUT_QUERY], (long long)count[INPUT_KEY],
                 (long long)count[INPUT_VALUE]);
}

static int finish(inputs_t *inputs) {
    if (make_problem(inputs)) return CLI_USAGE;
    collect(inputs);
    count_nonfinite(inputs);
    return CLI_OK;
}

int inputs_load(inputs_t *inputs) {
    const int status = load_all(inputs);
    return status ? status : finish(inputs);
}

int inputs_draw(inputs_t *inputs, const attn_problem_t *sizes) {
    const int64_t rows[INPUT_COUNT] = {sizes->queries, sizes->keys, sizes->keys};
    array_t *scales[INPUT_COUNT] = {NULL, &inputs->shared[ATTN_ARRAY_KEY_SCALES],
                                    &inputs->shared[ATTN_ARRAY_VALUE_SCALES]};
    for (int which = 0; which < INPUT_COUNT; which++) {
        array_t *array = &inputs->arrays[which];
        const int is_query = which == INPUT_QUERY;
        const int64_t shape[4] = {sizes->batch, is_query ? sizes->heads : sizes->kv_heads,
                                  rows[which],
                                  which == INPUT_VALUE ? sizes->value_dim : sizes->dim};
        if (!draw_normal(array, (uint64_t)which, shape) ||
            !draw_round(array, is_query ? sizes->dtype : sizes->kv_dtype, scales[which]))
            return cli_complain(
                CLI_USAGE,
                "no memory for random Q, K and V with batch = %lld, n = %lld, m = %lld, d = %lld, "
                "dv = %lld, heads = %lld",
                (long long)sizes->batch, (long long)sizes->queries, (long long)sizes->keys,
                (long long)sizes->dim, (long long)sizes->value_dim, (long long)sizes->heads);
    }
    inputs->problem.past = sizes->past;
    return finish(inputs);
}

void inputs_free(inputs_t *inputs) {
    csr_free(&inputs->x);
    for (int which = 0; which < INPUT_COUNT; which++) array_free(&inputs->arrays[which]);
    for (int number = 0; number < ATTN_ARRAY_OWN; number++) array_free(&inputs->shared[number]);
}

const char *inputs_shape(const inputs_t *inputs, int which, char text[96]) {
    return array_shape(&inputs->arrays[which], text);
}
