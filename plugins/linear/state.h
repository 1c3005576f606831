/* state.h: what tokens come to, in the kernels' own layout. */
#ifndef ATTN_LINEAR_STATE_H
#define ATTN_LINEAR_STATE_H

#include "form.h"

/* Of one key/value head. */
typedef struct linear_state {
    int64_t keys;    /* how many */
    int64_t whole;   /* 1: nothing was left out of the numbers (add.h) */
    int64_t stride;  /* value_dim, rounded up */
    uint64_t size;   /* floats of all of the below, which stand side by side */
    uint64_t width;  /* of them each of z and zabs */
    float *s;        /* [features][stride] */
    float *z, *zabs; /* [features, rounded up]: sums of phi(k), |phi(k)| */
    int64_t rest; /* so far behind each of these numbers is what rounding left out of it (add.h) */
    int64_t room; /* tokens that there is room for beside the state: */
    struct {
        int64_t count;  /* of those behind the state so many are here as decode.c leaves them */
        float *k;       /* [room][width]: phi of keys, decayed until the last token */
        float *u;       /* [room][stride] */
        float *p, *log; /* [width]: the products of their decays, and the sums */
    } pending;
} linear_state_t;

/* Floats of s, z and zabs, and of what they leave out. */
static inline uint64_t attn_linear_state_sums(const linear_state_t *state) {
    return 2 * (uint64_t)state->rest;
}

/* The same state with its numbers elsewhere. */
static inline linear_state_t attn_linear_state_at(const linear_state_t *state, float *numbers) {
    linear_state_t moved = *state;
    moved.s = numbers;
    moved.pending.k = numbers + attn_linear_state_sums(state);
    moved.pending.u = moved.pending.k + (uint64_t)state->room * state->width;
    moved.pending.p = moved.pending.u + state->room * state->stride;
    moved.pending.log = moved.pending.p + state->width;
    moved.zabs = numbers + state->rest - state->width;
    moved.z = moved.zabs - state->width;
    return moved;
}

/* Room for one, rounded up to whole ones of so many columns, and for `tokens` beside it. */
static inline linear_state_t attn_linear_state_take(const attn_problem_t *problem,
                                                    const linear_form_t *form, int64_t whole,
                                                    int64_t tokens, attn_arena_t *arena) {
    const int64_t width = (form->features + whole - 1) / whole * whole;
    linear_state_t state = {.stride = (problem->value_dim + whole - 1) / whole * whole};
    state.width = (uint64_t)width;
    state.rest = form->features * state.stride + 2 * width;
    state.room = tokens;
    state.size = (uint64_t)(2 * state.rest + tokens * (state.stride + width) + 2 * width);
    float *numbers = attn_arena_take(arena, (int64_t)state.size, sizeof(float));
    return numbers ? attn_linear_state_at(&state, numbers) : state;
}

#endif
