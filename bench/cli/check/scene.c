/* cli/check/scene.c: see scene.h. */
#include "cli/check/scene.h"

#include "attn/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NaN that no arithmetic makes; one that was read from between inputs is not what stands in an output before. */
static const uint32_t marks[] = {0x7fc0deadu, 0x7fc0beefu};
enum { GUARD = 32 };

attn_problem_t scene_problem(int64_t batch, int64_t heads, int64_t kv_heads, int64_t queries,
                             int64_t keys, int64_t dim, int64_t value_dim) {
    attn_problem_t problem;
    attn_problem_init(&problem, batch, heads, queries, keys, dim, value_dim);
    problem.kv_heads = kv_heads;
    return problem;
}

float scene_number(uint64_t seed, uint64_t stream, int64_t i) {
    return (float)(2.0 * attn_random_uniform(seed, stream, (uint64_t)i) - 1.0);
}

int64_t scene_count(const attn_tensor_t *tensor) {
    return tensor->shape[0] * tensor->shape[1] * tensor->shape[2] * tensor->shape[3];
}

static int64_t offset_of(const attn_tensor_t *tensor, int64_t i) {
    const int64_t *shape = tensor->shape, *stride = tensor->stride;
    const int64_t column = i % shape[3], row = i / shape[3] % shape[2];
    const int64_t head = i / shape[3] / shape[2] % shape[1],
                  batch = i / shape[3] / shape[2] / shape[1];
    return batch * stride[0] + head * stride[1] + row * stride[2] + column * stride[3];
}

float *scene_at(const attn_tensor_t *tensor, int64_t i) {
    return (float *)tensor->data + offset_of(tensor, i);
}

static void set_strides(attn_tensor_t *tensor, enum scene_layout layout) {
    const int64_t h = tensor->shape[1], n = tensor->shape[2], d = tensor->shape[3];
    const int64_t strides[SCENE_LAYOUTS][4] = {
        [SCENE_PACKED] = {h * n * d, n * d, d, 1},
        [SCENE_TOKENS] = {n * h * (d + 3), d + 3, h * (d + 3), 1},
        [SCENE_TRANSPOSED] = {h * n * d, n * d, 1, n},
        [SCENE_SPREAD] = {3 * h * n * d, 3 * n * d, 3 * d, 3},
    };
    memcpy(tensor->stride, strides[layout], sizeof strides[layout]);
}

static void set_marks(scene_array_t *array, uint32_t mark) {
    array->mark = mark;
    for (size_t i = 0; array->block && i < array->count; i++)
        memcpy(array->block + i, &mark, sizeof mark);
}

int scene_allocate(scene_array_t *array, const attn_tensor_t *shape, enum scene_layout layout) {
    attn_tensor_t tensor = *shape;
    set_strides(&tensor, layout);
    const size_t bytes = (size_t)(offset_of(&tensor, scene_count(&tensor) - 1) + 1) *
                         (size_t)attn_dtype_size(tensor.dtype);
    array->count = 2 * GUARD + (bytes + 3) / 4 + 1;
    array->block = malloc(array->count * sizeof *array->block);
    if (!array->block) return 0;
    set_marks(array, marks[0]);
    tensor.data = array->block + GUARD + (tensor.dtype == ATTN_F32); /* any alignment of floats */
    array->tensor = tensor;
    return 1;
}

const char *scene_wrong(const scene_array_t *array, int is_output) {
    const attn_tensor_t *tensor = &array->tensor;
    if (!array->block) return NULL;
    const char *wrong = NULL;
    unsigned char *used = calloc(array->count, 1);
    if (!used) return "no memory to look at it";
    for (int64_t i = 0; i < scene_count(tensor); i++) {
        const float *at = scene_at(tensor, i);
        used[at - array->block] = 1;
        if (is_output && memcmp(at, &array->mark, sizeof array->mark) == 0)
            wrong = "not written completely";
    }
    for (size_t i = 0; i < array->count; i++)
        if (!used[i] && memcmp(array->block + i, &array->mark, sizeof array->mark) != 0)
            wrong = "memory around or between its elements was written";
    free(used);
    return wrong;
}

static int fill(scene_array_t *array, uint64_t seed, uint64_t stream) {
    for (int64_t i = 0; array->block && i < scene_count(&array->tensor); i++)
        *scene_at(&array->tensor, i) = scene_number(seed, stream, i);
    return array->block != NULL;
}

