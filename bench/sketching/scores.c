/* sketching/scores.c: see scores.h. */
#include "sketching/scores.h"

#include <stdlib.h>

int sketching_scores(const sketching_features_t *features, const sketching_basis_t *basis,
                     double *scores) {
    double *room = sketching_allocate(basis->rank, 1, sizeof *room);
    if (room) attn_basis_scores(features, basis, room, scores);
    free(room);
    return room != NULL;
}
