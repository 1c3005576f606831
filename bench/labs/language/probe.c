/* language/probe.c: see probe.h. */
#include "labs/language/probe.h"

#include "attn/random.h"
#include "attn/support.h"
#include "labs/language/bits.h"

#include <stdlib.h>
#include <string.h>

typedef struct work {
    const model_t *model;
    nn_pass_t pass;
    int32_t *tokens, *targets; /* of a context */
    float *rows;               /* a head's weights: length x length */
    float *weights;            /* the model's, which lose a head */
} work_t;

static attn_status_t open_work(const model_t *model, work_t *work, attn_error_t *error) {
    const size_t length = (size_t)model->net.shape.length, count = (size_t)model->net.layout.count;
    *work = (work_t){.model = model,
                     .tokens = malloc(2 * length * sizeof *work->tokens),
                     .rows = malloc(length * length * sizeof *work->rows),
                     .weights = malloc(count * sizeof *work->weights)};
    if (!work->tokens || !work->rows || !work->weights)
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory to look at heads");
    work->targets = work->tokens + length;
    memcpy(work->weights, model->weights, count * sizeof *work->weights);
    return nn_pass_create(&model->net, model->weights, 1, &work->pass, error);
}

static void close_work(work_t *work) {
    nn_pass_destroy(&work->pass);
    free(work->tokens), free(work->rows), free(work->weights);
}

/* ---- where the weight goes ------------------------------------------------------------------------- */

/* All rows of a head of the pass that was last. */
static attn_status_t weigh(work_t *work, int64_t layer, int64_t head, attn_error_t *error) {
    const nn_net_t *net = &work->model->net;
    const int64_t length = net->shape.length;
    float *qkv = work->pass.blocks[layer].qkv;
    const attn_io_t io = {.struct_size = sizeof io,
                          .query = nn_heads(net, qkv, 1, length, 0, 3),
                          .key = nn_heads(net, qkv, 1, length, 1, 3),
                          .value = nn_heads(net, qkv, 1, length, 2, 3),
                          .workspace = work->pass.workspace,
                          .workspace_size = work->pass.workspace_size};
    return attn_weights(net->plan, &io, 0, head, 0, length, work->rows, length, error);
}

/* The mean of row i's weight on key i - back; rows from `from` on. */
static double mean_behind(const work_t *work, int64_t from, int64_t back) {
    const int64_t length = work->model->net.shape.length;
    double sum = 0;
    for (int64_t i = from; i < length; i++) sum += (double)work->rows[i * length + i - back];
    return sum / (double)(length - from);
}

static double mean_first(const work_t *work) {
    const int64_t length = work->model->net.shape.length;
    double sum = 0;
    for (int64_t i = PROBE_FIRST; i < length; i++) sum += (double)work->rows[i * length];
    return sum / (double)(length - PROBE_FIRST);
}

/* What a piece of text adds to the means of `pieces`. */
static void add_text(const work_t *work, double pieces, probe_head_t *head) {
    head->previous += mean_behind(work, PROBE_FIRST, 1) / pieces;
    head->diagonal += mean_behind(work, PROBE_FIRST, 0) / pieces;
    head->first += mean_first(work) / pieces;
    for (int64_t back = 0; back < PROBE_LOCAL; back++)
        head->local += mean_behind(work, PROBE_FIRST, back) / pieces;
}

/* The second half is the first again: what followed the same token then. */
static void add_repeated(const work_t *work, double sequences, probe_head_t *head) {
    const int64_t half = work->model->net.shape.length / 2;
    head->induction += mean_behind(work, half, half - 1) / sequences;
}

static attn_status_t look(work_t *work, void (*add)(const work_t *, double, probe_head_t *),
                          double count, probe_t *probe, attn_error_t *error) {
    const nn_shape_t *shape = &work->model->net.shape;
    attn_status_t status = nn_forward(&work->pass, work->tokens, 1, error);
    for (int64_t h = 0; h < shape->layers * shape->heads && !status; h++) {
        status = weigh(work, h / shape->heads, h % shape->heads, error);
        if (!status) add(work, count, &probe->heads[h]);
    }
    return status;
}

static attn_status_t look_at_text(work_t *work, const corpus_part_t *text, int64_t pieces,
                                  probe_t *probe, attn_error_t *error) {
    const nn_net_t *net = &work->model->net;
    attn_status_t status = ATTN_OK;
    for (int64_t p = 0; p < pieces && !status; p++) {
        memcpy(work->tokens, language_piece(net, text, pieces, p),
               (size_t)net->shape.length * sizeof *work->tokens);
        status = look(work, add_text, (double)pieces, probe, error);
    }
    return status;
}

