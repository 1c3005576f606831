/* Results of disjoint keys become one (attn/combine.h). */
#include "internal.h"

#include "attn/combine.h"
#include "simd/half.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- checks ---------------------------------------------------------------------------------- */

/* A tensor, and what errors call it. */
typedef struct named {
    const attn_tensor_t *tensor;
    char name[40];
} named_t;

static named_t name_result(const attn_tensor_t *tensor, const char *name) {
    named_t named = {.tensor = tensor};
    snprintf(named.name, sizeof named.name, "combine: %s", name);
    return named;
}

static named_t name_part(const attn_tensor_t *tensor, const char *name, int64_t part) {
    named_t named = {.tensor = tensor};
    snprintf(named.name, sizeof named.name, "combine: part %lld: %s", (long long)part, name);
    return named;
}

static attn_status_t check_dtype(const named_t *named, const attn_dtype_t *dtypes, const char *text,
                                 attn_error_t *error) {
    for (; *dtypes; dtypes++)
        if (named->tensor->dtype == *dtypes) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_DTYPE, "%s: dtype %d (%s) is not %s", named->name,
                     named->tensor->dtype, attn_dtype_name(named->tensor->dtype), text);
}

/* `columns` 1: an lse. */
static attn_status_t check_shape(const named_t *named, const int64_t *out, int64_t columns,
                                 bool may_repeat, attn_error_t *error) {
    const int64_t *shape = named->tensor->shape;
    bool fits = shape[3] == columns;
    for (int k = 0; k < 3; k++) fits &= shape[k] == out[k] || (may_repeat && shape[k] == 1);
    if (fits) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_SHAPE,
                     "%s: shape (%lld, %lld, %lld, %lld), must be (%lld, %lld, %lld, %lld)%s",
                     named->name, (long long)shape[0], (long long)shape[1], (long long)shape[2],
                     (long long)shape[3], (long long)out[0], (long long)out[1], (long long)out[2],
                     (long long)columns, may_repeat ? " or 1 for all" : "");
}

static attn_status_t check_memory(const named_t *named, bool is_written, attn_error_t *error) {
    const attn_tensor_t *tensor = named->tensor;
    const int size = (int)attn_dtype_size(tensor->dtype);
    if ((uintptr_t)tensor->data % (uintptr_t)size != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: data is not aligned to its %d bytes",
                         named->name, size);
    if (is_written && !attn_axes_nest(tensor))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "%s: with strides (%lld, %lld, %lld, %lld) elements may overlap",
                         named->name, (long long)tensor->stride[0], (long long)tensor->stride[1],
                         (long long)tensor->stride[2], (long long)tensor->stride[3]);
    return ATTN_OK;
}

static const attn_dtype_t out_dtypes[] = {ATTN_F32, ATTN_F16, ATTN_BF16, 0};
static const attn_dtype_t part_dtypes[] = {ATTN_F32, 0};
static const attn_dtype_t lse_dtypes[] = {ATTN_F32, ATTN_F64, 0};

static attn_status_t check_lse(const named_t *named, const int64_t *out, bool is_written,
                               attn_error_t *error) {
    attn_status_t status = check_dtype(named, lse_dtypes, "f32 or f64", error);
    if (status == ATTN_OK) status = check_shape(named, out, 1, !is_written, error);
    return status == ATTN_OK ? check_memory(named, is_written, error) : status;
}

static attn_status_t check_result(const attn_tensor_t *out, const attn_tensor_t *lse,
                                  attn_error_t *error) {
    named_t named = name_result(out, "out");
    attn_status_t status = check_dtype(&named, out_dtypes, "f32, f16 or bf16", error);
    for (int k = 0; status == ATTN_OK && k < 4; k++)
        if (out->shape[k] < 1)
            return attn_fail(error, ATTN_ERROR_SHAPE,
                             "combine: out: axis %d has %lld elements, must be at least 1", k,
                             (long long)out->shape[k]);
    if (status == ATTN_OK) status = check_memory(&named, true, error);
    if (status != ATTN_OK || !lse) return status;
    named = name_result(lse, "lse");
    status = check_lse(&named, out->shape, true, error);
    if (status == ATTN_OK && attn_tensors_overlap(out, lse))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "combine: out shares memory with lse");
    return status;
}

