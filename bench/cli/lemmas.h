/*
 * cli/lemmas.h: what Lemmas 3.1 to 3.4 of arXiv:2304.04397 say of the arrays that a sketch runs on: beside what its plan
 * promises of all.
 */
#ifndef ATTN_CLI_LEMMAS_H
#define ATTN_CLI_LEMMAS_H

#include "attn/attn.h"

/**
 * r = max |scale X X^T|, X = [Q; K], and 12 r, by which a weight may move; `longest` is the largest |x|^2 of rows of X,
 * NaN where they have one. "" for a plan that keeps all features, or of a backend that promises nothing of the kind.
 * Returns `text`.
 */
const char *lemmas_describe(const attn_plan_t *plan, double longest, char *text, size_t size);

/** The larger one, NaN where one is that. */
double lemmas_longer(double query, double key);

#endif
