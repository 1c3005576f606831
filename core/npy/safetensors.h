/*
 * npy/safetensors.h: Hugging Face's files of named tensors (.safetensors), read from memory: 8 bytes, the length of a
 * header in JSON, which gives each tensor's type, shape and place in the bytes behind it.
 */
#ifndef ATTN_NPY_SAFETENSORS_H
#define ATTN_NPY_SAFETENSORS_H

#include "npy/dict.h"

enum { SAFETENSORS_MAX_NAME = 256, SAFETENSORS_MAX_DTYPE = 16 };

/** One tensor: bytes [begin, end) of the file. */
typedef struct safetensor {
    char name[SAFETENSORS_MAX_NAME];
    char dtype[SAFETENSORS_MAX_DTYPE]; /**< "BF16" */
    int32_t rank;
    int64_t shape[NPY_MAX_RANK];
    uint64_t begin, end;
} safetensor_t;

typedef struct safetensors {
    safetensor_t *list; /**< in the order of their bytes; safetensors_free() */
    size_t count;
} safetensors_t;

/** Whether bytes[size] begin as such a file does. */
int safetensors_is_one(const void *bytes, size_t size);

/**
 * Read the header of bytes[size]. What the format forbids is an error that says which: a header or data cut off, JSON
 * that is broken, a name twice, a size that does not follow from type and shape, tensors that overlap, bytes that
 * belong to none. safetensors_free() in any case.
 */
attn_status_t safetensors_read(const void *bytes, size_t size, safetensors_t *file,
                               attn_error_t *error);

/** The tensor of this name; NULL for none. */
const safetensor_t *safetensors_find(const safetensors_t *file, const char *name);

/** What npy_take() reads it by. ATTN_ERROR_DTYPE for types that are not read, with what to do. */
attn_status_t safetensors_dict(const safetensor_t *tensor, npy_dict_t *dict, attn_error_t *error);

void safetensors_free(safetensors_t *file);

#endif
