/*
 * A decode loop with a stream: a prompt comes in whole, then one token at a time. Each layer of a
 * model has one such stream; here a random projection stands for all that a model does beside attention.
 *
 *     cc decode.c $(pkg-config --cflags --libs attn) -lm && ./a.out
 */
#include <attn/attn.h>
#include <attn/random.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sixteen tokens of a prompt and twenty that follow; two query heads share a key/value head. */
enum { HEADS = 4, KV_HEADS = 2, DIM = 16, PROMPT = 16, TOKENS = 36, WIDTH = HEADS * DIM };

/* Tokens lie one behind the other, and in each its heads: "bnhd". */
static float query[TOKENS * WIDTH], key[TOKENS * KV_HEADS * DIM], value[TOKENS * KV_HEADS * DIM];
static float out[TOKENS * WIDTH];

static void check(attn_status_t status, const attn_error_t *error) {
    if (status == ATTN_OK) return;
    fprintf(stderr, "%s: %s\n", attn_status_name(status), error->message);
    exit(1);
}

/* Query, key and value of token t, from what attention said of the token before (NULL: none). */
static void next_token(int t, const float *before) {
    struct {
        float *to;
        int size;
    } parts[] = {{query + t * WIDTH, WIDTH},
                 {key + t * KV_HEADS * DIM, KV_HEADS * DIM},
                 {value + t * KV_HEADS * DIM, KV_HEADS * DIM}};
    for (unsigned p = 0; p < 3; p++)
        for (int i = 0; i < parts[p].size; i++) {
            double sum = attn_random_normal(p, (uint64_t)t, (uint64_t)i);
            for (int c = 0; before && c < WIDTH; c++)
                sum += (double)before[c] * attn_random_normal(10 + p, (uint64_t)c, (uint64_t)i) / 8;
            parts[p].to[i] = (float)tanh(sum);
        }
}

/* Tokens [first, first + count) go into the stream, and their queries are answered: each sees the
 * tokens up to its own. */
static void step(attn_stream_t *stream, int first, int count) {
    const int kv = first * KV_HEADS * DIM;
    attn_error_t error;
    attn_io_t tokens, question;
    attn_io_init(&tokens);
    tokens.key = attn_tensor_bnhd(key + kv, 1, KV_HEADS, count, DIM);
    tokens.value = attn_tensor_bnhd(value + kv, 1, KV_HEADS, count, DIM);
    check(attn_stream_append(stream, &tokens, &error), &error);

    attn_io_init(&question);
    question.query = attn_tensor_bnhd(query + first * WIDTH, 1, HEADS, count, DIM);
    question.out = attn_tensor_bnhd(out + first * WIDTH, 1, HEADS, count, DIM);
    check(attn_stream_query(stream, &question, &error), &error);
}

/* The largest difference from one causal run over all tokens. */
static double difference_from_one_run(const attn_context_t *context, attn_problem_t problem) {
    static float whole[TOKENS * WIDTH];
    attn_error_t error;
    attn_plan_t *plan;
    attn_io_t io;
    double largest = 0;
    problem.queries = problem.keys = TOKENS;
    check(attn_plan_create(context, "softmax", &problem, NULL, 0, &plan, &error), &error);
    attn_io_init(&io);
    io.query = attn_tensor_bnhd(query, 1, HEADS, TOKENS, DIM);
    io.key = attn_tensor_bnhd(key, 1, KV_HEADS, TOKENS, DIM);
    io.value = attn_tensor_bnhd(value, 1, KV_HEADS, TOKENS, DIM);
    io.out = attn_tensor_bnhd(whole, 1, HEADS, TOKENS, DIM);
    io.workspace_size = attn_plan_workspace_size(plan);
    io.workspace = aligned_alloc(ATTN_ALIGNMENT, (io.workspace_size + 63) / 64 * 64);
    check(attn_run(plan, &io, &error), &error);
    free(io.workspace);
    attn_plan_destroy(plan);
    for (int i = 0; i < TOKENS * WIDTH; i++)
        largest = fmax(largest, fabs((double)(out[i] - whole[i])));
    return largest;
}

int main(void) {
    attn_error_t error;
    attn_context_t *context;
    attn_stream_t *stream;
    attn_problem_t problem;
    check(attn_context_create(NULL, &context, &error), &error);
    attn_problem_init(&problem, 1, HEADS, 1, 1, DIM, DIM); /* a stream ignores queries and keys */
    problem.kv_heads = KV_HEADS;
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    check(attn_stream_create(context, "softmax", &problem, NULL, 0, TOKENS, &stream, &error),
          &error);

    for (int t = 0; t < PROMPT; t++) next_token(t, NULL);
    step(stream, 0, PROMPT); /* the prompt: many tokens at a time */
    for (int t = PROMPT; t < TOKENS; t++) {
        next_token(t, out + (t - 1) * WIDTH);
        step(stream, t, 1); /* then one by one */
    }
    printf("%d tokens in %d bytes\n", (int)attn_stream_length(stream),
           (int)attn_stream_memory(stream));

    /* Another way to go on from the prompt: a copy that forgets what came after it. */
    float said[WIDTH];
    attn_stream_t *other;
    memcpy(said, out + PROMPT * WIDTH, sizeof said);
    check(attn_stream_fork(stream, &other, &error), &error);
    check(attn_stream_truncate(other, PROMPT, &error), &error);
    step(other, PROMPT, 1);
    printf("the same token again gives the same answer: %s\n",
           memcmp(said, out + PROMPT * WIDTH, sizeof said) == 0 ? "yes" : "no");
    attn_stream_destroy(other);

    printf("largest difference from one run over all tokens: %.1e\n",
           difference_from_one_run(context, problem));
    attn_stream_destroy(stream);
    attn_context_destroy(context);
    return 0;
}
