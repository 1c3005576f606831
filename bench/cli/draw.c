/* cli/draw.c: see draw.h. */
#include "cli/draw.h"

#include "cli/cli.h"
#include "cli/meant.h"
#include "cli/options.h"

#include "attn/random.h"

#include <string.h>

static int64_t count_of(const int64_t shape[4]) {
    return shape[0] * shape[1] * shape[2] * shape[3];
}

static void view(array_t *array, attn_dtype_t dtype, const int64_t shape[4]) {
    array->rank = shape[0] == 1 ? 3 : 4;
    array->tensor =
        attn_tensor_bhnd_of(dtype, array->memory, shape[0], shape[1], shape[2], shape[3]);
}

int draw_normal(array_t *array, uint64_t stream, const int64_t shape[4]) {
    float *data = array->memory = array_allocate(ATTN_F32, shape);
    if (!data) return 0;
    const int64_t count = count_of(shape);
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)attn_random_normal(ARRAY_SEED, stream, (uint64_t)i);
    view(array, ATTN_F32, shape);
    return 1;
}

int draw_round(array_t *array, attn_dtype_t dtype, array_t *scales) {
    const int64_t *shape = array->tensor.shape;
    const int64_t rows[4] = {shape[0], shape[1], shape[2], 1};
    array_t rounded = {.memory = NULL};
    if (dtype == ATTN_F32) return 1;
    rounded.memory = array_allocate(dtype, shape);
    if (dtype == ATTN_I8) scales->memory = array_allocate(ATTN_F32, rows);
    if (!rounded.memory || (dtype == ATTN_I8 && !scales->memory)) {
        array_free(&rounded);
        return 0;
    }
    if (dtype == ATTN_I8) {
        view(scales, ATTN_F32, rows);
        attn_quantise_i8(rounded.memory, scales->memory, array->memory, count_of(rows), shape[3],
                         NULL);
    } else {
        attn_from_f32(rounded.memory, dtype, array->memory, count_of(shape), NULL);
    }
    view(&rounded, dtype, shape);
    array_free(array);
    *array = rounded;
    return 1;
}

/* ---- names of element types ------------------------------------------------------------------ */

static const attn_dtype_t drawn[DRAW_DTYPES] = {ATTN_F32, ATTN_F16, ATTN_BF16, ATTN_I8};

static attn_dtype_t named(const char *name) {
    for (int i = 0; i < DRAW_DTYPES; i++)
        if (strcmp(attn_dtype_name(drawn[i]), name) == 0) return drawn[i];
    return ATTN_DTYPE_NONE;
}

static int unknown(const char *option, const char *word, size_t length) {
    meant_t meant = meant_begin(word, length);
    char advice[MEANT_TEXT];
    for (int i = 0; i < DRAW_DTYPES; i++) meant_try(&meant, attn_dtype_name(drawn[i]));
    return cli_complain(CLI_USAGE, "%s: '%.*s' is none of f32, f16, bf16 and i8%s", option,
                        (int)length, word, meant_advice(&meant, "", NULL, advice));
}

int draw_read_dtypes(const char *list, const char *option, attn_dtype_t dtypes[DRAW_DTYPES],
                     int *count) {
    *count = 0;
    for (const char *item = list ? list : "f32";; item++) {
        char word[OPTION_WORD];
        const size_t length = strcspn(item, ",");
        const attn_dtype_t dtype =
            option_item(item, word) ? named(word) : (attn_dtype_t)ATTN_DTYPE_NONE;
        if (dtype == ATTN_DTYPE_NONE) return unknown(option, item, length);
        for (int i = 0; i < *count; i++)
            if (dtypes[i] == dtype)
                return cli_complain(CLI_USAGE, "%s: %s is given twice", option, word);
        dtypes[(*count)++] = dtype;
        item += length;
        if (!*item) return CLI_OK;
    }
}