static bool is_same(const attn_tensor_t *a, const attn_tensor_t *b) {
    bool same = a->data == b->data && a->dtype == b->dtype;
    for (int k = 0; k < 4; k++)
        same &= a->shape[k] == b->shape[k] && (a->shape[k] == 1 || a->stride[k] == b->stride[k]);
    return same;
}

/* A result may be the part's own tensor of its kind, `own`, and shares nothing else with it. */
static attn_status_t check_apart(const char *name, const attn_tensor_t *result,
                                 const named_t *named, bool own, attn_error_t *error) {
    if (!result || !named->tensor->data || !attn_tensors_overlap(result, named->tensor))
        return ATTN_OK;
    if (own && is_same(result, named->tensor)) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: shares memory with %s, which is written",
                     named->name, name);
}

static attn_status_t check_part(const attn_part_t *part, int64_t number, const attn_tensor_t *out,
                                const attn_tensor_t *lse, attn_error_t *error) {
    const named_t of_lse = name_part(&part->lse, "lse", number);
    const named_t of_out = name_part(&part->out, "out", number);
    if (!part->lse.data)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: is missing: its data is NULL",
                         of_lse.name);
    attn_status_t status = check_lse(&of_lse, out->shape, false, error);
    if (status == ATTN_OK && part->out.data) {
        status = check_dtype(&of_out, part_dtypes, "f32", error);
        if (status == ATTN_OK)
            status = check_shape(&of_out, out->shape, out->shape[3], false, error);
        if (status == ATTN_OK) status = check_memory(&of_out, false, error);
    }
    if (status == ATTN_OK) status = check_apart("out", out, &of_out, true, error);
    if (status == ATTN_OK) status = check_apart("out", out, &of_lse, false, error);
    if (status == ATTN_OK) status = check_apart("lse", lse, &of_out, false, error);
    return status == ATTN_OK ? check_apart("lse", lse, &of_lse, true, error) : status;
}

/* ---- one row --------------------------------------------------------------------------------- */

/* A row of the result: which, and what its parts make of it. */
typedef struct row {
    int64_t at[3];
    double lse;
    bool is_poisoned;
    const attn_tensor_t *only; /* out of the one part that has keys of it; NULL: several, or none */
} row_t;

static int64_t offset_of(const attn_tensor_t *tensor, const int64_t at[3]) {
    int64_t offset = 0;
    for (int k = 0; k < 3; k++) offset += tensor->shape[k] > 1 ? at[k] * tensor->stride[k] : 0;
    return offset;
}

static double lse_of(const attn_tensor_t *tensor, const int64_t at[3]) {
    const int64_t offset = offset_of(tensor, at);
    return tensor->dtype == ATTN_F64 ? ((const double *)tensor->data)[offset]
                                     : (double)((const float *)tensor->data)[offset];
}

static void weigh(row_t *row, const attn_part_t *parts, int64_t count) {
    double max = -INFINITY, sum = 0;
    int64_t counting = 0;
    row->is_poisoned = false;
    row->only = NULL;
    for (int64_t p = 0; p < count; p++) {
        const double lse = lse_of(&parts[p].lse, row->at);
        row->is_poisoned |= isnan(lse) || lse == INFINITY;
        if (lse > max) max = lse;
        if (lse > -INFINITY && counting++ == 0) row->only = &parts[p].out;
    }
    if (counting != 1 || row->is_poisoned || !row->only->data) row->only = NULL;
    for (int64_t p = 0; max > -INFINITY && p < count; p++)
        sum += exp(lse_of(&parts[p].lse, row->at) - max);
    row->lse = row->is_poisoned ? NAN : max > -INFINITY ? max + log(sum) : -INFINITY;
}

enum { COLUMNS = 64 };

