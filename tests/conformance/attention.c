/*
 * One case of ONNX's operator tests for `Attention` (opset 23 to 25), or for what of `FlexAttention` its
 * attributes express, through the C API.
 *
 *     conformance [sparse] is_causal=1 softcap=2 Q=in0.npy K=in1.npy V=in2.npy Y=out0.npy ...
 *
 * First may stand `sparse`: then that backend computes it, with one block, which keeps all keys.
 * Attributes, inputs and expected outputs by their ONNX names; "Q:bfloat16=file" for a bfloat16
 * array that is stored as float32. Exit status: 0 the outputs agree, 1 they do not, 77 the machine
 * does not have the tier that ATTN_CPU asks for.
 *
 * ONNX Attention means: with 3-D arrays (B, n, H d) heads stand side by side; past and key make
 * `present`; a mask that is shorter than the keys is continued with "not seen"; causal masks are
 * aligned top-left, moved by the past, or, with nonpad_kv_seqlen and no past, bottom-right in each
 * sequence's length, and so are windows; softcap comes before the mask.
 */
#include "attention.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ------------------------------------------------------------------------ */

static const char *const ARRAY_NAMES[ARRAY_COUNT] = {"Q",
                                                     "K",
                                                     "V",
                                                     "attn_mask",
                                                     "past_key",
                                                     "past_value",
                                                     "nonpad_kv_seqlen",
                                                     "Y",
                                                     "present_key",
                                                     "present_value",
                                                     "qk_matmul_output"};

static const char *const ATTRIBUTE_NAMES[ATTRIBUTE_COUNT] = {"is_causal",
                                                             "kv_num_heads",
                                                             "left_window_size",
                                                             "q_num_heads",
                                                             "qk_matmul_output_mode",
                                                             "right_window_size",
                                                             "scale",
                                                             "softcap",
                                                             "softmax_precision"};

static int index_of(const char *const *names, int count, const char *name, size_t length) {
    for (int i = 0; i < count; i++)
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0) return i;
    return -1;
}

