/* cli/inputs.c: see inputs.h. */
#include "cli/inputs.h"

#include "cli/cli.h"
#include "cli/files.h"
#include "tools/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH, HEADS, ROWS, COLUMNS }; /* dimensions of a tensor */

static const char letters[INPUT_COUNT] = {'Q', 'K', 'V'};

int inputs_corner(const char *causal, int32_t *corner) {
    if (!causal)
        *corner = ATTN_CAUSAL_NONE;
    else if (!*causal || strcmp(causal, "top-left") == 0)
        *corner = ATTN_CAUSAL_TOP_LEFT;
    else if (strcmp(causal, "bottom-right") == 0)
        *corner = ATTN_CAUSAL_BOTTOM_RIGHT;
    else
        return cli_complain(CLI_USAGE, "--causal: '%s' is neither top-left nor bottom-right",
                            causal);
    return CLI_OK;
}

static int load(inputs_t *inputs, int which) {
    size_t size;
    attn_error_t error;
    const char *path = inputs->paths[which];
    const int status = file_read(path, &inputs->memory[which], &size);
    if (status) return status;
    if (npy_parse(inputs->memory[which], size, &inputs->tensors[which], &inputs->ranks[which],
                  &error))
        return cli_complain(CLI_USAGE, "%s %s", path, error.message);
    inputs->nonfinite[which] = attn_count_nonfinite(&inputs->tensors[which]);
    return CLI_OK;
}

/* That dimension `axis` is the same in inputs a and b. */
static int check_equal(const inputs_t *inputs, int a, int b, int axis, const char *what) {
    const int64_t left = inputs->tensors[a].shape[axis], right = inputs->tensors[b].shape[axis];
    char shapes[2][96];
    if (left == right) return CLI_OK;
    return cli_complain(CLI_USAGE, "%c %s and %c %s do not fit together: %lld and %lld %s",
                        letters[a], inputs_shape(inputs, a, shapes[0]), letters[b],
                        inputs_shape(inputs, b, shapes[1]), (long long)left, (long long)right,
                        what);
}

static int check_shapes(const inputs_t *inputs) {
    int status = check_equal(inputs, INPUT_QUERY, INPUT_KEY, COLUMNS, "columns (d)");
    if (!status) status = check_equal(inputs, INPUT_KEY, INPUT_VALUE, ROWS, "rows (m)");
    if (!status) status = check_equal(inputs, INPUT_KEY, INPUT_VALUE, HEADS, "heads");
    if (!status) status = check_equal(inputs, INPUT_QUERY, INPUT_KEY, BATCH, "batches");
    if (!status) status = check_equal(inputs, INPUT_KEY, INPUT_VALUE, BATCH, "batches");
    return status;
}

static int pose(inputs_t *inputs) {
    const int64_t *q = inputs->tensors[INPUT_QUERY].shape, *k = inputs->tensors[INPUT_KEY].shape;
    const int64_t dv = inputs->tensors[INPUT_VALUE].shape[COLUMNS];
    attn_error_t error;
    attn_problem_init(&inputs->problem, q[BATCH], q[HEADS], q[ROWS], k[ROWS], q[COLUMNS], dv);
    inputs->problem.kv_heads = k[HEADS];
    inputs->problem.scale = (float)inputs->scale;
    if (inputs_corner(inputs->causal, &inputs->problem.causal)) return CLI_USAGE;
    if (attn_problem_check(&inputs->problem, &error)) return cli_reject(NULL, &error);
    return CLI_OK;
}

static void warn(const inputs_t *inputs) {
    const int64_t *count = inputs->nonfinite;
    if (count[INPUT_QUERY] || count[INPUT_KEY] || count[INPUT_VALUE])
        cli_warn("NaN or infinite elements: %lld in Q, %lld in K, %lld in V; computed with as "
                 "IEEE 754 says",
                 (long long)count[INPUT_QUERY], (long long)count[INPUT_KEY],
                 (long long)count[INPUT_VALUE]);
}

int inputs_load(inputs_t *inputs) {
    for (int which = 0; which < INPUT_COUNT; which++) {
        const int status = load(inputs, which);
        if (status) return status;
    }
    if (check_shapes(inputs) || pose(inputs)) return CLI_USAGE;
    warn(inputs);
    return CLI_OK;
}

void inputs_free(inputs_t *inputs) {
    for (int which = 0; which < INPUT_COUNT; which++) {
        free(inputs->memory[which]);
        inputs->memory[which] = NULL;
    }
}

const char *inputs_shape(const inputs_t *inputs, int which, char text[96]) {
    const int32_t first = 4 - inputs->ranks[which];
    int used = snprintf(text, 96, "(");
    for (int32_t axis = first; axis < 4; axis++)
        used += snprintf(text + used, 96 - (size_t)used, "%s%lld", axis > first ? ", " : "",
                         (long long)inputs->tensors[which].shape[axis]);
    snprintf(text + used, 96 - (size_t)used, ")");
    return text;
}
