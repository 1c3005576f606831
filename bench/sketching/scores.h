/*
 * sketching/scores.h: leverage scores of X's features, exactly, by QR: sigma_j = x_j^T (X X^T)^+ x_j for
 * column x_j of X, between 0 and 1, their sum the rank of X.
 */
#ifndef ATTN_SKETCHING_SCORES_H
#define ATTN_SKETCHING_SCORES_H

#include "sketching/basis.h"

/** scores[j] = |N^T x_j|^2. 0 when there is no memory. */
int sketching_scores(const sketching_features_t *features, const sketching_basis_t *basis,
                     double *scores);

#endif
