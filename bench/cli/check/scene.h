/*
 * cli/check/scene.h: a problem with its arrays, as the checks of a backend want them: numbers that depend on the seed
 * and on logical positions alone, memory in several orders, and a pattern around and between all elements.
 */
#ifndef ATTN_CLI_CHECK_SCENE_H
#define ATTN_CLI_CHECK_SCENE_H

#include "cli/settings.h"

#include "attn/attn.h"

/** Orders in memory. */
enum scene_layout {
    SCENE_PACKED,     /**< (batch, head, row, column) */
    SCENE_TOKENS,     /**< (batch, row, head, column), gaps behind rows */
    SCENE_TRANSPOSED, /**< columns apart, rows side by side */
    SCENE_SPREAD,     /**< every third float */
    SCENE_LAYOUTS
};

enum { SCENE_OWN = 16 };

/** An array and the memory that it is in. */
typedef struct scene_array {
    attn_tensor_t tensor;
    float *block;
    size_t count;  /**< floats of the block */
    uint32_t mark; /**< bits of a float that nobody wrote */
} scene_array_t;

typedef struct scene {
    attn_problem_t problem;
    attn_plan_t *plan;
    scene_array_t query, key, value, out, lse;
    scene_array_t own[SCENE_OWN];
    const attn_tensor_t *own_list[SCENE_OWN];
    void *workspace, *aligned;
    attn_io_t io;
    attn_error_t error;
} scene_t;

/** What all checks of a backend have in common. */
typedef struct check_context {
    const attn_context_t *one, *many; /**< with one thread, and with several */
    const attn_backend_t *backend;
    const attn_param_t *params;
    uint32_t param_count;
    uint64_t seed;
    double tolerance; /**< NaN: what rounding comes to at the sizes */
} check_context_t;

/** A problem of these sizes, f32. */
attn_problem_t scene_problem(int64_t batch, int64_t heads, int64_t kv_heads, int64_t queries,
                             int64_t keys, int64_t dim, int64_t value_dim);

/** Plan and arrays; on an error its status, with scene->error. scene_close() in either case. */
attn_status_t scene_open(scene_t *scene, const check_context_t *check,
                         const attn_context_t *context, const attn_problem_t *problem,
                         enum scene_layout layout);
void scene_close(scene_t *scene);

/** Run the plan, on outputs that are marked as not written. */
attn_status_t scene_run(scene_t *scene);

/** An element; i is its number in the order (batch, head, row, column). */
float *scene_at(const attn_tensor_t *tensor, int64_t i);
int64_t scene_count(const attn_tensor_t *tensor);

/** Numbers of a gradient's or a direction's, in (-1, 1); the same for one seed, stream and number. */
float scene_number(uint64_t seed, uint64_t stream, int64_t i);

/** An array of this tensor's shape, marked as not written; 0: no memory. */
int scene_allocate(scene_array_t *array, const attn_tensor_t *shape, enum scene_layout layout);

/** What is wrong with an array's memory: bytes around or between elements that changed, or, of an output, elements
 *  that were not written; NULL: nothing. */
const char *scene_wrong(const scene_array_t *array, int is_output);

/** How far rounding may move an output's number, where values are within (-1, 1). */
double scene_tolerance(const check_context_t *check, const attn_problem_t *problem);

#endif
