/* The arrays of a run as they are declared: the library's list, and backends' own behind it. */
#include "internal.h"

#include <string.h>

#if ATTN_SMALL
#define ARRAYS ATTN_ARRAYS_OF_F32
#define HELP(text) "" /* nobody asks */
#else
#define ARRAYS ATTN_ARRAYS
#define HELP(text) text
#endif

#define DECLARE(NAME, member, role_, presence_, dtype_, batch_, head_, row_, column_, broadcast_,  \
                flags_, elements_, bit_, FEATURE, help_)                                           \
    {{.struct_size = sizeof(attn_array_info_t),                                                    \
      .role = ATTN_ROLE_##role_,                                                                   \
      .presence = ATTN_PRESENCE_##presence_,                                                       \
      .dtype = dtype_,                                                                             \
      .axes = {ATTN_AXIS_##batch_, ATTN_AXIS_##head_, ATTN_AXIS_##row_, ATTN_AXIS_##column_},      \
      .broadcast = broadcast_,                                                                     \
      .flags = flags_,                                                                             \
      .elements = ATTN_ELEMENTS_##elements_,                                                       \
      .bit = bit_,                                                                                 \
      .feature = ATTN_FEATURE_##FEATURE,                                                           \
      .name = #member,                                                                             \
      .help = HELP(help_)},                                                                        \
     offsetof(attn_io_t, member)},
const attn_declared_t attn_declared[] = {ARRAYS(DECLARE)};
#undef DECLARE
_Static_assert(sizeof attn_declared / sizeof *attn_declared == ATTN_DECLARED, "");

const attn_ext_inputs_t *attn_own_arrays(const attn_backend_t *backend) {
    if (ATTN_SMALL || !backend) return NULL; /* small: none has any */
    return attn_extension(backend, ATTN_EXT_INPUTS, sizeof(attn_ext_inputs_t));
}

const attn_array_info_t *attn_array_declared(const attn_backend_t *backend, uint32_t number,
                                             attn_array_info_t *copy) {
    if (number < ATTN_DECLARED) return &attn_declared[number].info;
    const attn_ext_inputs_t *own = attn_own_arrays(backend);
    const uint32_t index = number - ATTN_ARRAY_OWN;
    if (!own || index >= own->count) return NULL;
    attn_struct_read(copy, sizeof *copy, own->arrays[index], 0);
    copy->bit = copy->presence == ATTN_PRESENCE_NAMED ? 1u << index : 0;
    copy->feature = 0;
    if (!copy->help) copy->help = "";
    return copy;
}

uint32_t attn_own_count(const attn_backend_t *backend) {
    const attn_ext_inputs_t *own = attn_own_arrays(backend);
    return own ? own->count : 0;
}

void attn_own_read(const attn_backend_t *backend, attn_array_info_t *own) {
    for (uint32_t i = 0; attn_array_declared(backend, ATTN_ARRAY_OWN + i, own + i); i++) {
    }
}

uint64_t attn_arrays_replaced(const attn_scope_t *scope) {
    uint64_t replaced = 0;
    for (uint32_t i = 0; !ATTN_SMALL && i < scope->own_count; i++)
        if (scope->problem->own_inputs & scope->own[i].bit) replaced |= scope->own[i].replaces;
    return replaced;
}

int64_t attn_axis_extent(const attn_problem_t *problem, int32_t axis) {
    switch (axis) {
    case ATTN_AXIS_BATCH:
        return problem->batch;
    case ATTN_AXIS_HEADS:
        return problem->heads;
    case ATTN_AXIS_KV_HEADS:
        return problem->kv_heads;
    case ATTN_AXIS_QUERIES:
        return problem->queries;
    case ATTN_AXIS_KEYS:
        return problem->keys;
    case ATTN_AXIS_DIM:
        return problem->dim;
    case ATTN_AXIS_VALUE_DIM:
        return problem->value_dim;
    default:
        return 1;
    }
}

static bool has_axis_of_plan(const attn_array_info_t *info) {
    bool found = false;
    for (int k = 0; k < 4; k++) found |= info->axes[k] == ATTN_AXIS_PLAN;
    return found;
}

/* The extents that the plan says, and no others. */
static void ask_plan(const attn_scope_t *scope, uint32_t index, const attn_array_info_t *info,
                     int64_t shape[4]) {
    const attn_ext_inputs_t *own = attn_own_arrays(scope->backend);
    int64_t said[4];
    if (!own->shape) return;
    memcpy(said, shape, sizeof said);
    own->shape(scope->prepared, index, said);
    for (int k = 0; k < 4; k++)
        if (info->axes[k] == ATTN_AXIS_PLAN) shape[k] = said[k];
}

attn_tensor_t attn_array_wanted(const attn_scope_t *scope, uint32_t number,
                                const attn_array_info_t *info) {
    const attn_problem_t *problem = scope->problem;
    attn_tensor_t wanted = {.dtype = info->dtype};
    if (info->dtype == ATTN_DTYPE_OF_QUERY) wanted.dtype = problem->dtype;
    if (info->dtype == ATTN_DTYPE_OF_KEY) wanted.dtype = problem->kv_dtype;
    for (int k = 0; k < 4; k++) wanted.shape[k] = attn_axis_extent(problem, info->axes[k]);
    if (!ATTN_SMALL && number >= ATTN_ARRAY_OWN && scope->prepared && has_axis_of_plan(info))
        ask_plan(scope, number - ATTN_ARRAY_OWN, info, wanted.shape);
    int64_t stride = 1;
    for (int k = 3; k >= 0; k--) {
        wanted.stride[k] = stride;
        if (__builtin_mul_overflow(stride, wanted.shape[k], &stride)) stride = 0;
    }
    return wanted;
}

/* ---- for programs --------------------------------------------------------------------------------- */

attn_tensor_t *attn_io_array(attn_io_t *io, uint32_t number) {
    if (!io || number >= ATTN_DECLARED) return NULL;
    return (attn_tensor_t *)(void *)((char *)io + attn_declared[number].offset);
}

int32_t attn_backend_array(const attn_backend_t *backend, uint32_t number,
                           attn_array_info_t *result) {
    attn_array_info_t copy;
    const attn_array_info_t *info = attn_array_declared(backend, number, &copy);
    return result && info && attn_struct_write(result, info, sizeof *info, ATTN_ARRAY_INFO_FIRST);
}

attn_status_t attn_problem_add_input(attn_problem_t *problem, const attn_backend_t *backend,
                                     const char *name, attn_error_t *error) {
    if (!problem || !name)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "input: the problem or the name is null");
    attn_array_info_t copy;
    const attn_array_info_t *info;
    for (uint32_t number = 0; (info = attn_array_declared(backend, number, &copy)); number++) {
        if (strcmp(info->name, name) != 0 || info->role != ATTN_ROLE_INPUT) continue;
        if (info->presence != ATTN_PRESENCE_NAMED)
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "input '%.60s' is not one to be named",
                             name);
        if (number < ATTN_ARRAY_OWN)
            problem->inputs |= info->bit;
        else if (ATTN_STRUCT_HAS(problem, own_inputs))
            problem->own_inputs |= info->bit;
        else
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "input '%.60s': the problem's struct_size %u has no own_inputs", name,
                             problem->struct_size);
        return ATTN_OK;
    }
    return attn_fail(error, ATTN_ERROR_NOT_FOUND, "backend '%.60s' has no input '%.60s'",
                     backend ? backend->id : "", name);
}

