/* cli/rules.c: see rules.h. */
#include "cli/rules.h"

#include "cli/cli.h"
#include "number/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- without files --------------------------------------------------------------------------- */

static int read_corner(const char *causal, int32_t *corner) {
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

/* One side of a window: a whole number of at least -1, or nothing, which is -1. */
static int read_side(const char *text, size_t length, int64_t *side) {
    char word[24];
    *side = -1;
    if (length == 0) return 1;
    if (length >= sizeof word) return 0;
    memcpy(word, text, length);
    word[length] = 0;
    return option_integer(word, side) && *side >= -1;
}

static int read_window(const char *window, attn_problem_t *problem) {
    if (!window) return CLI_OK;
    const char *comma = strchr(window, ',');
    if (!comma || !read_side(window, (size_t)(comma - window), &problem->window_left) ||
        !read_side(comma + 1, strlen(comma + 1), &problem->window_right))
        return cli_complain(CLI_USAGE,
                            "--window: '%s' is not of the form L,R (keys to each side; -1 or "
                            "nothing: all)",
                            window);
    return CLI_OK;
}

int rules_pose(const rules_t *rules, attn_problem_t *problem) {
    if (read_corner(rules->causal, &problem->causal) || read_window(rules->window, problem))
        return CLI_USAGE;
    problem->scale = (float)rules->scale;
    problem->softcap = (float)rules->softcap;
    if (rules->mask_path) problem->inputs |= ATTN_INPUT_MASK;
    if (rules->bias_path) problem->inputs |= ATTN_INPUT_BIAS;
    if (rules->kv_lengths_text) problem->inputs |= ATTN_INPUT_KV_LENGTHS;
    if (rules->sinks_text) problem->inputs |= ATTN_INPUT_SINKS;
    if (rules->slopes_text) problem->inputs |= ATTN_INPUT_SLOPES;
    return CLI_OK;
}

/* ---- one value for each head or batch: a list on the command line, or a file of rank 1 --------- */

typedef struct listed {
    const char *flag, *text;
    const char *owners; /* "heads" or "batches" */
    int64_t count;      /* how many of them */
    attn_dtype_t dtype; /* F32 or I64 */
    int has_default;    /* "" and "auto" are the slopes of ALiBi's paper */
} listed_t;

/* A number up to a comma or the end: such a text is no file's name. */
static int begins_list(const char *text) {
    const char *end;
    attn_number_read(text, &end);
    return end != text && (*end == ',' || !*end);
}

static int read_item(const listed_t *listed, const char *word, void *data, int64_t index) {
    if (listed->dtype == ATTN_I64) {
        if (option_integer(word, (int64_t *)data + index)) return CLI_OK;
        return cli_complain(CLI_USAGE, "--%s: '%s' is not a whole number", listed->flag, word);
    }
    const char *end;
    const float value = (float)attn_number_read(word, &end);
    ((float *)data)[index] = value;
    if (end != word && !*end && isfinite(value)) return CLI_OK;
    return cli_complain(CLI_USAGE, "--%s: '%s' is not a finite number", listed->flag, word);
}

static int check_count(const listed_t *listed, int64_t count) {
    if (count == listed->count) return CLI_OK;
    return cli_complain(CLI_USAGE, "--%s: %lld value%s for %lld %s", listed->flag, (long long)count,
                        count == 1 ? "" : "s", (long long)listed->count, listed->owners);
}

static int read_list(const listed_t *listed, array_t *array) {
    int64_t commas = 0;
    for (const char *c = listed->text; *c; c++) commas += *c == ',';
    if (check_count(listed, commas + 1)) return CLI_USAGE;
    const char *item = listed->text;
    for (int64_t index = 0; index <= commas; index++) {
        char word[32];
        const size_t length = strcspn(item, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), item);
        if (read_item(listed, word, array->memory, index)) return CLI_USAGE;
        item += length + 1;
    }
    return CLI_OK;
}

static int read_listed_file(const listed_t *listed, array_t *array) {
    const npy_wanted_t wanted = {.types = listed->dtype == ATTN_I64 ? NPY_INTEGERS : NPY_FLOATS,
                                 .low = 1,
                                 .high = 1,
                                 .ranks = "1"};
    if (array_load(array, listed->text, &wanted) ||
        check_count(listed, array->tensor.shape[AXIS_COLUMNS]))
        return CLI_USAGE;
    return array_copy(array, NULL, listed->dtype, listed->text);
}

/* The paper's slopes: a geometric sequence from 2^(-8/H) with that ratio (arXiv:2108.12409, 3). */
static void fill_slopes(float *slopes, int64_t heads) {
    for (int64_t h = 0; h < heads; h++)
        slopes[h] = (float)exp2(-8.0 * (double)(h + 1) / (double)heads);
}

