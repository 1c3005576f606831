/* form.h: which linear attention a plan computes: map, rule, normaliser, and arrays of its own. */
#ifndef ATTN_LINEAR_FORM_H
#define ATTN_LINEAR_FORM_H

#include "maps.h"

#include "attn/support.h"

/* In the order of the parameter's choices. */
typedef enum linear_rule {
    LINEAR_RULE_LINEAR,
    LINEAR_RULE_GATED,
    LINEAR_RULE_DELTA,
    LINEAR_RULE_GATED_DELTA,
} linear_rule_t;

/* Arrays of the backend's own, in the order of their declaration. */
enum {
    LINEAR_DECAY,
    LINEAR_BETA,
    LINEAR_STATE,
    LINEAR_STATE_Z,
    LINEAR_STATE_OUT,
    LINEAR_STATE_Z_OUT,
    LINEAR_ARRAYS
};

typedef struct linear_form {
    linear_map_t map;
    linear_rule_t rule;
    int normalise;
    int retnet;                   /* decay by head, where no array says it */
    int64_t features;             /* length of phi(x) */
    float query_scale, key_scale; /* multiply x before phi */
    uint64_t seed;                /* of the directions, */
    const float *directions;      /* [dim][directions_stride] of favor, or NULL */
    int64_t directions_stride;    /* features in whole vectors of every tier */
} linear_form_t;

static inline int linear_has_decay(const linear_form_t *form) {
    return form->rule == LINEAR_RULE_GATED || form->rule == LINEAR_RULE_GATED_DELTA;
}

static inline int linear_has_delta(const linear_form_t *form) {
    return form->rule == LINEAR_RULE_DELTA || form->rule == LINEAR_RULE_GATED_DELTA;
}

#endif
