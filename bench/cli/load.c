/* cli/load.c: see load.h. */
#include "cli/load.h"

#include "cli/cli.h"
#include "cli/container.h"
#include "number/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An array that is to come. */
typedef struct load {
    char label[DECLARED_TEXT]; /* "--mask" */
    const char *text;          /* a list or a file */
    const attn_array_info_t *info;
    const declared_special_t *special;
    attn_tensor_t wanted;
    int64_t columns;          /* the fewest, where there may be fewer than wanted */
    const rows_range_t *rows; /* of a file; NULL: all */
} load_t;

/* ---- what numbers may be ----------------------------------------------------------------------- */

/* -inf is a bias that hides, a decay that forgets, and a sink that is not there; it is no slope and no scale. */
static int may_be(const load_t *load, float number) {
    const int is_listed = declared_list_axis(load->info) >= 0;
    return isfinite(number) || (number < 0 && (!is_listed || load->special->may_be_none));
}

/* ---- one number for each head or batch: a list on the command line ---------------------------- */

/* A number up to a comma or the end: such a text is no file's name. */
static int begins_list(const char *text) {
    const char *end;
    attn_number_read(text, &end);
    return end != text && (*end == ',' || !*end);
}

static int read_item(const load_t *load, const char *word, void *data, int64_t index) {
    if (load->wanted.dtype == ATTN_I64) {
        const char *wrong = option_integer_wrong(word, (int64_t *)data + index);
        return wrong ? cli_complain(CLI_USAGE, "%s: '%s' %s", load->label, word, wrong) : CLI_OK;
    }
    const char *end;
    const double value = attn_number_read(word, &end);
    const int is_minus_inf = value == -INFINITY && !*end && !strpbrk(word, "0123456789");
    const char *wrong =
        is_minus_inf && may_be(load, -INFINITY) ? NULL : option_float_wrong(word, value, end);
    ((float *)data)[index] = (float)value;
    return wrong ? cli_complain(CLI_USAGE, "%s: '%s' %s", load->label, word, wrong) : CLI_OK;
}

static int check_count(const load_t *load, int axis, int64_t count) {
    const int64_t wanted = load->wanted.shape[axis];
    if (count == wanted) return CLI_OK;
    return cli_complain(CLI_USAGE, "%s: %lld value%s for %lld %s", load->label, (long long)count,
                        count == 1 ? "" : "s", (long long)wanted,
                        declared_owners(load->info, axis, wanted));
}

static int read_list(const load_t *load, int axis, array_t *array) {
    int64_t commas = 0;
    for (const char *c = load->text; *c; c++) commas += *c == ',';
    if (check_count(load, axis, commas + 1)) return CLI_USAGE;
    const char *item = load->text;
    for (int64_t index = 0; index <= commas; index++) {
        char word[OPTION_WORD];
        if (!option_item(item, word))
            return cli_complain(CLI_USAGE, "%s: '%.20s...' is too long for a number", load->label,
                                item);
        if (read_item(load, word, array->memory, index)) return CLI_USAGE;
        item += strlen(word) + 1;
    }
    return CLI_OK;
}

/* A list as text, or the numbers that "auto" stands for. */
static int make_list(const load_t *load, int axis, int is_auto, array_t *array) {
    if (load->wanted.dtype != ATTN_F32 && load->wanted.dtype != ATTN_I64)
        return cli_complain(CLI_USAGE, "%s: numbers of %s come from a file, not from a list",
                            load->label, attn_dtype_name(load->wanted.dtype));
    array->memory = array_allocate(load->wanted.dtype, load->wanted.shape);
    if (!array->memory) return cli_complain(CLI_USAGE, "%s: no memory", load->label);
    array->tensor = load->wanted;
    array->tensor.data = array->memory;
    array->rank = 1;
    array->left_out = 3 - axis;
    if (!is_auto) return read_list(load, axis, array);
    load->special->fill(array->memory, load->wanted.shape[axis]);
    return CLI_OK;
}

/* ---- files ------------------------------------------------------------------------------------ */