static int load_listed(const listed_t *listed, array_t *array) {
    const int64_t count = listed->count, shape[4] = {count, 1, 1, 1};
    int status = CLI_OK;
    if (!listed->text) return CLI_OK;
    const int is_auto =
        listed->has_default && (!*listed->text || strcmp(listed->text, "auto") == 0);
    if (!is_auto && !*listed->text)
        return cli_complain(CLI_USAGE, "--%s: '' is neither a list nor a file", listed->flag);
    if (is_auto || begins_list(listed->text)) {
        array->memory = array_allocate(listed->dtype, shape);
        if (!array->memory) return cli_complain(CLI_USAGE, "--%s: no memory", listed->flag);
        if (is_auto)
            fill_slopes(array->memory, count);
        else
            status = read_list(listed, array);
    } else {
        status = read_listed_file(listed, array);
    }
    const int by_batch = listed->dtype == ATTN_I64;
    array->tensor = (attn_tensor_t){.data = array->memory,
                                    .dtype = listed->dtype,
                                    .shape = {by_batch ? count : 1, by_batch ? 1 : count, 1, 1},
                                    .stride = {1, 1, 1, 1}};
    return status;
}

/* ---- mask and bias: aligned from the right to (B, H, n, m), as NumPy broadcasts ---------------- */

static int64_t longest(const rules_t *rules, const attn_problem_t *problem) {
    const int64_t *lengths = rules->kv_lengths.tensor.data;
    int64_t most = lengths ? 0 : problem->keys;
    for (int64_t b = 0; lengths && b < problem->batch; b++)
        if (lengths[b] > most) most = lengths[b];
    return most;
}

/* Columns may be missing where no sequence has a key, as ONNX Attention has it. */
static int fits(const attn_tensor_t *tensor, const attn_problem_t *problem, int64_t least) {
    const int64_t full[3] = {problem->batch, problem->heads, problem->queries};
    const int64_t columns = tensor->shape[AXIS_COLUMNS];
    for (int axis = 0; axis < 3; axis++)
        if (tensor->shape[axis] != 1 && tensor->shape[axis] != full[axis]) return 0;
    return columns == 1 || (columns >= least && columns <= problem->keys);
}

static int load_over_logits(array_t *array, const char *path, uint32_t types, const void *padding,
                            const rules_t *rules, const attn_problem_t *problem) {
    const npy_wanted_t wanted = {
        .types = types, .low = 1, .high = 4, .ranks = "1 (m) to 4 (B, H, n, m)"};
    char shape[96];
    if (!path) return CLI_OK;
    if (array_load(array, path, &wanted)) return CLI_USAGE;
    if (!fits(&array->tensor, problem, longest(rules, problem)))
        return cli_complain(
            CLI_USAGE, "%s %s does not broadcast to (B, H, n, m) = (%lld, %lld, %lld, %lld)", path,
            array_shape(array, shape), (long long)problem->batch, (long long)problem->heads,
            (long long)problem->queries, (long long)problem->keys);
    if (array->tensor.dtype == ATTN_F16 && array_copy(array, NULL, ATTN_F32, path))
        return CLI_USAGE;
    if (array->tensor.shape[AXIS_COLUMNS] == problem->keys) return CLI_OK;
    return array_widen(array, problem->keys, padding, path);
}

/* ---- all together ---------------------------------------------------------------------------- */

int rules_load(rules_t *rules, const attn_problem_t *problem) {
    const unsigned char hidden = 0;
    const float infinitely_less = -INFINITY;
    const int64_t batch = problem->batch, heads = problem->heads;
    const listed_t lengths = {"kv-lens", rules->kv_lengths_text, "batches", batch, ATTN_I64, 0};
    const listed_t sinks = {"sinks", rules->sinks_text, "heads", heads, ATTN_F32, 0};
    const listed_t slopes = {"alibi", rules->slopes_text, "heads", heads, ATTN_F32, 1};
    if (load_listed(&lengths, &rules->kv_lengths) || load_listed(&sinks, &rules->sinks) ||
        load_listed(&slopes, &rules->slopes) ||
        load_over_logits(&rules->mask, rules->mask_path, NPY_BOOL, &hidden, rules, problem) ||
        load_over_logits(&rules->bias, rules->bias_path, NPY_FLOATS, &infinitely_less, rules,
                         problem))
        return CLI_USAGE;
    return CLI_OK;
}

void rules_attach(const rules_t *rules, attn_io_t *io) {
    io->mask = rules->mask.tensor;
    io->bias = rules->bias.tensor;
    io->kv_lengths = rules->kv_lengths.tensor;
    io->sinks = rules->sinks.tensor;
    io->slopes = rules->slopes.tensor;
}

const char *rules_describe(const attn_problem_t *problem, char text[256]) {
    static const char *const names[] = {"bias", "mask", "key lengths", "sinks", "ALiBi"};
    int used = 0;
    text[0] = 0;
    if (problem->past) used += snprintf(text + used, 64, ", past %lld", (long long)problem->past);
    if (problem->window_left >= 0 || problem->window_right >= 0)
        used += snprintf(text + used, 64, ", window (%lld, %lld)", (long long)problem->window_left,
                         (long long)problem->window_right);
    if (problem->softcap != 0.0f)
        used += snprintf(text + used, 64, ", softcap %.9g", (double)problem->softcap);
    for (int bit = 0; bit < 5; bit++)
        if (problem->inputs >> bit & 1) used += snprintf(text + used, 24, ", %s", names[bit]);
    if (used) memmove(text, text + 2, (size_t)used - 1);
    return text;
}

void rules_free(rules_t *rules) {
    array_free(&rules->mask);
    array_free(&rules->bias);
    array_free(&rules->kv_lengths);
    array_free(&rules->sinks);
    array_free(&rules->slopes);
}
