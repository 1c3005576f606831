/* The arrays that a run is given, against what its plan needs. */
#include "internal.h"
#include "number/format.h"
#include "number/number.h"

#include "attention/task.h"

#include <float.h>
#include <math.h>

/* Each axis steps over all that those with no larger strides reach. In double, which does not overflow. */
bool attn_axes_nest(const attn_tensor_t *tensor) {
    for (int k = 0; k < 4; k++) {
        const double stride = fabs((double)tensor->stride[k]);
        double reach = 0;
        for (int j = 0; j < 4; j++) {
            const double other = fabs((double)tensor->stride[j]);
            if (j != k && other <= stride) reach += (double)(tensor->shape[j] - 1) * other;
        }
        if (tensor->shape[k] > 1 && !(stride > reach)) return false;
    }
    return true;
}

/* Whether it lies as an array without gaps, which is the quickest to tell. */
static bool has_strides_of(const attn_tensor_t *tensor, const attn_tensor_t *wanted) {
    bool same = true;
    for (int k = 0; k < 4; k++)
        same &= tensor->shape[k] == 1 || tensor->stride[k] == wanted->stride[k];
    return same;
}

/* An array as it is and as it has to be. */
typedef struct checked {
    const attn_array_info_t *info;
    const attn_tensor_t *tensor;
    attn_tensor_t wanted;
} checked_t;

/* ": (batch, heads, queries, dim)" */
static void name_axes(const attn_array_info_t *info, char *text, size_t room) {
    const char *names[4];
    for (int k = 0; k < 4; k++)
        names[k] = info->axes[k] == ATTN_AXIS_ONE ? "1" : attn_axis_name(info->axes[k]);
    attn_format(text, room, ": (%s, %s, %s, %s)", names[0], names[1], names[2], names[3]);
}

static attn_status_t check_shape(const checked_t *checked, attn_error_t *error) {
    const int64_t *shape = checked->tensor->shape, *wanted = checked->wanted.shape;
    char axes[64] = ""; /* a module of softmax alone has JavaScript, which names them */
    bool fits = true;
    for (int k = 0; k < 4; k++) fits &= attn_axis_fits(checked->info, k, shape[k], wanted[k]);
    if (fits) return ATTN_OK;
    if (!ATTN_SMALL) name_axes(checked->info, axes, sizeof axes);
    return attn_fail(
        error, ATTN_ERROR_SHAPE,
        "%s: shape (%lld, %lld, %lld, %lld), the plan needs (%lld, %lld, %lld, %lld)%s%s",
        checked->info->name, (long long)shape[0], (long long)shape[1], (long long)shape[2],
        (long long)shape[3], (long long)wanted[0], (long long)wanted[1], (long long)wanted[2],
        (long long)wanted[3], checked->info->broadcast ? " or 1 for all" : "", axes);
}

static attn_status_t check_memory(const checked_t *checked, bool is_written, attn_error_t *error) {
    const attn_tensor_t *tensor = checked->tensor;
    const char *name = checked->info->name;
    const int size = (int)attn_dtype_size(tensor->dtype);
    if (is_written && !has_strides_of(tensor, &checked->wanted) && !attn_axes_nest(tensor))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "%s: with strides (%lld, %lld, %lld, %lld) elements may overlap", name,
                         (long long)tensor->stride[0], (long long)tensor->stride[1],
                         (long long)tensor->stride[2], (long long)tensor->stride[3]);
    if ((uintptr_t)tensor->data % (uintptr_t)size != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: data is not aligned to its %d bytes",
                         name, size);
    if ((checked->info->flags & ATTN_ARRAY_UNIT_STRIDE) && tensor->stride[3] != 1)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: rows must have unit stride", name);
    return ATTN_OK;
}

attn_status_t attn_tensor_check(const attn_scope_t *scope, uint32_t number,
                                const attn_array_info_t *info, const attn_tensor_t *tensor,
                                bool is_written, attn_error_t *error) {
    const checked_t checked = {info, tensor, attn_array_wanted(scope, number, info)};
    if (!tensor->data)
        return attn_fail(
            error, ATTN_ERROR_ARGUMENT, "%s: is missing: its data is NULL%s", info->name,
            info->presence == ATTN_PRESENCE_NAMED ? ", and the plan's problem names it as an input"
                                                  : "");
    if (tensor->dtype != checked.wanted.dtype)
        return attn_fail(error, ATTN_ERROR_DTYPE, "%s: dtype %d (%s) is not %s", info->name,
                         tensor->dtype, attn_dtype_name(tensor->dtype),
                         attn_dtype_name(checked.wanted.dtype));
    attn_status_t status = check_shape(&checked, error);
    return status == ATTN_OK ? check_memory(&checked, is_written, error) : status;
}

