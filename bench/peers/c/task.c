/* peers/task.c: the task of a worker: its arguments and its arrays. See worker.h. */
#include "worker.h"

#include <simd/half.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *task_argument(int count, char **arguments, const char *name) {
    const size_t length = strlen(name);
    for (int i = 1; i < count; i++)
        if (strncmp(arguments[i], name, length) == 0 && arguments[i][length] == '=')
            return arguments[i] + length + 1;
    return NULL;
}

float *task_floats(int64_t count) {
    const size_t bytes = ((size_t)count * sizeof(float) + 63) / 64 * 64;
    float *data = aligned_alloc(64, bytes);
    if (data) memset(data, 0, bytes);
    return data;
}

static int read_size(int64_t *size, int count, char **arguments, const char *name, int64_t least,
                     about_t *about) {
    const char *text = task_argument(count, arguments, name);
    char *end = NULL;
    *size = text ? strtoll(text, &end, 10) : -1;
    if (text && end != text && *end == '\0' && *size >= least && *size <= 1 << 24) return 0;
    snprintf(about->text, sizeof about->text, "%s=%.40s: a whole number of at least %d is needed",
             name, text ? text : "", (int)least);
    return 1;
}

static int read_array(float **data, int64_t size, int count, char **arguments, const char *name,
                      about_t *about) {
    const char *path = task_argument(count, arguments, name);
    if (!path) return 0;
    *data = task_floats(size);
    FILE *file = fopen(path, "rb");
    const size_t got = file && *data ? fread(*data, sizeof(float), (size_t)size, file) : 0;
    if (file) fclose(file);
    if (got == (size_t)size) return 0;
    snprintf(about->text, sizeof about->text, "%.180s: %zu floats of %lld read", path, got,
             (long long)size);
    return 1;
}

static uint16_t half_of(const task_t *task, float x) {
    return task->kv == KV_F16 ? float_to_f16(x) : float_to_bf16(x);
}

void *task_halves(const task_t *task, const float *numbers, int64_t columns) {
    const int64_t size = task_tokens(task) * columns;
    uint16_t *halves = (uint16_t *)task_floats(size / 2 + 1);
    for (int64_t i = 0; halves && i < size; i++) halves[i] = half_of(task, numbers[i]);
    return halves;
}

static float scale_of(const float *row, int64_t columns) {
    float largest = 0;
    for (int64_t c = 0; c < columns; c++) largest = fmaxf(largest, fabsf(row[c]));
    return largest > 0 ? largest / 127 : 1;
}

int8_t *task_bytes(const task_t *task, const float *numbers, int64_t columns, float *scales) {
    const int64_t size = task_tokens(task) * columns;
    int8_t *bytes = malloc((size_t)size);
    for (int64_t i = 0; bytes && scales && i < size; i++) {
        float *scale = scales + i / columns;
        if (i % columns == 0) *scale = scale_of(numbers + i, columns);
        bytes[i] = (int8_t)lrintf(numbers[i] / *scale);
    }
    return bytes;
}

static void round_to_bytes(float *numbers, int64_t size, int64_t columns) {
    for (int64_t i = 0; i < size; i += columns) {
        const float scale = scale_of(numbers + i, columns);
        for (int64_t c = i; c < i + columns; c++) numbers[c] = scale * rintf(numbers[c] / scale);
    }
}

static void round_kv(const task_t *task, float *numbers, int64_t columns) {
    const int64_t size = task_tokens(task) * columns;
    if (!numbers || task->kv == KV_F32) return;
    if (task->kv == KV_I8) {
        round_to_bytes(numbers, size, columns);
        return;
    }
    for (int64_t i = 0; i < size; i++) {
        const uint16_t half = half_of(task, numbers[i]);
        numbers[i] = task->kv == KV_F16 ? f16_to_float(half) : bf16_to_float(half);
    }
}