static void read_argument(attention_case_t *c, const char *argument) {
    const char *equals = strchr(argument, '=');
    if (!equals) die("%s: name=value is wanted", argument);
    const size_t length = strcspn(argument, ":=");
    const int attribute = index_of(ATTRIBUTE_NAMES, ATTRIBUTE_COUNT, argument, length);
    if (attribute >= 0) {
        char *end;
        c->attributes[attribute] = strtod(equals + 1, &end);
        if (end == equals + 1 || *end) die("%s: a number is wanted", argument);
        return;
    }
    const int index = index_of(ARRAY_NAMES, ARRAY_COUNT, argument, length);
    if (index < 0) die("%s: neither an attribute nor an array of Attention", argument);
    c->arrays[index] = array_read(equals + 1);
    if (argument[length] == '=') return;
    if (strncmp(argument + length, ":bfloat16=", 10) != 0) die("%s: an unknown type", argument);
    array_file_t wide = c->arrays[index];
    c->arrays[index] = array_convert(&wide, ATTN_BF16);
    array_free(&wide);
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* (B, H, n, d), or by strides (B, n, H d). */
static attn_tensor_t view(const array_file_t *array, int64_t heads, const char *name) {
    const int64_t *shape = array->shape;
    attn_tensor_t t = {.data = array->data, .dtype = array->dtype};
    if (array->rank == 4) {
        memcpy(t.shape, shape, sizeof t.shape);
        t.stride[3] = 1, t.stride[2] = shape[3], t.stride[1] = shape[2] * shape[3];
        t.stride[0] = shape[1] * t.stride[1];
        return t;
    }
    if (array->rank != 3 || heads < 1 || shape[2] % heads != 0)
        die("%s has rank %d and %" PRId64 " heads", name, array->rank, heads);
    const int64_t width = shape[2] / heads;
    t.shape[0] = shape[0], t.shape[1] = heads, t.shape[2] = shape[1], t.shape[3] = width;
    t.stride[0] = shape[1] * shape[2], t.stride[1] = width, t.stride[2] = shape[2], t.stride[3] = 1;
    return t;
}

static void copy_rows(typed_t *to, const attn_tensor_t *from, int64_t first) {
    for (int64_t b = 0; b < from->shape[0]; b++)
        for (int64_t h = 0; h < from->shape[1]; h++)
            for (int64_t i = 0; i < from->shape[2]; i++)
                for (int64_t c = 0; c < from->shape[3]; c++)
                    typed_set(to, b, h, first + i, c, typed_get(from, b, h, i, c));
}

/* Key or value with its past in front; without one it is read where it is. */
static attn_tensor_t present_of(const array_file_t *past, const attn_tensor_t *now,
                                array_file_t *memory, const char *name) {
    if (!past->data) return *now;
    if (past->rank != 4 || past->shape[0] != now->shape[0] || past->shape[1] != now->shape[1] ||
        past->shape[3] != now->shape[3])
        die("%s does not fit", name);
    const attn_tensor_t before = view(past, past->shape[1], name);
    const int64_t shape[4] = {now->shape[0], now->shape[1], past->shape[2] + now->shape[2],
                              now->shape[3]};
    *memory = array_new(now->dtype, 4, shape);
    typed_t present = {.tensor = view(memory, shape[1], name)};
    copy_rows(&present, &before, 0);
    copy_rows(&present, now, past->shape[2]);
    return present.tensor;
}

/* The mask as (B|1, H|1, n|1, m), with what it lacks of m keys added as "not seen". */
static attn_tensor_t mask_of(const array_file_t *mask, int64_t keys, array_file_t *memory) {
    int64_t shape[4] = {1, 1, 1, 1};
    for (int k = 0; k < mask->rank; k++) shape[4 - mask->rank + k] = mask->shape[k];
    const int64_t given = shape[3];
    if (mask->rank < 1 || given > keys) die("attn_mask has %" PRId64 " keys", given);
    shape[3] = keys;
    *memory = array_new(mask->dtype == ATTN_BOOL ? ATTN_BOOL : ATTN_F32, 4, shape);
    typed_t padded = {.tensor = view(memory, shape[1], "attn_mask")};
    const double unseen = mask->dtype == ATTN_BOOL ? 0 : (double)-INFINITY;
    for (int64_t row = 0; row < memory->count / keys; row++)
        for (int64_t j = 0; j < keys; j++) {
            const int64_t i = row % shape[2], h = row / shape[2] % shape[1];
            typed_set(&padded, row / shape[2] / shape[1], h, i, j,
                      j < given ? array_number(mask, row * given + j) : unseen);
        }
    return padded.tensor;
}

/* ---- the problem ----------------------------------------------------------------------------- */

static int64_t whole(const attention_case_t *c, int attribute) {
    return isnan(c->attributes[attribute]) ? 0 : (int64_t)c->attributes[attribute];
}

/* Key and value have one type: where the files' differ, both are widened. */
static void unify_types(attention_case_t *c) {
    static const int arrays[] = {ARRAY_K, ARRAY_V, ARRAY_PAST_KEY, ARRAY_PAST_VALUE};
    if (c->arrays[ARRAY_K].dtype == c->arrays[ARRAY_V].dtype) return;
    for (int i = 0; i < 4; i++) {
        array_file_t *array = &c->arrays[arrays[i]], narrow = *array;
        if (!narrow.data) continue;
        *array = array_convert(&narrow, ATTN_F32);
        array_free(&narrow);
    }
}

static void set_up_keys(attention_case_t *c) {
    attn_io_t *io = &c->io;
    const int64_t kv_heads = whole(c, KV_NUM_HEADS);
    const attn_tensor_t key = view(&c->arrays[ARRAY_K], kv_heads, "K");
    const attn_tensor_t value = view(&c->arrays[ARRAY_V], kv_heads, "V");
    io->key = present_of(&c->arrays[ARRAY_PAST_KEY], &key, &c->key, "past_key");
    io->value = present_of(&c->arrays[ARRAY_PAST_VALUE], &value, &c->value, "past_value");
    if (io->key.shape[2] != io->value.shape[2]) die("key and value differ in length");
}

/* Of a padded sequence the problem has positions from the bottom right with causal alone. */
static void set_up_window(attention_case_t *c) {
    attn_problem_t *p = &c->problem;
    const double left = c->attributes[LEFT_WINDOW_SIZE], right = c->attributes[RIGHT_WINDOW_SIZE];
    if (!isnan(left)) p->window_left = (int64_t)left;
    if (!isnan(right)) p->window_right = (int64_t)right;
    const int windowed = p->window_left >= 0 || p->window_right >= 0;
    if (windowed && c->arrays[ARRAY_LENGTHS].data && !c->arrays[ARRAY_PAST_KEY].data && !p->causal)
        die("nonpad_kv_seqlen with a window and without is_causal");
}

static void set_up_rules(attention_case_t *c) {
    attn_problem_t *p = &c->problem;
    const array_file_t *mask = &c->arrays[ARRAY_MASK], *lengths = &c->arrays[ARRAY_LENGTHS];
    const array_file_t *past = &c->arrays[ARRAY_PAST_KEY];
    p->scores = (int32_t)whole(c, QK_MATMUL_OUTPUT_MODE);
    if (!isnan(c->attributes[SCALE])) p->scale = (float)c->attributes[SCALE];
    if (c->attributes[SOFTCAP] > 0) p->softcap = (float)c->attributes[SOFTCAP];
    if (whole(c, IS_CAUSAL))
        p->causal = lengths->data && !past->data ? ATTN_CAUSAL_BOTTOM_RIGHT : ATTN_CAUSAL_TOP_LEFT;
    if (past->data) p->past = past->shape[2];
    set_up_window(c);
    if (mask->data && mask->dtype == ATTN_BOOL) {
        p->inputs |= ATTN_INPUT_MASK;
        c->io.mask = mask_of(mask, p->keys, &c->mask);
    } else if (mask->data) {
        p->inputs |= ATTN_INPUT_BIAS;
        c->io.bias = mask_of(mask, p->keys, &c->mask);
    }
    if (!lengths->data) return;
    p->inputs |= ATTN_INPUT_KV_LENGTHS;
    c->io.kv_lengths = (attn_tensor_t){.data = lengths->data,
                                       .dtype = lengths->dtype,
                                       .shape = {lengths->count, 1, 1, 1},
                                       .stride = {1, 1, 1, 1}};
}

static void set_up(attention_case_t *c) {
    attn_io_t *io = &c->io;
    static const int needed[] = {ARRAY_Q, ARRAY_K, ARRAY_V, ARRAY_Y};
    for (int i = 0; i < 4; i++)
        if (!c->arrays[needed[i]].data) die("%s is missing", ARRAY_NAMES[needed[i]]);
    unify_types(c);
    io->struct_size = sizeof *io;
    io->query = view(&c->arrays[ARRAY_Q], whole(c, Q_NUM_HEADS), "Q");
    set_up_keys(c);
    attn_problem_t *p = &c->problem;
    attn_problem_init(p, io->query.shape[0], io->query.shape[1], io->query.shape[2],
                      io->key.shape[2], io->query.shape[3], io->value.shape[3]);
    p->kv_heads = io->key.shape[1];
    p->dtype = io->query.dtype;
    p->kv_dtype = io->key.dtype;
    set_up_rules(c);

    const array_file_t *y = &c->arrays[ARRAY_Y];
    c->out = array_new(p->dtype, y->rank, y->shape);
    io->out = view(&c->out, p->heads, "Y");
    if (!c->arrays[ARRAY_SCORES].data) return;
    c->scores = array_new(ATTN_F32, 4, (int64_t[]){p->batch, p->heads, p->queries, p->keys});
    io->scores = view(&c->scores, p->heads, "qk_matmul_output");
}

/* ---- running --------------------------------------------------------------------------------- */

static attn_plan_t *make_plan(const attention_case_t *c, const attn_context_t *context) {
    char block[24];
    const attn_param_t whole_sequence = {"block", block};
    const char *backend = c->is_sparse ? "sparse" : "softmax";
    attn_error_t error = {0};
    attn_plan_t *plan = NULL;
    snprintf(block, sizeof block, "%" PRId64,
             c->problem.past + c->problem.queries + c->problem.keys);
    if (attn_plan_create(context, backend, &c->problem, &whole_sequence, (uint32_t)c->is_sparse,
                         &plan, &error) != ATTN_OK)
        die("%s", error.message);
    return plan;
}

static void solve(attention_case_t *c, attn_context_t *context) {
    attn_error_t error = {0};
    attn_plan_t *plan = make_plan(c, context);
    c->io.workspace_size = attn_plan_workspace_size(plan);
    void *workspace =
        aligned_alloc(ATTN_ALIGNMENT, (size_t)c->io.workspace_size + ATTN_ALIGNMENT -
                                          (size_t)c->io.workspace_size % ATTN_ALIGNMENT);
    if (!workspace) die("no memory for the workspace");
    c->io.workspace = workspace;
    if (attn_run(plan, &c->io, &error) != ATTN_OK) die("%s", error.message);
    free(workspace);
    attn_plan_destroy(plan);
}

int main(int count, char **arguments) {
    static attention_case_t c;
    attn_context_t *context = NULL;
    attn_error_t error = {0};
    if (attn_context_create(NULL, &context, &error) != ATTN_OK) {
        printf("SKIPPED: %s\n", error.message);
        return error.status == ATTN_ERROR_UNSUPPORTED ? 77 : 1;
    }
    for (int i = 0; i < ATTRIBUTE_COUNT; i++) c.attributes[i] = NAN;
    c.is_sparse = count > 1 && strcmp(arguments[1], "sparse") == 0;
    for (int i = 1 + c.is_sparse; i < count; i++) read_argument(&c, arguments[i]);
    set_up(&c);
    solve(&c, context);
    attn_context_destroy(context);
    const int status = attention_compare(&c);
    for (int i = 0; i < ARRAY_COUNT; i++) array_free(&c.arrays[i]);
    array_file_t *const made[] = {&c.key, &c.value, &c.mask, &c.out, &c.scores};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) array_free(made[i]);
    return status;
}
