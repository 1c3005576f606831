#include "answer.h"

#include "support/exact.h"
#include "support/typed.h"

#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 10, HEADER = 16 };

static attn_problem_t problem_of(const double *header) {
    attn_problem_t problem;
    const int64_t sizes[] = {(int64_t)header[0], (int64_t)header[1], (int64_t)header[3],
                             (int64_t)header[4], (int64_t)header[5], (int64_t)header[6]};
    attn_problem_init(&problem, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]);
    problem.kv_heads = (int64_t)header[2];
    problem.causal = (int32_t)header[7];
    problem.past = (int64_t)header[8];
    problem.window_left = (int64_t)header[9];
    problem.window_right = (int64_t)header[10];
    problem.scale = (float)header[11];
    problem.softcap = (float)header[12];
    problem.inputs = (uint32_t)header[13];
    problem.dtype = (attn_dtype_t)header[14];
    problem.kv_dtype = (attn_dtype_t)header[15];
    return problem;
}

/* What is left of the request. */
typedef struct reader {
    const double *next;
    size_t left;
    int is_short; /* an array lacks numbers */
} reader_t;

static typed_t read_array(reader_t *reader, int wanted, attn_dtype_t dtype, int64_t batch,
                          int64_t heads, int64_t rows, int64_t columns) {
    if (!wanted) return (typed_t){.block = NULL};
    typed_t array =
        typed_create(dtype, LAYOUT_BHND, (const int64_t[]){batch, heads, rows, columns});
    for (int64_t b = 0; b < batch; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t c = 0; c < columns; c++) {
                    if (reader->left == 0) {
                        reader->is_short = 1;
                        return array;
                    }
                    typed_set(&array, b, h, i, c, *reader->next++);
                    reader->left--;
                }
    return array;
}

static void read_arrays(reader_t *reader, const attn_problem_t *p, typed_t arrays[ARRAYS]) {
    const int64_t B = p->batch, H = p->heads, Hkv = p->kv_heads, n = p->queries, m = p->keys;
    const uint32_t inputs = p->inputs;
    const attn_dtype_t type = p->kv_dtype, f32 = ATTN_F32;
    const int scaled = type == ATTN_I8;
    arrays[0] = read_array(reader, 1, p->dtype, B, H, n, p->dim);
    arrays[1] = read_array(reader, 1, type, B, Hkv, m, p->dim);
    arrays[2] = read_array(reader, 1, type, B, Hkv, m, p->value_dim);
    arrays[3] = read_array(reader, inputs & ATTN_INPUT_BIAS ? 1 : 0, f32, B, H, n, m);
    arrays[4] = read_array(reader, inputs & ATTN_INPUT_MASK ? 1 : 0, ATTN_BOOL, B, H, n, m);
    arrays[5] = read_array(reader, inputs & ATTN_INPUT_KV_LENGTHS ? 1 : 0, ATTN_I64, B, 1, 1, 1);
    arrays[6] = read_array(reader, inputs & ATTN_INPUT_SINKS ? 1 : 0, f32, 1, H, 1, 1);
    arrays[7] = read_array(reader, inputs & ATTN_INPUT_SLOPES ? 1 : 0, f32, 1, H, 1, 1);
    arrays[8] = read_array(reader, scaled, f32, B, Hkv, m, 1);
    arrays[9] = read_array(reader, scaled, f32, B, Hkv, m, 1);
}

/* Where each array of the answer goes on, its bounds behind it. */
typedef struct place {
    double *values;
    size_t count; /* of the whole array */
} place_t;

static void put(place_t *place, double value, double bound) {
    place->values[0] = value;
    place->values[place->count] = bound;
    place->values++;
}

static double *answer_rows(const attn_problem_t *p, const attn_io_t *io, size_t *count) {
    const size_t rows = (size_t)(p->batch * p->heads * p->queries);
    const size_t sizes[6] = {rows * (size_t)p->value_dim, rows,
                             rows * (size_t)p->keys,      rows * (size_t)p->keys,
                             rows * (size_t)p->keys,      rows * (size_t)p->keys};
    static const int32_t stages[] = {ATTN_SCORES_WEIGHTS, ATTN_SCORES_RAW, ATTN_SCORES_CAPPED,
                                     ATTN_SCORES_MASKED};
    place_t places[6];
    *count = 0;
    for (int a = 0; a < 6; a++) *count += 2 * sizes[a];
    double *answer = calloc(*count + 1, sizeof *answer), *next = answer;
    if (!answer) return NULL;
    for (int a = 0; a < 6; next += 2 * sizes[a++])
        places[a] = (place_t){.values = next, .count = sizes[a]};
    exact_t exact = exact_create(p);
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads; h++)
            for (int64_t i = 0; i < p->queries; i++) {
                exact_row(&exact, p, io, &EXACT_F32, b, h, i);
                for (int64_t c = 0; c < p->value_dim; c++)
                    put(&places[0], exact.out[c], exact_out_bound(&exact, p, c));
                put(&places[1], exact.lse, exact.lse_bound);
                for (int s = 0; s < 4; s++)
                    for (int64_t j = 0; j < p->keys; j++)
                        put(&places[2 + s], exact_score(&exact, stages[s], j),
                            exact_score_bound(&exact, stages[s], j));
            }
    exact_destroy(&exact);
    return answer;
}

double *exact_answer(const double *request, size_t count, size_t *answer_count) {
    if (count < HEADER) return NULL;
    const attn_problem_t problem = problem_of(request);
    reader_t reader = {.next = request + HEADER, .left = count - HEADER};
    typed_t arrays[ARRAYS];
    read_arrays(&reader, &problem, arrays);
    const attn_io_t io = {.struct_size = sizeof io,
                          .query = arrays[0].tensor,
                          .key = arrays[1].tensor,
                          .value = arrays[2].tensor,
                          .bias = arrays[3].tensor,
                          .mask = arrays[4].tensor,
                          .kv_lengths = arrays[5].tensor,
                          .sinks = arrays[6].tensor,
                          .slopes = arrays[7].tensor,
                          .key_scales = arrays[8].tensor,
                          .value_scales = arrays[9].tensor};
    double *answer = NULL;
    if (!reader.is_short && reader.left == 0) answer = answer_rows(&problem, &io, answer_count);
    for (int a = 0; a < ARRAYS; a++) typed_destroy(&arrays[a]);
    return answer;
}
