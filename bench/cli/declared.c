/* cli/declared.c: see declared.h. */
#include "cli/declared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what the command line alone has --------------------------------------------------------- */

static void fill_slopes(float *slopes, int64_t heads) { attn_alibi_slopes(slopes, heads, NULL); }

/* A column that a mask or a bias lacks is of a key that nobody sees. */
static const unsigned char hidden = 0;
static const float infinitely_less = -INFINITY;

static const declared_special_t specials[ATTN_ARRAY_OWN] = {
    [ATTN_ARRAY_BIAS] = {.padding = &infinitely_less},
    [ATTN_ARRAY_MASK] = {.padding = &hidden},
    [ATTN_ARRAY_KV_LENGTHS] = {.flag = "kv-lens"},
    [ATTN_ARRAY_SINKS] = {.may_be_none = 1},
    [ATTN_ARRAY_SLOPES] = {.flag = "alibi",
                           .fill = fill_slopes,
                           .filled = "the paper's, 2^(-8 i / H) for H a power of 2"},
};

const declared_special_t *declared_special(uint32_t number) {
    static const declared_special_t none = {.flag = NULL};
    return number < ATTN_ARRAY_OWN ? &specials[number] : &none;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *declared_flag(uint32_t number, const attn_array_info_t *info,
                          char text[DECLARED_TEXT]) {
    const char *flag = declared_special(number)->flag;
    snprintf(text, DECLARED_TEXT, "%s", flag ? flag : info->name);
    for (char *c = text; *c; c++)
        if (*c == '_') *c = '-';
    return text;
}

int declared_is_choice(const attn_array_info_t *info) {
    return info->presence != ATTN_PRESENCE_REQUIRED;
}

int declared_list_axis(const attn_array_info_t *info) {
    int axis = -1;
    for (int k = 0; k < 4; k++) {
        if (info->axes[k] == ATTN_AXIS_ONE) continue;
        if (axis >= 0 || info->axes[k] > ATTN_AXIS_KV_HEADS) return -1;
        axis = k;
    }
    return axis;
}

int declared_head_axis(const attn_array_info_t *info) {
    int axis = -1;
    for (int k = 0; k < 4; k++) {
        if (info->axes[k] == ATTN_AXIS_ONE) continue;
        if (!(info->broadcast >> k & 1)) return -1;
        if (info->axes[k] == ATTN_AXIS_HEADS || info->axes[k] == ATTN_AXIS_KV_HEADS) axis = k;
    }
    return axis;
}

const char *declared_owners(const attn_array_info_t *info, int axis, int64_t count) {
    const int is_one = count == 1;
    switch (info->axes[axis]) {
    case ATTN_AXIS_BATCH:
        return is_one ? "batch" : "batches";
    case ATTN_AXIS_HEADS:
        return is_one ? "head" : "heads";
    default:
        return is_one ? "key/value head" : "key/value heads";
    }
}

const char *declared_axes(const attn_array_info_t *info, char text[DECLARED_TEXT]) {
    static const char *const letters[] = {
        [ATTN_AXIS_ONE] = "1",        [ATTN_AXIS_BATCH] = "B",      [ATTN_AXIS_HEADS] = "H",
        [ATTN_AXIS_KV_HEADS] = "Hkv", [ATTN_AXIS_QUERIES] = "n",    [ATTN_AXIS_KEYS] = "m",
        [ATTN_AXIS_DIM] = "d",        [ATTN_AXIS_VALUE_DIM] = "dv", [ATTN_AXIS_PLAN] = "plan",
    };
    size_t used = 0;
    for (int k = 0; k < 4; k++)
        used += (size_t)snprintf(text + used, DECLARED_TEXT - used, "%s%s%s", k ? ", " : "(",
                                 letters[info->axes[k]], info->broadcast >> k & 1 ? "|1" : "");
    snprintf(text + used, DECLARED_TEXT - used, ")");
    return text;
}

const char *declared_kind(const attn_array_info_t *info, char text[DECLARED_TEXT]) {
    char axes[DECLARED_TEXT];
    const char *dtype = info->dtype == ATTN_DTYPE_OF_QUERY ? "as Q"
                        : info->dtype == ATTN_DTYPE_OF_KEY ? "as K"
                                                           : attn_dtype_name(info->dtype);
    snprintf(text, DECLARED_TEXT, "%s %.48s", dtype, declared_axes(info, axes));
    return text;
}

void declared_print(const attn_array_info_t *info) {
    const int is_input = info->role == ATTN_ROLE_INPUT;
    const int is_list = declared_list_axis(info) >= 0 || declared_head_axis(info) >= 0;
    char kind[DECLARED_TEXT];
    printf("  --%s %s=%s: %s%s\n      %s\n", is_input ? "input" : "output", info->name,
           is_list && is_input ? "A,B,... or FILE" : "FILE", declared_kind(info, kind),
           info->presence == ATTN_PRESENCE_REQUIRED ? ", required" : "", info->help);
}

int32_t declared_rank(const attn_array_info_t *info, const int64_t shape[4], int32_t lacking,
                      int32_t *left_out) {
    int32_t rank = 4, left = 0;
    while (rank > 1 && info->axes[rank - 1] == ATTN_AXIS_ONE) rank--;
    *left_out = 4 - rank;
    while (left < lacking && rank > 1 && shape[left] == 1) left++, rank--;
    return rank;
}