/* ---- random tokens that come twice ----------------------------------------------------------------- */

/* Half a context of tokens, the same again, and of an odd one a last token that nothing is made of. */
static void draw_repeated(const work_t *work, uint64_t number) {
    const int64_t length = work->model->net.shape.length, half = length / 2;
    const uint64_t vocabulary = (uint64_t)work->model->net.shape.vocabulary;
    for (int64_t i = 0; i < length; i++) {
        const uint64_t bits =
            attn_random_u64(number, 0x70726f62, (uint64_t)(i % half)); /* "prob" */
        work->tokens[i] = (int32_t)((bits >> 32) * vocabulary >> 32);
    }
}

/* The mean of -log probability of tokens (from, until], each from those before. */
static double loss_within(work_t *work, int64_t from, int64_t until) {
    const nn_shape_t *shape = &work->model->net.shape;
    for (int64_t i = 0; i < shape->length; i++)
        work->targets[i] = i >= from && i < until ? work->tokens[i + 1] : -1;
    return work->model->net.kernels->entropy(until - from, shape->vocabulary, work->targets + from,
                                             1, work->pass.logits + from * shape->vocabulary) /
           (double)(until - from);
}

static attn_status_t look_at_repeated(work_t *work, probe_t *probe, attn_error_t *error) {
    const int64_t half = work->model->net.shape.length / 2;
    attn_status_t status = ATTN_OK;
    for (uint64_t s = 0; s < PROBE_REPEATED && !status; s++) {
        draw_repeated(work, s);
        status = look(work, add_repeated, PROBE_REPEATED, probe, error);
        if (status) return status;
        probe->once += loss_within(work, 0, half - 1) / PROBE_REPEATED;
        probe->twice += loss_within(work, half, 2 * half - 1) / PROBE_REPEATED;
    }
    return status;
}

/* ---- without a head -------------------------------------------------------------------------------- */

/* Rows of Wo that take what the head attended become 0. */
static void remove_head(work_t *work, int64_t layer, int64_t head) {
    const nn_layout_t *layout = &work->model->net.layout;
    const nn_linear_t *out = &layout->blocks[layer].out;
    memset(work->weights + out->weight + head * layout->dim * out->out, 0,
           (size_t)(layout->dim * out->out) * sizeof *work->weights);
}

static void restore_layer(work_t *work, int64_t layer) {
    const nn_linear_t *out = &work->model->net.layout.blocks[layer].out;
    memcpy(work->weights + out->weight, work->model->weights + out->weight,
           (size_t)(out->in * out->out) * sizeof *work->weights);
}

static attn_status_t look_without(work_t *work, const corpus_part_t *text, int64_t pieces,
                                  probe_t *probe, attn_error_t *error) {
    const nn_net_t *net = &work->model->net;
    const int64_t heads = net->shape.heads;
    attn_status_t status = language_loss(net, work->weights, text, pieces, &probe->loss, error);
    for (int64_t h = 0; h < net->shape.layers * heads && !status; h++) {
        remove_head(work, h / heads, h % heads);
        status = language_loss(net, work->weights, text, pieces, &probe->heads[h].loss, error);
        restore_layer(work, h / heads);
    }
    return status;
}

/* ---- all ------------------------------------------------------------------------------------------- */

attn_status_t probe_model(const model_t *model, const corpus_part_t *text, int64_t pieces,
                          probe_t *probe, attn_error_t *error) {
    const nn_shape_t *shape = &model->net.shape;
    const int64_t least = 2 * PROBE_FIRST;
    probe_head_t *heads = probe->heads;
    work_t work;
    *probe = (probe_t){.heads = heads};
    memset(heads, 0, (size_t)(shape->layers * shape->heads) * sizeof *heads);
    if (shape->length < least)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "a context of %lld tokens, expected %lld or more to look at heads",
                         (long long)shape->length, (long long)least);
    attn_status_t status = open_work(model, &work, error);
    if (!status) status = look_without(&work, text, pieces, probe, error);
    if (!status) status = look_at_text(&work, text, pieces, probe, error);
    if (!status) status = look_at_repeated(&work, probe, error);
    close_work(&work);
    return status;
}

const char *probe_name(const probe_head_t *head) {
    const struct {
        double score;
        const char *name;
    } names[] = {{head->previous, "previous token"},
                 {head->diagonal, "itself"},
                 {head->first, "first token"},
                 {head->induction, "induction"},
                 {head->local, "local"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].score >= PROBE_NAMED) return names[i].name;
    return "";
}