/* An input of the backend's own that every run brings: ones, or all keys. */
static int fill_own(scene_array_t *array, const attn_tensor_t *wanted, int64_t keys) {
    if (!scene_allocate(array, wanted, SCENE_PACKED)) return 0;
    array->tensor.data = array->block + GUARD;
    for (int64_t i = 0; i < scene_count(wanted); i++) {
        if (wanted->dtype == ATTN_F32) ((float *)array->tensor.data)[i] = 1.0f;
        if (wanted->dtype == ATTN_I64) ((int64_t *)array->tensor.data)[i] = keys;
        if (wanted->dtype == ATTN_BOOL) ((char *)array->tensor.data)[i] = 1;
    }
    return 1;
}

static int allocate_own(scene_t *scene, const attn_backend_t *backend) {
    attn_array_info_t info = {.struct_size = sizeof info};
    for (uint32_t k = 0; k < SCENE_OWN && attn_backend_array(backend, ATTN_ARRAY_OWN + k, &info);
         k++) {
        attn_tensor_t wanted;
        if (info.presence != ATTN_PRESENCE_REQUIRED || info.role != ATTN_ROLE_INPUT) continue;
        if (!attn_plan_array(scene->plan, ATTN_ARRAY_OWN + k, &wanted) ||
            !fill_own(&scene->own[k], &wanted, scene->problem.keys))
            return 0;
        scene->own_list[k] = &scene->own[k].tensor;
        scene->io.own = scene->own_list, scene->io.own_count = k + 1;
    }
    return 1;
}

static int allocate(scene_t *scene, const check_context_t *check, enum scene_layout layout) {
    scene_array_t *arrays[] = {&scene->query, &scene->key, &scene->value, &scene->out, &scene->lse};
    const int count = check->backend->features & ATTN_FEATURE_LSE ? 5 : 4;
    attn_tensor_t shape;
    for (int i = 0; i < count; i++) {
        if (!attn_plan_array(scene->plan, (uint32_t)(ATTN_ARRAY_QUERY + i), &shape) ||
            !scene_allocate(arrays[i], &shape, layout) ||
            (i < 3 && !fill(arrays[i], check->seed, (uint64_t)(100 + i))))
            return 0;
        *attn_io_array(&scene->io, (uint32_t)i) = arrays[i]->tensor;
    }
    const uint64_t size = attn_plan_workspace_size(scene->plan);
    scene->workspace = size < SIZE_MAX / 2 ? malloc((size_t)size + 2 * ATTN_ALIGNMENT) : NULL;
    if (!scene->workspace) return 0;
    scene->aligned =
        (char *)scene->workspace + ATTN_ALIGNMENT - (uintptr_t)scene->workspace % ATTN_ALIGNMENT;
    memset(scene->workspace, 0xff, (size_t)size + 2 * ATTN_ALIGNMENT); /* NaN */
    scene->io.workspace = scene->aligned, scene->io.workspace_size = size;
    return allocate_own(scene, check->backend);
}

attn_status_t scene_open(scene_t *scene, const check_context_t *check,
                         const attn_context_t *context, const attn_problem_t *problem,
                         enum scene_layout layout) {
    memset(scene, 0, sizeof *scene);
    scene->problem = *problem;
    attn_io_init(&scene->io);
    const attn_status_t status =
        attn_plan_create(context, check->backend->id, problem, check->params, check->param_count,
                         &scene->plan, &scene->error);
    if (status != ATTN_OK) return status;
    if (allocate(scene, check, layout)) return ATTN_OK;
    return attn_fail(&scene->error, ATTN_ERROR_MEMORY, "no memory for the arrays");
}

void scene_close(scene_t *scene) {
    scene_array_t *arrays[] = {&scene->query, &scene->key, &scene->value, &scene->out, &scene->lse};
    for (int i = 0; i < 5; i++) free(arrays[i]->block);
    for (int i = 0; i < SCENE_OWN; i++) free(scene->own[i].block);
    free(scene->workspace);
    attn_plan_destroy(scene->plan);
    memset(scene, 0, sizeof *scene);
}

attn_status_t scene_run(scene_t *scene) {
    set_marks(&scene->out, marks[1]);
    set_marks(&scene->lse, marks[1]);
    return attn_run(scene->plan, &scene->io, &scene->error);
}

/* Each of m terms is rounded a few times, and logits of d products move weights by what they are off. */
double scene_tolerance(const check_context_t *check, const attn_problem_t *problem) {
    if (check->tolerance > 0) return check->tolerance;
    return 0x1p-24 * (double)(4 * problem->keys + 8 * problem->dim + 64);
}