/* ---- elements ------------------------------------------------------------------------------------- */

/* Where an element is. */
typedef struct place {
    int64_t batch, head, row, column;
} place_t;

static attn_status_t check_length(const attn_problem_t *problem, const char *name, int64_t length,
                                  const place_t *at, attn_error_t *error) {
    if (length >= 0 && length <= problem->keys) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_RANGE, "%s: sequence %lld has %lld keys, must be 0 to %lld",
                     name, (long long)at->batch, (long long)length, (long long)problem->keys);
}

static attn_status_t check_positive(const char *name, float number, const place_t *at,
                                    attn_error_t *error) {
    const uint32_t bits =
        float_to_bits(number); /* denormals too, where processors take them for zero */
    char text[32];
    if (bits > 0 && bits < float_to_bits(INFINITY)) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_RANGE,
                     "%s: batch %lld, head %lld, key %lld has %s, must be positive and finite",
                     name, (long long)at->batch, (long long)at->head, (long long)at->row,
                     attn_number_digits((double)number, 6, text));
}

static attn_status_t check_element(const attn_problem_t *problem, const attn_array_info_t *info,
                                   const attn_tensor_t *tensor, const place_t *at,
                                   attn_error_t *error) {
    const int64_t *stride = tensor->stride;
    const int64_t index =
        at->batch * stride[0] + at->head * stride[1] + at->row * stride[2] + at->column * stride[3];
    if (ATTN_SMALL || info->elements == ATTN_ELEMENTS_LENGTH)
        return check_length(problem, info->name, ((const int64_t *)tensor->data)[index], at, error);
    return check_positive(info->name, ((const float *)tensor->data)[index], at, error);
}

/* Rows of the tokens that count: a cache need not fill the room it has left. Where a row is of all
 * sequences, what counts for the longest. */
static int64_t rows_that_count(const attn_problem_t *problem, const attn_io_t *io,
                               const attn_array_info_t *info, const attn_tensor_t *tensor,
                               int64_t batch) {
    if (info->axes[2] != ATTN_AXIS_KEYS || tensor->shape[2] != problem->keys)
        return tensor->shape[2];
    if (info->axes[0] == ATTN_AXIS_BATCH && tensor->shape[0] == problem->batch)
        return attn_keys_of(problem, io, batch);
    int64_t most = 0;
    for (int64_t b = 0; b < problem->batch; b++) {
        const int64_t keys = attn_keys_of(problem, io, b);
        most = keys > most ? keys : most;
    }
    return most;
}

/* Whether `rows` numbers of a head are positive, looked at without an end in between, so many at a time: there are as
 * many as keys. */
static bool all_positive(const attn_tensor_t *tensor, const place_t *at, int64_t rows) {
    const float *numbers = attn_row(tensor, at->batch, at->head, 0);
    const int64_t stride = tensor->stride[2];
    int others = 0;
    for (int64_t i = 0; i < rows; i++) {
        const float number = numbers[i * stride];
        others |= !((number > 0.0f) & (number <= FLT_MAX));
    }
    return !others;
}

static attn_status_t check_head(const attn_problem_t *problem, const attn_array_info_t *info,
                                const attn_tensor_t *tensor, place_t *at, int64_t rows,
                                attn_error_t *error) {
    const int64_t columns = tensor->shape[3];
    if (!ATTN_SMALL && info->elements == ATTN_ELEMENTS_POSITIVE && columns == 1 &&
        all_positive(tensor, at, rows))
        return ATTN_OK;
    for (at->row = 0; at->row < rows; at->row++)
        for (at->column = 0; at->column < columns; at->column++) {
            attn_status_t status = check_element(problem, info, tensor, at, error);
            if (status != ATTN_OK) return status;
        }
    return ATTN_OK;
}

static attn_status_t check_elements(const attn_problem_t *problem, const attn_io_t *io,
                                    const attn_array_info_t *info, const attn_tensor_t *tensor,
                                    attn_error_t *error) {
    const int64_t *shape = tensor->shape;
    attn_status_t status = ATTN_OK;
    place_t at;
    if (info->elements == ATTN_ELEMENTS_ANY) return ATTN_OK;
    for (at.batch = 0; status == ATTN_OK && at.batch < shape[0]; at.batch++) {
        const int64_t rows = rows_that_count(problem, io, info, tensor, at.batch);
        for (at.head = 0; status == ATTN_OK && at.head < shape[1]; at.head++)
            status = check_head(problem, info, tensor, &at, rows, error);
    }
    return status;
}