/* The file's row that is row `row` of what was read. */
static int64_t row_in_file(const load_t *load, int64_t row) {
    if (!load->rows) return row;
    const rows_range_t *first = &load->rows[0], *second = &load->rows[1];
    return row < first->count ? first->first + row : second->first + row - first->count;
}

/* What is NaN or infinite where a list would be refused, and in what is added to logits, is a mistake; states and other
 * arrays of a backend's own are computed with. */
static int check_numbers(const load_t *load, const array_t *array) {
    const attn_tensor_t *tensor = &array->tensor;
    const int is_checked = load->special->padding || declared_list_axis(load->info) >= 0 ||
                           declared_head_axis(load->info) >= 0;
    int64_t at[4] = {0};
    if (tensor->dtype != ATTN_F32 || !is_checked) return CLI_OK;
    do {
        const float number = *(const float *)(const void *)array_element(tensor, at);
        if (may_be(load, number)) continue;
        return cli_complain(CLI_USAGE, "%s: %s has %s at (%lld, %lld, %lld, %lld)%s", load->label,
                            load->text,
                            isnan(number) ? "NaN"
                            : number > 0  ? "inf"
                                          : "-inf",
                            (long long)at[0], (long long)at[1], (long long)row_in_file(load, at[2]),
                            (long long)at[3], load->special->padding ? "; -inf hides a key" : "");
    } while (array_step(tensor, at));
    return CLI_OK;
}

/* Element types of files that become elements of `dtype`; 0 for none. */
static uint32_t types_for(attn_dtype_t dtype) {
    return dtype == ATTN_F32    ? NPY_FLOATS | NPY_BFLOAT16
           : dtype == ATTN_F16  ? NPY_FLOAT16
           : dtype == ATTN_BOOL ? NPY_BOOL
           : dtype == ATTN_I64  ? NPY_INTEGERS
                                : 0;
}

static int check_type(const load_t *load, const npy_wanted_t *wanted) {
    if (wanted->types) return CLI_OK;
    return cli_complain(CLI_USAGE, "%s: elements of %s are not read from files", load->label,
                        attn_dtype_name(load->wanted.dtype));
}

/* Moves all axes to the left, and axes of 1 behind them. */
static void shift(attn_tensor_t *tensor, int by) {
    for (int k = 0; k < 4; k++) {
        tensor->shape[k] = k + by < 4 ? tensor->shape[k + by] : 1;
        tensor->stride[k] = k + by < 4 ? tensor->stride[k + by] : 1;
    }
}

/* Elements as the plan wants them. */
static int convert(const load_t *load, array_t *array) {
    const attn_tensor_t *tensor = &array->tensor;
    const int is_apart = load->info->flags & ATTN_ARRAY_UNIT_STRIDE && tensor->stride[3] != 1;
    if (tensor->dtype == load->wanted.dtype && !is_apart) return CLI_OK;
    return array_copy(array, NULL, load->wanted.dtype, load->text);
}

static int fits(const load_t *load, const int64_t shape[4]) {
    for (int k = 0; k < 4; k++) {
        const int64_t wanted = load->wanted.shape[k];
        if (attn_axis_fits(load->info, k, shape[k], wanted)) continue;
        const int may_widen = k == 3 && load->special->padding;
        if (!may_widen || (shape[k] != 1 && (shape[k] < load->columns || shape[k] > wanted)))
            return 0;
    }
    return 1;
}

/* Aligned from the right, as in NumPy; axes at the end that are always 1 may be left out. */
static int align(const load_t *load, array_t *array) {
    attn_tensor_t tensor = array->tensor;
    for (int left_out = 0; left_out + array->rank <= 4; left_out++) {
        if (fits(load, tensor.shape)) {
            array->tensor = tensor;
            array->left_out = left_out;
            return 1;
        }
        if (load->info->axes[3 - left_out] != ATTN_AXIS_ONE) return 0;
        shift(&tensor, 1);
    }
    return 0;
}

/* "(B, H, n, m)", whatever may be 1. */
static const char *axes_of(const load_t *load, char text[DECLARED_TEXT]) {
    attn_array_info_t info = *load->info;
    info.broadcast = 0;
    return declared_axes(&info, text);
}

