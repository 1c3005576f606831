/* data.c: what gets data in: typed text, .npy files, and a look at whether it is finite. */
#include "bindings.h"
#include "json.h"
#include "tools/embed.h"
#include "tools/npy.h"

#include <stdlib.h>
#include <string.h>

double attnjs_count_nonfinite(attnjs_t *js, float *data, double count) {
    (void)js;
    const attn_tensor_t tensor = attn_tensor_bhnd(data, 1, 1, 1, (int64_t)count);
    return (double)attn_count_nonfinite(&tensor);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* All tokens, the caller's to free; NULL when there is no memory for them. */
static embed_token_t *split(const char *text, size_t size, size_t *count) {
    *count = embed_split(text, size, NULL, 0);
    embed_token_t *tokens = calloc(*count + 1, sizeof *tokens);
    if (tokens) embed_split(text, size, tokens, *count);
    return tokens;
}

char *attnjs_tokens(attnjs_t *js, const char *text, size_t size) {
    size_t count = 0;
    embed_token_t *tokens = split(text, size, &count);
    attnjs_text_t json = {0};
    attnjs_text_add(&json, "[");
    for (size_t i = 0; tokens && i < count; i++)
        attnjs_text_add(&json, "%s%zu,%zu", i ? "," : "", tokens[i].start, tokens[i].end);
    attnjs_text_add(&json, "]");
    char *result = attnjs_text_take(&json);
    if (!tokens || !result) {
        attnjs_no_memory(js, "the tokens of the text");
        free(result);
        result = NULL;
    }
    free(tokens);
    return result;
}

attn_status_t attnjs_embed(attnjs_t *js, const char *text, size_t size, double dim, float *out) {
    size_t count = 0;
    embed_token_t *tokens = split(text, size, &count);
    if (!tokens) return attnjs_no_memory(js, "the tokens of the text");
    embed_vectors(text, tokens, count, (int64_t)dim, 0, out);
    free(tokens);
    return ATTN_OK;
}

/* ---- .npy ------------------------------------------------------------------------------------ */

static size_t element_count(const attn_tensor_t *tensor) {
    return (size_t)(tensor->shape[0] * tensor->shape[1] * tensor->shape[2] * tensor->shape[3]);
}

/* The elements of any tensor, one after the other in C order. */
static void gather(const attn_tensor_t *tensor, float *out) {
    const int64_t *shape = tensor->shape, *stride = tensor->stride;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++) {
                const float *row =
                    (const float *)tensor->data + b * stride[0] + h * stride[1] + i * stride[2];
                for (int64_t c = 0; c < shape[3]; c++) *out++ = row[c * stride[3]];
            }
}

/* A file in Fortran order becomes one in C order. */
static attn_status_t order_elements(attnjs_t *js, attn_tensor_t *tensor) {
    size_t size = element_count(tensor) * sizeof(float);
    float *ordered = malloc(size + 1);
    if (!ordered) return attnjs_no_memory(js, "the elements of the .npy file");
    gather(tensor, ordered);
    memcpy(tensor->data, ordered, size);
    free(ordered);
    return ATTN_OK;
}

static int in_c_order(const attn_tensor_t *tensor) {
    int64_t expected = 1;
    for (int axis = 3; axis >= 0; axis--) {
        if (tensor->shape[axis] != 1 && tensor->stride[axis] != expected) return 0;
        expected *= tensor->shape[axis];
    }
    return 1;
}

char *attnjs_read_npy(attnjs_t *js, void *bytes, size_t size) {
    attn_tensor_t tensor = {0};
    int32_t rank = 0;
    attn_error_t error;
    if (npy_parse(bytes, size, &tensor, &rank, &error) != ATTN_OK) {
        attn_fail(&js->error, error.status, "the file %s", error.message);
        return NULL;
    }
    if (!in_c_order(&tensor) && order_elements(js, &tensor) != ATTN_OK) return NULL;
    attnjs_text_t json = {0};
    attnjs_text_add(&json, "{\"offset\":%td,\"shape\":[", (char *)tensor.data - (char *)bytes);
    for (int axis = 4 - rank; axis < 4; axis++)
        attnjs_text_add(&json, "%s%lld", axis > 4 - rank ? "," : "", (long long)tensor.shape[axis]);
    attnjs_text_add(&json, "]}");
    char *result = attnjs_text_take(&json);
    if (!result) attnjs_no_memory(js, "the description of the .npy file");
    return result;
}
