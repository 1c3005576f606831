/* sketching/inputs.h: X for the tests, dense and as CSR. */
#ifndef ATTN_TESTS_SKETCHING_INPUTS_H
#define ATTN_TESTS_SKETCHING_INPUTS_H

#include "sketching/sketch.h"

enum input_kind {
    INPUT_RANDOM,
    INPUT_SPIKED,     /* a few features carry nearly all */
    INPUT_DUPLICATED, /* each feature comes four times */
    INPUT_DEFICIENT,  /* the last half of the rows are sums of others */
    INPUT_ZEROS,      /* two features of three are zeros */
    INPUT_SPARSE,     /* 1 in 8 elements, one row without any */
    INPUT_KINDS
};

extern const char *const input_names[INPUT_KINDS];

/* An X with the memory it stands in; the rows have length sqrt(r). */
typedef struct input {
    sketching_x_t x;   /* dense */
    sketching_x_t csr; /* the same */
    int64_t rank;      /* of it */
    void *memory[4];
} input_t;

input_t input_create(enum input_kind kind, int64_t rows, int64_t columns, double r);

void input_destroy(input_t *input);

/** Made or the test fails; sketching_features_destroy(). */
sketching_features_t features_of(const sketching_x_t *x);

#endif
