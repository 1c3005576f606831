/*
 * data.c: the C side of libattn/data: text as vectors, and .npy files. A module of its own, because
 * attention needs none of it.
 */
#include "bindings.h"
#include "npy/npy.h"
#include "text/embed.h"

#include <stdlib.h>
#include <string.h>

/* A session without a context: what stands here asks no backend. */
attnjs_t *attnjs_open(void) { return calloc(1, sizeof(attnjs_t)); }

void attnjs_close(attnjs_t *js) { free(js); }

/* ---- text ------------------------------------------------------------------------------------ */

typedef struct tokens {
    embed_token_t *list;
    size_t count;
} tokens_t;

/* All tokens; the list is the caller's to free, and NULL when there is no memory for it. */
static tokens_t split(attnjs_t *js, const char *text, size_t size) {
    tokens_t tokens = {.count = embed_split(text, size, NULL, 0)};
    tokens.list = calloc(tokens.count + 1, sizeof *tokens.list);
    if (tokens.list)
        embed_split(text, size, tokens.list, tokens.count);
    else
        attnjs_no_memory(js, "the tokens of the text");
    return tokens;
}

static void write_tokens(attn_json_t *json, const void *subject) {
    const tokens_t *tokens = subject;
    attn_json_open(json, NULL, '[');
    for (size_t i = 0; i < tokens->count; i++) {
        attn_json_integer(json, NULL, (long long)tokens->list[i].start);
        attn_json_integer(json, NULL, (long long)tokens->list[i].end);
    }
    attn_json_close(json, ']');
}

char *attnjs_tokens(attnjs_t *js, const void *text, size_t size) {
    const tokens_t tokens = split(js, text, size);
    if (!tokens.list) return NULL;
    char *json = attnjs_json(js, "the tokens of the text", write_tokens, &tokens);
    free(tokens.list);
    return json;
}

attn_status_t attnjs_embed(attnjs_t *js, const void *text, size_t size, double dim, float *out,
                           size_t room) {
    const tokens_t tokens = split(js, text, size);
    attn_status_t status = ATTN_OK;
    if (!tokens.list) return js->error.status;
    if ((double)tokens.count * dim <= (double)room)
        embed_vectors(text, tokens.list, tokens.count, (int64_t)dim, 0, out);
    else
        status = attn_fail(&js->error, ATTN_ERROR_SHAPE, "out: there is no room for the vectors");
    free(tokens.list);
    return status;
}

/* ---- .npy ------------------------------------------------------------------------------------ */

static size_t element_count(const attn_tensor_t *tensor) {
    return (size_t)(tensor->shape[0] * tensor->shape[1] * tensor->shape[2] * tensor->shape[3]);
}

/* The elements of any tensor, one after the other in C order. */
static void gather(const attn_tensor_t *tensor, size_t size, char *out) {
    const int64_t *shape = tensor->shape, *stride = tensor->stride;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t c = 0; c < shape[3]; c++, out += size) {
                    const int64_t at =
                        b * stride[0] + h * stride[1] + i * stride[2] + c * stride[3];
                    memcpy(out, (const char *)tensor->data + (size_t)at * size, size);
                }
}

/* A file in Fortran order becomes one in C order. */
static attn_status_t order_elements(attnjs_t *js, attn_tensor_t *tensor) {
    const size_t element = npy_element_size(tensor->dtype), size = element_count(tensor) * element;
    char *ordered = malloc(size + 1);
    if (!ordered) return attnjs_no_memory(js, "the elements of the .npy file");
    gather(tensor, element, ordered);
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

typedef struct npy {
    const char *bytes;
    attn_tensor_t tensor;
    int32_t rank;
} npy_t;

static void write_npy(attn_json_t *json, const void *subject) {
    const npy_t *npy = subject;
    attn_json_open(json, NULL, '{');
    attn_json_integer(json, "offset", (const char *)npy->tensor.data - npy->bytes);
    attn_json_boolean(json, "half", npy->tensor.dtype == ATTN_F16);
    attn_json_open(json, "shape", '[');
    for (int axis = 4 - npy->rank; axis < 4; axis++)
        attn_json_integer(json, NULL, npy->tensor.shape[axis]);
    attn_json_close(json, ']');
    attn_json_close(json, '}');
}

char *attnjs_read_npy(attnjs_t *js, void *bytes, size_t size) {
    npy_t npy = {.bytes = bytes};
    attn_error_t error;
    if (npy_parse(bytes, size, &npy.tensor, &npy.rank, &error) != ATTN_OK) {
        attn_fail(&js->error, error.status, "the file %s", error.message);
        return NULL;
    }
    if (!in_c_order(&npy.tensor) && order_elements(js, &npy.tensor) != ATTN_OK) return NULL;
    return attnjs_json(js, "the description of the .npy file", write_npy, &npy);
}
