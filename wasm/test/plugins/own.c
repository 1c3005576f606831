/*
 * A plugin with arrays of its own, of several kinds, as results that say what arrived: with all weights the
 * same over the keys, out is the mean of values, each times its gate, plus what the other arrays give.
 */
#include "attn/ext/inputs.h"
#include "attn/ext/params.h"
#include "attn/ext/stream.h"
#include "attn/ext/weights.h"
#include "attn/support.h"

#include <string.h>

enum { GATES, KEPT, OFFSETS, BLOCK_TABLE, STATE, ROW_COUNTS };

#define ARRAY(text, role_, presence_, type, b, h, i, c, ...)                                       \
    {                                                                                              \
        .struct_size = sizeof(attn_array_info_t), .role = ATTN_ROLE_##role_,                       \
        .presence = ATTN_PRESENCE_##presence_, .dtype = type,                                      \
        .axes = {ATTN_AXIS_##b, ATTN_AXIS_##h, ATTN_AXIS_##i, ATTN_AXIS_##c}, .name = text,        \
        .help = "", __VA_ARGS__                                                                    \
    }

/* clang-format off */
static const attn_array_info_t list[] = {
    [GATES] = ARRAY("gates", INPUT, REQUIRED, ATTN_F32, BATCH, KV_HEADS, KEYS, ONE, .broadcast = 3),
    [KEPT] = ARRAY("kept_keys", INPUT, NAMED, ATTN_BOOL, ONE, ONE, ONE, KEYS, .broadcast = 0),
    [OFFSETS] = ARRAY("offsets", INPUT, NAMED, ATTN_I64, ONE, HEADS, ONE, ONE, .broadcast = 2),
    [BLOCK_TABLE] = ARRAY("block_table", INPUT, NAMED, ATTN_F16, ONE, ONE, PLAN, VALUE_DIM, .broadcast = 0),
    [STATE] = ARRAY("state", OUTPUT, OPTIONAL, ATTN_F32, BATCH, KV_HEADS, ONE, VALUE_DIM, .broadcast = 0),
    [ROW_COUNTS] = ARRAY("row_counts", OUTPUT, OPTIONAL, ATTN_I64, BATCH, HEADS, QUERIES, ONE, .broadcast = 0),
};
/* clang-format on */

typedef struct own_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    attn_problem_t problem;
    int64_t blocks;
} own_plan_t;

static int64_t place(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i, int64_t c) {
    const int64_t index[4] = {b, h, i, c};
    int64_t at = 0;
    for (int k = 0; k < 4; k++) at += t->shape[k] > 1 ? index[k] * t->stride[k] : 0;
    return at;
}

static float *at(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i, int64_t c) {
    return (float *)t->data + place(t, b, h, i, c);
}

/* Of an f16 above 0 and below 2^4, as the tests have them. */
static float half_of(uint16_t bits) {
    float x = 1.0f + (float)(bits & 1023) / 1024.0f;
    for (int e = bits >> 10; e > 15; e--) x *= 2.0f;
    for (int e = bits >> 10; e < 15; e++) x /= 2.0f;
    return bits ? x : 0.0f;
}

/* What is added to all of head h's results in column c. */
static float added(const own_plan_t *plan, const attn_io_t *io, int64_t h, int64_t c) {
    const attn_tensor_t *offsets = attn_own_array(io, OFFSETS);
    const attn_tensor_t *table = attn_own_array(io, BLOCK_TABLE);
    float sum = 0.0f;
    if (offsets) sum += (float)((const int64_t *)offsets->data)[place(offsets, 0, h, 0, 0)];
    for (int64_t r = 0; table && r < plan->blocks; r++)
        sum += (float)(r + 1) * half_of(((const uint16_t *)table->data)[place(table, 0, 0, r, c)]);
    return sum;
}

/* The sum of values times gates over the keys that are kept; returns how many those are. */
static int64_t sum_values(const attn_problem_t *p, const attn_io_t *io, int64_t b, int64_t h,
                          int64_t c, float *sum) {
    const attn_tensor_t *kept = attn_own_array(io, KEPT);
    int64_t count = 0;
    *sum = 0.0f;
    for (int64_t j = 0; j < p->keys; j++) {
        if (kept && !((const uint8_t *)kept->data)[place(kept, 0, 0, 0, j)]) continue;
        *sum += *at(attn_own_array(io, GATES), b, h, j, 0) * *at(&io->value, b, h, j, c);
        count++;
    }
    return count;
}

