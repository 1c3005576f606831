/*
 * labs/programs/bricks.h: what perceptrons with GeLU do (Lemmas A.1 to A.7), as neurons of the machine's last
 * perceptron. A form is a weighted sum of a few columns; each function adds to the output column `out`, times `weight`.
 */
#ifndef ATTN_LABS_PROGRAMS_BRICKS_H
#define ATTN_LABS_PROGRAMS_BRICKS_H

#include "labs/programs/machine.h"

enum { FORM_TERMS = 16 };

typedef struct form {
    int32_t count;
    int32_t columns[FORM_TERMS];
    double weights[FORM_TERMS];
} form_t;

/** One column. */
form_t form_of(int32_t column);

/** form + weight times a column. */
form_t form_plus(form_t form, int32_t column, double weight);

/** form times a number. */
form_t form_times(form_t form, double factor);

/** What the bricks of a machine are for: numbers within [-bound, bound], an error of eps each. */
typedef struct bricks {
    machine_t *machine;
    double bound, eps;
} bricks_t;

/** max(form, 0): gelu(l x) / l, which is within 0.17 / l of it (Lemma A.2). */
void brick_relu(const bricks_t *bricks, int32_t out, double weight, form_t form);

/** The form itself: gelu(x) - gelu(-x) (Lemma A.3). */
void brick_linear(const bricks_t *bricks, int32_t out, double weight, form_t form);

/** The product of two forms by four neurons (Lemma A.1). */
void brick_product(const bricks_t *bricks, int32_t out, double weight, form_t a, form_t b);

/**
 * 1 where a form of whole numbers is 1 or more, 0 where it is 0 or less, each within 1/3 (Lemmas A.5 and A.6, whose
 * slopes of 2 are for 1/4).
 */
void brick_step(const bricks_t *bricks, int32_t out, double weight, form_t form);

/** a where `flag` is 1 and b where it is 0 (Lemma A.4). */
void brick_select(const bricks_t *bricks, int32_t out, int32_t flag, form_t a, form_t b);

/** The number of the block of `size` that a form from 1 to `blocks` size is in, from 1 (Lemma A.7). */
void brick_block(const bricks_t *bricks, int32_t out, form_t form, int32_t size, int32_t blocks);

#endif
