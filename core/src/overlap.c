/*
 * Whether arrays share memory. An array's elements lie at low + sum over axes of i_k step_k, 0 <= i_k < count_k;
 * counted from the end those of another lie at high - sum of j_k step_k. Two elements meet where both sums
 * together are a number of a short range: a bounded search, as in "solve_may_share_memory" of NumPy.
 */
#include "internal.h"

enum { AXES = 4, STEPS = 1 << 14 };

/* An axis: multiples of `step` bytes, `count` of them. */
typedef struct axis {
    uint64_t step, count;
} axis_t;

/* Where an array is. */
typedef struct area {
    uint64_t low, reach; /* of its elements' first bytes: [low, low + reach] */
    uint64_t size;       /* bytes of an element */
    int count;
    axis_t axes[AXES];
} area_t;

/* The search: axes of both arrays, the longest step first, and the reach of each and all behind it. */
typedef struct search {
    int count, left;
    axis_t axes[2 * AXES];
    uint64_t reach[2 * AXES + 1], divisor[2 * AXES + 1];
} search_t;

/* 0 where it reaches further than there is memory: no array is there. */
static bool area_of(const attn_tensor_t *tensor, area_t *area) {
    *area = (area_t){.low = (uint64_t)(uintptr_t)tensor->data,
                     .size = (uint64_t)attn_dtype_size(tensor->dtype)};
    for (int k = 0; k < AXES; k++) {
        const int64_t stride = tensor->stride[k];
        const uint64_t last = (uint64_t)tensor->shape[k] - 1;
        uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride, reach;
        if (tensor->shape[k] <= 1 || stride == 0) continue;
        if (__builtin_mul_overflow(step, area->size, &step) ||
            __builtin_mul_overflow(step, last, &reach) ||
            __builtin_add_overflow(area->reach, reach, &area->reach) ||
            area->reach > UINT64_MAX / 8)
            return false;
        if (stride < 0) area->low -= reach;
        area->axes[area->count++] = (axis_t){step, last + 1};
    }
    return true;
}

static void insert(search_t *search, axis_t axis) {
    int at = search->count++;
    for (; at > 0 && search->axes[at - 1].step < axis.step; at--)
        search->axes[at] = search->axes[at - 1];
    search->axes[at] = axis;
}

/* Axes that fill the gaps of the next longer one become one with it: rows without gaps are one long row. */
static void merge(search_t *search) {
    for (int i = search->count - 1; i > 0; i--) {
        const axis_t longer = search->axes[i - 1];
        axis_t *axis = &search->axes[i];
        const uint64_t times = longer.step / axis->step;
        if (longer.step % axis->step || axis->count < times) continue;
        axis->count += times * (longer.count - 1);
        search->axes[i - 1] = *axis;
        for (int j = i; j + 1 < search->count; j++) search->axes[j] = search->axes[j + 1];
        search->count--;
    }
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether a sum of multiples of the axes from number i on is in [low, high]; also when that takes too long to tell. */
static bool has_sum(search_t *search, int i, int64_t low, int64_t high) {
    const int64_t reach = (int64_t)search->reach[i];
    if (high < 0 || low > reach) return false;
    if (low < 0) low = 0;
    if (high > reach) high = reach;
    if (i == search->count) return true;
    if (high - high % (int64_t)search->divisor[i] < low) return false;
    if (--search->left < 0) return true;
    const int64_t step = (int64_t)search->axes[i].step, last = (int64_t)search->axes[i].count - 1;
    const int64_t rest = (int64_t)search->reach[i + 1];
    int64_t x = low > rest ? (low - rest + step - 1) / step : 0;
    for (; x <= last && x * step <= high; x++)
        if (has_sum(search, i + 1, low - x * step, high - x * step)) return true;
    return false;
}

static bool areas_meet(const area_t *a, const area_t *b) {
    search_t search = {.left = STEPS};
    for (int k = 0; k < a->count; k++) insert(&search, a->axes[k]);
    for (int k = 0; k < b->count; k++) insert(&search, b->axes[k]);
    merge(&search);
    for (int i = search.count; i > 0; i--) {
        const axis_t *axis = &search.axes[i - 1];
        search.reach[i - 1] = search.reach[i] + axis->step * (axis->count - 1);
        search.divisor[i - 1] = common_divisor(search.divisor[i], axis->step);
    }
    const int64_t between = (int64_t)(b->low + b->reach - a->low);
    return has_sum(&search, 0, between - (int64_t)a->size + 1, between + (int64_t)b->size - 1);
}

bool attn_tensors_overlap(const attn_tensor_t *a, const attn_tensor_t *b) {
    area_t of_a, of_b;
    if (!area_of(a, &of_a) || !area_of(b, &of_b)) return false;
    if (of_a.low + of_a.reach + of_a.size <= of_b.low ||
        of_b.low + of_b.reach + of_b.size <= of_a.low)
        return false;
    return areas_meet(&of_a, &of_b);
}

attn_status_t attn_written_check(const attn_scope_t *scope, const attn_written_t *written,
                                 const attn_io_t *io, uint64_t unused, attn_error_t *error) {
    const attn_array_info_t *info;
    for (uint32_t number = 0; (info = attn_array_of(scope, number)); number++) {
        const attn_tensor_t *tensor = attn_array_in(io, number);
        if (!tensor->data || number == written->number || (number < 64 && unused >> number & 1))
            continue;
        if (attn_tensors_overlap(written->tensor, tensor))
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "%s%.60s: shares memory with %.60s, and is written: give it its own",
                             written->prefix, written->name, info->name);
    }
    return ATTN_OK;
}

attn_status_t attn_outputs_check(const attn_scope_t *scope, const attn_io_t *io, uint64_t unused,
                                 attn_error_t *error) {
    const attn_array_info_t *info;
    for (uint32_t number = 0; (info = attn_array_of(scope, number)); number++) {
        const attn_written_t written = {"", info->name, attn_array_in(io, number), number};
        if (info->role != ATTN_ROLE_OUTPUT || !written.tensor->data ||
            (number < 64 && unused >> number & 1))
            continue;
        attn_status_t status = attn_written_check(scope, &written, io, unused, error);
        if (status != ATTN_OK) return status;
    }
    return ATTN_OK;
}

attn_tensor_t attn_tensor_bytes(void *data, uint64_t size) {
    const int64_t count = size > INT64_MAX / 16 ? INT64_MAX / 16 : (int64_t)size;
    return (attn_tensor_t){.data = data,
                           .dtype = ATTN_BOOL,
                           .shape = {1, 1, 1, count},
                           .stride = {count, count, count, 1}};
}