static attn_status_t run(const attn_backend_plan_t *base, const attn_io_t *io,
                         attn_error_t *error) {
    const own_plan_t *plan = (const own_plan_t *)base;
    const attn_problem_t *p = &plan->problem;
    const attn_tensor_t *state = attn_own_array(io, STATE),
                        *counts = attn_own_array(io, ROW_COUNTS);
    (void)error;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads; h++)
            for (int64_t c = 0; c < p->value_dim; c++) {
                const int64_t kv_head = h / (p->heads / p->kv_heads);
                float sum;
                const int64_t count = sum_values(p, io, b, kv_head, c, &sum);
                for (int64_t i = 0; i < p->queries; i++) {
                    *at(&io->out, b, h, i, c) = sum / (float)p->keys + added(plan, io, h, c);
                    if (counts) ((int64_t *)counts->data)[place(counts, b, h, i, 0)] = count;
                }
                if (state) *at(state, b, kv_head, 0, c) = sum;
            }
    return ATTN_OK;
}

static attn_status_t weigh(const attn_backend_plan_t *base, const attn_io_t *io, int64_t batch,
                           int64_t head, int64_t first, int64_t count, float *rows,
                           int64_t row_stride, attn_error_t *error) {
    const attn_problem_t *p = &((const own_plan_t *)base)->problem;
    (void)first, (void)error;
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = 0; j < p->keys; j++)
            rows[r * row_stride + j] =
                *at(attn_own_array(io, GATES), batch, head / (p->heads / p->kv_heads), j, 0) /
                (float)p->keys;
    return ATTN_OK;
}

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((own_plan_t *)base)->host, base);
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    own_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "own: no memory for the plan");
    *plan = (own_plan_t){
        .base = {.struct_size = sizeof plan->base, .kernel = "own", .run = run, .destroy = destroy},
        .host = host,
        .problem = attn_problem_copy(problem),
        .blocks = (problem->keys + values[0].integer - 1) / values[0].integer,
    };
    *result = &plan->base;
    return ATTN_OK;
}

static void shape(const attn_backend_plan_t *plan, uint32_t index, int64_t extents[4]) {
    if (index == BLOCK_TABLE) extents[2] = ((const own_plan_t *)plan)->blocks;
}

/* ---- a stream: the sum of all gates that came, which is out, plus what is added ------------------ */

typedef struct own_stream {
    attn_backend_stream_t base;
    own_plan_t plan; /* for its problem; no blocks */
    float sum;
} own_stream_t;

static attn_status_t append(attn_backend_stream_t *base, const attn_io_t *io, attn_error_t *error) {
    own_stream_t *stream = (own_stream_t *)base;
    (void)error;
    for (int64_t j = 0; j < io->key.shape[2]; j++)
        stream->sum += *at(attn_own_array(io, GATES), 0, 0, j, 0);
    return ATTN_OK;
}

static attn_status_t query(attn_backend_stream_t *base, const attn_io_t *io, attn_error_t *error) {
    const own_stream_t *stream = (const own_stream_t *)base;
    const attn_tensor_t *counts = attn_own_array(io, ROW_COUNTS);
    (void)error;
    for (int64_t h = 0; h < io->out.shape[1]; h++)
        for (int64_t i = 0; i < io->out.shape[2]; i++) {
            if (counts) ((int64_t *)counts->data)[place(counts, 0, h, i, 0)] = i;
            for (int64_t c = 0; c < io->out.shape[3]; c++)
                *at(&io->out, 0, h, i, c) = stream->sum + added(&stream->plan, io, h, c);
        }
    return ATTN_OK;
}

static attn_status_t truncate(attn_backend_stream_t *stream, int64_t length, attn_error_t *error) {
    if (length) return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "own: only to 0");
    ((own_stream_t *)stream)->sum = 0.0f;
    return ATTN_OK;
}

static attn_status_t fork(const attn_backend_stream_t *base, attn_backend_stream_t **copy,
                          attn_error_t *error) {
    const own_stream_t *stream = (const own_stream_t *)base;
    own_stream_t *other = attn_host_allocate(stream->plan.host, sizeof *other);
    if (!other) return attn_fail(error, ATTN_ERROR_MEMORY, "own: no memory for a stream");
    *other = *stream;
    *copy = &other->base;
    return ATTN_OK;
}