/* "1 (m) to 4 (B, H, n, m)": what a file has at least is the last axis that is not always 1. */
static const char *ranks_of(const load_t *load, char text[2 * DECLARED_TEXT]) {
    char axes[DECLARED_TEXT], kept[DECLARED_TEXT];
    snprintf(kept, sizeof kept, "%s", axes_of(load, axes) + 1);
    kept[strcspn(kept, ")")] = 0;
    for (int k = 3; k > 0 && load->info->axes[k] == ATTN_AXIS_ONE; k--) *strrchr(kept, ',') = 0;
    const char *space = strrchr(kept, ' ');
    snprintf(text, 2 * DECLARED_TEXT, "1 (%.8s) to 4 %s", space ? space + 1 : kept, axes);
    return text;
}

static int misfit(const load_t *load, const array_t *array) {
    const int64_t *wanted = load->wanted.shape;
    const int axis = declared_list_axis(load->info);
    char shape[96], axes[DECLARED_TEXT];
    if (axis >= 0 && array->rank == 1 && check_count(load, axis, array->tensor.shape[3]))
        return CLI_USAGE;
    return cli_complain(CLI_USAGE, "%s: %s %s does not %s %s = (%lld, %lld, %lld, %lld)",
                        load->label, load->text, array_shape(array, shape),
                        load->info->broadcast ? "broadcast to" : "fit", axes_of(load, axes),
                        (long long)wanted[0], (long long)wanted[1], (long long)wanted[2],
                        (long long)wanted[3]);
}

/* From what a file has to what a run takes. */
static int finish(const load_t *load, array_t *array) {
    if (convert(load, array) || check_numbers(load, array)) return CLI_USAGE;
    if (!load->special->padding || array->tensor.shape[3] == load->wanted.shape[3]) return CLI_OK;
    return array_widen(array, load->wanted.shape[3], load->special->padding, load->text);
}

static int load_whole(const load_t *load, const npy_wanted_t *wanted, array_t *array) {
    if (container_load(array, load->text, wanted)) return CLI_USAGE;
    return align(load, array) ? finish(load, array) : misfit(load, array);
}

/* Rows of an open file, whose shape is checked as a whole. */
static int take_rows(const load_t *load, rows_file_t *file, array_t *array) {
    static const rows_range_t one[ROWS_RANGES] = {{0, 1}, {0, 0}};
    array_t whole;
    load_t taken = *load;
    rows_describe(file, &whole);
    if (!align(load, &whole)) return misfit(load, &whole);
    for (int k = 0; k < whole.left_out; k++) file->dict.shape[file->dict.rank++] = 1;
    if (whole.tensor.shape[AXIS_ROWS] == 1 && load->info->broadcast >> AXIS_ROWS & 1)
        taken.rows = one;
    if (rows_read(file, taken.rows, array)) return CLI_USAGE;
    return array->memory ? finish(&taken, array) : CLI_OK;
}

static int load_rows(const load_t *load, const npy_wanted_t *wanted, array_t *array) {
    rows_file_t file;
    int status = rows_open(&file, load->text, wanted);
    if (!status) status = take_rows(load, &file, array);
    rows_close(&file);
    return status;
}

static int load_file(const load_t *load, array_t *array) {
    char ranks[2 * DECLARED_TEXT];
    const npy_wanted_t wanted = {.types = types_for(load->wanted.dtype),
                                 .low = 1,
                                 .high = 4,
                                 .ranks = ranks_of(load, ranks)};
    if (check_type(load, &wanted)) return CLI_USAGE;
    return (load->rows ? load_rows : load_whole)(load, &wanted, array);
}

/* ---- all together ---------------------------------------------------------------------------- */

/* How many numbers between commas a text is, and nothing else: such a text is no file's name. What is left out between
 * them is said of the list. */
static int64_t count_numbers(const char *text) {
    int64_t count = 0;
    for (const char *at = text, *end;; at = end + 1) {
        attn_number_read(at, &end);
        const int is_left_out = count && end == at;
        if ((end == at && !is_left_out) || (*end && *end != ',')) return 0;
        count++;
        if (!*end) return count;
    }
}