static int read_kv(task_t *task, int count, char **arguments, about_t *about) {
    static const char *const names[] = {"f32", "f16", "bf16", "i8"};
    const char *text = task_argument(count, arguments, "kv");
    task->kv = KV_F32;
    if (!text) return 0;
    for (int i = KV_F32; i <= KV_I8; i++)
        if (strcmp(text, names[i]) == 0) return task->kv = (enum kv_type)i, 0;
    snprintf(about->text, sizeof about->text, "kv=%.40s: f32, f16, bf16 or i8 is needed", text);
    return 1;
}

static int read_form(task_t *task, int count, char **arguments, about_t *about) {
    static const linear_t forms[] = {
        {"elu1", RULE_LINEAR, 1}, {"linear", RULE_LINEAR, 0},           {"gated", RULE_GATED, 0},
        {"delta", RULE_DELTA, 0}, {"gated_delta", RULE_GATED_DELTA, 0},
    };
    const char *text = task_argument(count, arguments, "form");
    if (!text || strcmp(text, "softmax") == 0) return 0;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(text, forms[i].name) == 0) return task->linear = &forms[i], 0;
    snprintf(about->text, sizeof about->text, "form=%.40s: softmax or a form of linear attention",
             text);
    return 1;
}

/* That of dim where it is left out; linear attention's states are square here. */
static int read_value_dim(task_t *task, int count, char **arguments, about_t *about) {
    task->value_dim = task->dim;
    if (!task_argument(count, arguments, "value_dim")) return 0;
    if (read_size(&task->value_dim, count, arguments, "value_dim", 1, about)) return 1;
    if (!task->linear || task->value_dim == task->dim) return 0;
    snprintf(about->text, sizeof about->text, "value_dim=%lld: linear attention takes dim, %lld",
             (long long)task->value_dim, (long long)task->dim);
    return 1;
}

static int read_arrays(task_t *task, int count, char **arguments, about_t *about) {
    const int64_t query = task->heads * task->queries * task->dim;
    const int64_t tokens = task_tokens(task), key = tokens * task->dim;
    const struct {
        float **data;
        int64_t size;
        const char *name;
    } arrays[] = {{&task->query, query, "query"},
                  {&task->key, key, "key"},
                  {&task->value, tokens * task->value_dim, "value"},
                  {&task->out, task_out_size(task), "result"},
                  {&task->decay, linear_decays(task->linear) ? key : 0, "decay"},
                  {&task->beta, linear_deltas(task->linear) ? tokens : 0, "beta"}};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (arrays[i].size &&
            read_array(arrays[i].data, arrays[i].size, count, arguments, arrays[i].name, about))
            return 1;
    return 0;
}

int task_read(task_t *task, int count, char **arguments, about_t *about) {
    *task = (task_t){0};
    const struct {
        int64_t *size;
        const char *name;
        int64_t least;
    } sizes[] = {{&task->heads, "heads", 1},     {&task->kv_heads, "kv_heads", 1},
                 {&task->queries, "queries", 1}, {&task->keys, "keys", 1},
                 {&task->dim, "dim", 1},         {&task->causal, "causal", 0},
                 {&task->threads, "threads", 1}, {&task->stream, "stream", 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (read_size(sizes[i].size, count, arguments, sizes[i].name, sizes[i].least, about))
            return 1;
    task->precision = task_argument(count, arguments, "precision");
    task->sparse = task_argument(count, arguments, "sparse");
    if (task->sparse && !*task->sparse) task->sparse = NULL;
    task->layout = task_argument(count, arguments, "layout");
    task->peak = task_argument(count, arguments, "peak");
    const char *amount = task_argument(count, arguments, "amount");
    task->amount = amount ? strtoll(amount, NULL, 10) : 0;
    if (task->heads % task->kv_heads) {
        snprintf(about->text, sizeof about->text, "%lld heads are no multiple of %lld kv_heads",
                 (long long)task->heads, (long long)task->kv_heads);
        return 1;
    }
    if (read_kv(task, count, arguments, about) || read_form(task, count, arguments, about) ||
        read_value_dim(task, count, arguments, about) || read_arrays(task, count, arguments, about))
        return 1;
    round_kv(task, task->key, task->dim);
    round_kv(task, task->value, task->value_dim);
    return 0;
}