/* ---- of plugins ------------------------------------------------------------------------------------- */

/* What an own input may stand for. */
enum { REPLACEABLE = 1 << ATTN_ARRAY_QUERY | 1 << ATTN_ARRAY_KEY | 1 << ATTN_ARRAY_VALUE };

static bool is_declared_well(const attn_array_info_t *info, bool has_shape) {
    const bool follows = info->dtype == ATTN_DTYPE_OF_QUERY || info->dtype == ATTN_DTYPE_OF_KEY;
    const bool is_input =
        info->role == ATTN_ROLE_INPUT &&
        (info->presence == ATTN_PRESENCE_NAMED || info->presence == ATTN_PRESENCE_REQUIRED);
    const bool is_output =
        info->role == ATTN_ROLE_OUTPUT && info->presence == ATTN_PRESENCE_OPTIONAL;
    if (!attn_is_name(info->name) || !(is_input || is_output)) return false;
    const uint64_t may = info->presence == ATTN_PRESENCE_NAMED ? REPLACEABLE : 0;
    if (info->replaces & ~may) return false;
    if (!follows && attn_dtype_size(info->dtype) == 0) return false;
    if (info->elements < ATTN_ELEMENTS_ANY || info->elements > ATTN_ELEMENTS_POSITIVE) return false;
    if (info->elements == ATTN_ELEMENTS_LENGTH && info->dtype != ATTN_I64) return false;
    if (info->elements == ATTN_ELEMENTS_POSITIVE && info->dtype != ATTN_F32) return false;
    for (int k = 0; k < 4; k++)
        if (info->axes[k] < ATTN_AXIS_ONE || info->axes[k] > ATTN_AXIS_PLAN ||
            (info->axes[k] == ATTN_AXIS_PLAN && !has_shape))
            return false;
    return true;
}

const char *attn_arrays_malformed(const attn_backend_t *backend) {
    const attn_ext_inputs_t *own = attn_own_arrays(backend);
    if (!own) return NULL;
    if (own->count > ATTN_MOST_OWN_ARRAYS || (own->count && !own->arrays))
        return "its list of arrays is malformed";
    for (uint32_t i = 0; i < own->count; i++) {
        attn_array_info_t info, copy;
        const attn_array_info_t *other;
        if (!own->arrays[i] ||
            !attn_struct_read(&info, sizeof info, own->arrays[i], ATTN_ARRAY_INFO_FIRST) ||
            !is_declared_well(&info, own->shape != NULL))
            return "one of its arrays is malformed";
        for (uint32_t number = 0; number < ATTN_ARRAY_OWN + i; number++)
            if ((other = attn_array_declared(backend, number, &copy)) &&
                strcmp(other->name, info.name) == 0)
                return "two arrays have one name";
    }
    return NULL;
}

attn_status_t attn_arrays_check(const attn_scope_t *scope, attn_error_t *error) {
    const attn_array_info_t *info;
    for (uint32_t number = ATTN_ARRAY_OWN; (info = attn_array_of(scope, number)); number++) {
        if (!has_axis_of_plan(info)) continue;
        const attn_tensor_t wanted = attn_array_wanted(scope, number, info);
        const int64_t *shape = wanted.shape, *stride = wanted.stride;
        bool can_be =
            stride[0] > 0 && shape[0] <= PTRDIFF_MAX / (int64_t)sizeof(double) / stride[0];
        for (int k = 0; k < 4; k++) can_be &= shape[k] >= 1;
        if (!can_be)
            return attn_fail(error, ATTN_ERROR_PLUGIN,
                             "backend '%.60s': its plan says that %.60s has a shape of (%lld, "
                             "%lld, %lld, %lld)",
                             scope->backend->id, info->name, (long long)shape[0],
                             (long long)shape[1], (long long)shape[2], (long long)shape[3]);
    }
    return ATTN_OK;
}