/* The first part that counts is not added to 0, which would lose a sign. */
static void add_up(const row_t *row, const attn_part_t *parts, int64_t count, int64_t first,
                   int64_t columns, double *sums) {
    bool is_begun = false;
    memset(sums, 0, (size_t)columns * sizeof *sums);
    for (int64_t p = 0; !row->is_poisoned && p < count; p++) {
        const double lse = lse_of(&parts[p].lse, row->at), weight = exp(lse - row->lse);
        const attn_tensor_t *out = &parts[p].out;
        if (lse == -INFINITY || !out->data) continue;
        const int64_t stride = columns > 1 || first ? out->stride[3] : 1;
        const float *from = (const float *)out->data + offset_of(out, row->at) + first * stride;
        for (int64_t c = 0; c < columns; c++)
            sums[c] = weight * (double)from[c * stride] + (is_begun ? sums[c] : -0.0);
        is_begun = true;
    }
    for (int64_t c = 0; row->is_poisoned && c < columns; c++) sums[c] = NAN;
}

static void store(const attn_tensor_t *out, int64_t index, float number) {
    if (out->dtype == ATTN_F32) ((float *)out->data)[index] = number;
    if (out->dtype == ATTN_F16) ((uint16_t *)out->data)[index] = float_to_f16(number);
    if (out->dtype == ATTN_BF16) ((uint16_t *)out->data)[index] = float_to_bf16(number);
}

/* Bit for bit, also where denormal numbers are zero to sums. */
static void copy_row(const row_t *row, const attn_tensor_t *out) {
    const int64_t width = out->shape[3], start = offset_of(out, row->at);
    const float *from = (const float *)row->only->data + offset_of(row->only, row->at);
    for (int64_t c = 0; c < width; c++)
        store(out, start + (width > 1 ? c * out->stride[3] : 0),
              from[width > 1 ? c * row->only->stride[3] : 0]);
}

static void add_row(const row_t *row, const attn_part_t *parts, int64_t count,
                    const attn_tensor_t *out) {
    const int64_t width = out->shape[3], start = offset_of(out, row->at);
    double sums[COLUMNS];
    for (int64_t first = 0; first < width; first += COLUMNS) {
        const int64_t columns = width - first < COLUMNS ? width - first : COLUMNS;
        add_up(row, parts, count, first, columns, sums);
        for (int64_t c = 0; c < columns; c++)
            store(out, start + (width > 1 ? (first + c) * out->stride[3] : 0), (float)sums[c]);
    }
}

/* Columns are read before they are written, and the row's lse last: they may be a part's own. */
static void combine_row(row_t *row, const attn_part_t *parts, int64_t count,
                        const attn_tensor_t *out, const attn_tensor_t *lse) {
    weigh(row, parts, count);
    if (row->only)
        copy_row(row, out);
    else
        add_row(row, parts, count, out);
    if (!lse) return;
    const int64_t at = offset_of(lse, row->at);
    if (lse->dtype == ATTN_F64)
        ((double *)lse->data)[at] = row->lse;
    else
        ((float *)lse->data)[at] = (float)row->lse;
}

attn_status_t attn_combine(const attn_part_t *parts, int64_t count, const attn_tensor_t *out,
                           const attn_tensor_t *lse, attn_error_t *error) {
    if (!out || !out->data || (count && !parts))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "combine: out or the parts are null");
    if (count < 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "combine: %lld parts, must be 0 or more",
                         (long long)count);
    if (lse && !lse->data) lse = NULL;
    attn_status_t status = check_result(out, lse, error);
    for (int64_t p = 0; status == ATTN_OK && p < count; p++)
        status = check_part(&parts[p], p, out, lse, error);
    if (status != ATTN_OK) return status;
    row_t row;
    for (row.at[0] = 0; row.at[0] < out->shape[0]; row.at[0]++)
        for (row.at[1] = 0; row.at[1] < out->shape[1]; row.at[1]++)
            for (row.at[2] = 0; row.at[2] < out->shape[2]; row.at[2]++)
                combine_row(&row, parts, count, out, lse);
    return ATTN_OK;
}