/* One number for each head, or one for all, of an array whose other axes may be 1. */
static int load_numbers(const load_t *load, int64_t count, array_t *array) {
    const int axis = declared_head_axis(load->info);
    if (axis < 0)
        return cli_complain(CLI_USAGE, "%s: %s is a %s; %s comes from a file", load->label,
                            load->text, count > 1 ? "list of numbers" : "number", load->info->name);
    load_t heads = *load;
    const int64_t of_all = count > 1 ? load->wanted.shape[axis] : 1;
    for (int k = 0; k < 4; k++) {
        heads.wanted.shape[k] = k == axis ? of_all : 1;
        heads.wanted.stride[k] = k < axis ? of_all : 1;
    }
    return make_list(&heads, axis, 0, array);
}

static int load_one(const load_t *load, array_t *array) {
    const int axis = declared_list_axis(load->info);
    const int64_t count = axis < 0 ? count_numbers(load->text) : 0;
    if (count) return load_numbers(load, count, array);
    if (axis < 0) return load_file(load, array);
    const int is_auto = load->special->fill && (!*load->text || strcmp(load->text, "auto") == 0);
    if (is_auto || begins_list(load->text)) return make_list(load, axis, is_auto, array);
    if (*load->text) return load_file(load, array);
    return cli_complain(CLI_USAGE, "%s: '' is neither a list nor a file", load->label);
}

/* The most keys that a sequence has. */
static int64_t longest(const attn_plan_t *plan, const array_t *kv_lengths) {
    const attn_problem_t *problem = attn_plan_problem(plan);
    const int64_t *lengths = kv_lengths->tensor.data;
    int64_t most = 0;
    if (!lengths) return problem->keys;
    for (int64_t b = 0; b < problem->batch; b++) most = lengths[b] > most ? lengths[b] : most;
    return most;
}

static int is_scale(const attn_array_info_t *info) { return info->presence == ATTN_PRESENCE_INT8; }

static int is_int8(const attn_plan_t *plan) { return attn_plan_problem(plan)->kv_dtype == ATTN_I8; }

/* Scales without int8, or int8 without scales. */
static int misplaced(const load_t *load) {
    if (load->text)
        return cli_complain(CLI_USAGE, "%s: is for K and V of int8, and they are not", load->label);
    return cli_complain(CLI_USAGE, "K and V are int8: --input %s=FILE is missing, or its flag",
                        load->info->name);
}

/* The rows of an array that has some. */
static const rows_range_t *rows_of(const load_rows_t *rows, const attn_array_info_t *info) {
    const int32_t axis = info->axes[AXIS_ROWS];
    if (!rows) return NULL;
    return axis == ATTN_AXIS_QUERIES ? rows->queries : axis == ATTN_AXIS_KEYS ? rows->keys : NULL;
}

int load_inputs(const arguments_t *arguments, const attn_plan_t *plan, uint32_t first, uint32_t end,
                const load_rows_t *rows, array_t *arrays) {
    const attn_backend_t *backend = attn_plan_backend(plan);
    attn_array_info_t info = {.struct_size = sizeof info};
    for (int padded = 0; padded < 2;
         padded++) /* what key lengths leave to others comes after them */
        for (uint32_t number = first; number < end; number++) {
            load_t load = {.special = declared_special(number), .info = &info};
            array_t *array = &arrays[number - first];
            if (array->memory || (load.special->padding != NULL) != padded) continue;
            if (!attn_backend_array(backend, number, &info)) break;
            if (info.role != ATTN_ROLE_INPUT) continue;
            load.text = arguments_value(arguments, number, &info, load.label);
            if (is_scale(&info) && (load.text != NULL) != is_int8(plan)) return misplaced(&load);
            if (!load.text || !attn_plan_array(plan, number, &load.wanted)) continue;
            load.rows = rows_of(rows, &info);
            if (padded) load.columns = longest(plan, &arrays[ATTN_ARRAY_KV_LENGTHS - first]);
            if (load_one(&load, array)) return CLI_USAGE;
        }
    return CLI_OK;
}
