/* state.h: what tokens come to, in the kernels' own layout. */
#ifndef ATTN_LINEAR_STATE_H
#define ATTN_LINEAR_STATE_H

#include "form.h"

/* Of one key/value head. */
typedef struct linear_state {
    int64_t keys;    /* how many */
    int64_t gone;    /* 1: a gate was NaN */
    int64_t whole;   /* 1: nothing was left out of the numbers (add.h) */
    int64_t stride;  /* value_dim, rounded up */
    uint64_t size;   /* floats of all of the below, which stand side by side */
    uint64_t width;  /* of them each of z and zabs */
    float *s;        /* [features][stride] */
    float *z, *zabs; /* [features, rounded up]: sums of phi(k), |phi(k)| */
    int64_t rest; /* so far behind each of these numbers is what rounding left out of it (add.h) */
    /* The token behind those of the state, as step() left it, so that the next one can take it in. */
    struct {
        int64_t is_there, gone; /* gone: a gate of it is NaN */
        float *k, *a;           /* [features, rounded up]: phi of the key, decays */
        float *u;               /* [stride] */
    } next;
} linear_state_t;

/* Floats of s, z and zabs, and of what they leave out. */
static inline uint64_t attn_linear_state_sums(const linear_state_t *state) {
    return 2 * (uint64_t)state->rest;
}

/* The same state with its numbers elsewhere. */
static inline linear_state_t attn_linear_state_at(const linear_state_t *state, float *numbers) {
    linear_state_t moved = *state;
    moved.s = numbers;
    moved.next.k = numbers + attn_linear_state_sums(state);
    moved.next.a = moved.next.k + state->width;
    moved.next.u = moved.next.a + state->width;
    moved.zabs = numbers + state->rest - state->width;
    moved.z = moved.zabs - state->width;
    return moved;
}

/* Room for one, rounded up to whole ones of so many columns. */
static inline linear_state_t attn_linear_state_take(const attn_problem_t *problem,
                                                    const linear_form_t *form, int64_t whole,
                                                    attn_arena_t *arena) {
    const int64_t width = (form->features + whole - 1) / whole * whole;
    linear_state_t state = {.stride = (problem->value_dim + whole - 1) / whole * whole};
    state.width = (uint64_t)width;
    state.rest = form->features * state.stride + 2 * width;
    state.size = (uint64_t)(2 * state.rest + state.stride + 2 * width);
    float *numbers = attn_arena_take(arena, (int64_t)state.size, sizeof(float));
    return numbers ? attn_linear_state_at(&state, numbers) : state;
}

#endif
