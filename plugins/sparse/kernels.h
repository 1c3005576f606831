/*
 * kernels.h: kernels for queries that choose among all keys, by their logits or by buckets, as tables, one per tier: the
 * tiles of core/attention, which see keys in steps of their own.
 */
#ifndef ATTN_SPARSE_KERNELS_H
#define ATTN_SPARSE_KERNELS_H

#include "attention/kernels.h"
#include "pattern.h"

enum {
    ROTATED = 4,        /* rows that are rotated side by side */
    ROTATED_LANES = 16, /* of which the stride is a multiple: whole vectors on every tier */
};

/* A random rotation R of which the first `columns` columns count. */
typedef struct sparse_rotation {
    const float *matrix; /* [dim][stride] */
    int64_t columns, stride;
} sparse_rotation_t;

typedef struct sparse_kernels {
    exact_kernels_t topkeys, buckets;
    /* The buckets of ROTATED rows of `dim` each: of [xR; -xR] the largest, of equal ones the first. */
    void (*rotate)(const float *rows, int64_t dim, const sparse_rotation_t *rotation, float *codes);
} sparse_kernels_t;

ATTN_KERNEL_TABLES(sparse_kernels_t, attn_sparse_kernels)

#endif