/* ---- all arrays of a run ---------------------------------------------------------------------------- */

/* `replaced`: bits of the arrays for which others stand. */
static bool is_needed(const attn_problem_t *problem, uint64_t replaced, uint32_t number,
                      const attn_array_info_t *info) {
    switch (info->presence) {
    case ATTN_PRESENCE_REQUIRED:
        return !(replaced >> number & 1);
    case ATTN_PRESENCE_NAMED:
        return (number < ATTN_ARRAY_OWN ? problem->inputs : problem->own_inputs) & info->bit;
    case ATTN_PRESENCE_INT8:
        return problem->kv_dtype == ATTN_I8;
    default:
        return false;
    }
}

static attn_status_t check_absent(const attn_problem_t *problem, const attn_array_info_t *info,
                                  attn_error_t *error) {
    if (info->presence == ATTN_PRESENCE_NAMED)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "%s: given, but the plan's problem does not name it as an input",
                         info->name);
    if (!ATTN_SMALL && info->presence == ATTN_PRESENCE_REQUIRED)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: given, but other inputs stand for it",
                         info->name);
    return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: given, but key and value are %s, not i8",
                     info->name, attn_dtype_name(problem->kv_dtype));
}

attn_status_t attn_behind_check(const attn_scope_t *scope, const attn_io_t *io, uint32_t end,
                                attn_error_t *error) {
    for (uint32_t i = end - ATTN_ARRAY_OWN; i < io->own_count; i++)
        if (attn_array_in(io, ATTN_ARRAY_OWN + i)->data)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "own[%u]: given, but backend '%.60s' has %u arrays of its own", i,
                             scope->backend->id, end - ATTN_ARRAY_OWN);
    return ATTN_OK;
}

static attn_status_t check_there(const attn_scope_t *scope, const attn_io_t *io, uint32_t number,
                                 const attn_array_info_t *info, attn_error_t *error) {
    const attn_tensor_t *tensor = attn_array_in(io, number);
    attn_status_t status = attn_features_check(scope->backend, info->feature, error);
    if (status == ATTN_OK)
        status =
            attn_tensor_check(scope, number, info, tensor, info->role == ATTN_ROLE_OUTPUT, error);
    return status == ATTN_OK ? check_elements(scope->problem, io, info, tensor, error) : status;
}

attn_status_t attn_io_check(const attn_scope_t *scope, const attn_io_t *io, uint64_t unused,
                            attn_error_t *error) {
    const uint64_t replaced = attn_arrays_replaced(scope);
    const attn_array_info_t *info;
    uint32_t number = 0;
    for (; (info = attn_array_of(scope, number)); number++) {
        const bool is_given = attn_array_in(io, number)->data != NULL;
        attn_status_t status = ATTN_OK;
        if (number < 64 && unused >> number & 1) {
            if (is_given && scope->call)
                status = attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: %s takes no %s",
                                   scope->call, info->name);
        } else if (is_needed(scope->problem, replaced, number, info) ||
                   (is_given && info->presence == ATTN_PRESENCE_OPTIONAL)) {
            status = check_there(scope, io, number, info, error);
        } else if (is_given) {
            status = check_absent(scope->problem, info, error);
        }
        if (status != ATTN_OK) return status;
    }
    attn_status_t status = attn_outputs_check(scope, io, unused, error);
    return ATTN_SMALL || status ? status : attn_behind_check(scope, io, number, error);
}

/* An axis of 1 may have any stride: from here on one that can be multiplied by the size of an element. */
static void settle_strides(attn_tensor_t *tensor) {
    for (int k = 0; k < 4; k++)
        if (tensor->shape[k] == 1) tensor->stride[k] = k == 3;
}

attn_status_t attn_io_read(attn_io_t *io, const attn_io_t *given, const char *what,
                           attn_error_t *error) {
    if (!given) return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s (attn_io_t) is null", what);
    attn_status_t status = attn_struct_take(io, sizeof *io, given, ATTN_IO_FIRST, what, error);
    if (status != ATTN_OK) return status;
    if (!io->own) io->own_count = 0; /* backends look at the count alone */
    for (uint32_t number = 0; number < ATTN_DECLARED; number++)
        settle_strides((attn_tensor_t *)attn_array_in(io, number));
    return ATTN_OK;
}