static uint64_t save(const attn_backend_stream_t *stream, void *bytes) {
    if (bytes) memcpy(bytes, &((const own_stream_t *)stream)->sum, sizeof(float));
    return sizeof(float);
}

static attn_status_t restore(attn_backend_stream_t *stream, const void *bytes, uint64_t size,
                             int64_t length, attn_error_t *error) {
    (void)length;
    if (size != sizeof(float)) return attn_fail(error, ATTN_ERROR_ARGUMENT, "own: damaged");
    memcpy(&((own_stream_t *)stream)->sum, bytes, sizeof(float));
    return ATTN_OK;
}

static uint64_t memory(const attn_backend_stream_t *stream) {
    (void)stream;
    return sizeof(own_stream_t);
}

static void end(attn_backend_stream_t *stream) {
    attn_host_release(((own_stream_t *)stream)->plan.host, stream);
}

static attn_status_t create(const attn_host_t *host, const attn_problem_t *problem,
                            const attn_value_t *values, attn_backend_stream_t **result,
                            attn_error_t *error) {
    own_stream_t *stream = attn_host_allocate(host, sizeof *stream);
    (void)values;
    if (!stream) return attn_fail(error, ATTN_ERROR_MEMORY, "own: no memory for a stream");
    *stream = (own_stream_t){
        .base = {.struct_size = sizeof stream->base,
                 .append = append,
                 .query = query,
                 .truncate = truncate,
                 .fork = fork,
                 .save = save,
                 .restore = restore,
                 .memory = memory,
                 .destroy = end},
        .plan = {.host = host, .problem = attn_problem_copy(problem)},
    };
    *result = &stream->base;
    return ATTN_OK;
}

/* ---- declaration --------------------------------------------------------------------------------- */

static const void *get_extension(const char *id) {
    static const attn_param_info_t block = {
        .struct_size = sizeof block,
        .type = ATTN_PARAM_INTEGER,
        .name = "block",
        .label = "block",
        .help = "keys for each row of block_table",
        .unit = "keys",
        .minimum = 1.0,
        .maximum = 64.0,
        .initial = 4.0,
    };
    static const attn_array_info_t *const arrays[] = {&list[GATES],   &list[KEPT],
                                                      &list[OFFSETS], &list[BLOCK_TABLE],
                                                      &list[STATE],   &list[ROW_COUNTS]};
    static const attn_ext_inputs_t inputs = {sizeof inputs, 6, arrays, shape};
    static const attn_ext_params_t params = {sizeof params, 1, &block};
    static const attn_ext_weights_t weights = {sizeof weights, 0, weigh};
    static const attn_ext_stream_t streams = {sizeof streams, 0, create};
    if (strcmp(id, ATTN_EXT_INPUTS) == 0) return &inputs;
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &params;
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    return strcmp(id, ATTN_EXT_STREAM) == 0 ? &streams : NULL;
}

static const attn_backend_t own = {
    .struct_size = sizeof(attn_backend_t),
    .features = ATTN_FEATURE_GROUPED_HEADS,
    .id = "org.example.own",
    .name = "Own arrays",
    .version = "1",
    .description = "Says what arrived.",
    .reference = "",
    .plan = make_plan,
    .get_extension = get_extension,
};

#ifdef OWN_TAKEN /* an array with the name of an option */
static const attn_array_info_t window =
    ARRAY("window", INPUT, REQUIRED, ATTN_F32, ONE, ONE, ONE, ONE, .broadcast = 0);

static const void *get_extension_of_taken(const char *id) {
    static const attn_array_info_t *const arrays[] = {&window};
    static const attn_ext_inputs_t inputs = {sizeof inputs, 1, arrays, NULL};
    return strcmp(id, ATTN_EXT_INPUTS) == 0 ? &inputs : NULL;
}

static const attn_backend_t taken = {
    .struct_size = sizeof(attn_backend_t),
    .id = "org.example.taken",
    .name = "Taken",
    .version = "1",
    .description = "",
    .reference = "",
    .plan = make_plan,
    .get_extension = get_extension_of_taken,
};
static const attn_backend_t *const backends[] = {&own, &taken};
#else
static const attn_backend_t *const backends[] = {&own};
#endif
ATTN_PLUGIN(own, backends);
