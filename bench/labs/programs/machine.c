/* labs/programs/machine.c: see machine.h. */
#include "labs/programs/machine.h"

#include "attn/support.h"
#include "labs/head.h"
#include "number/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- building -------------------------------------------------------------------------------------- */

void machine_init(machine_t *machine, int32_t inputs, int32_t one, int32_t position) {
    *machine = (machine_t){.width = inputs, .inputs = inputs, .one = one, .position = position};
}

static void layer_destroy(machine_layer_t *layer) {
    free(layer->inner.terms);
    free(layer->outer.terms);
    free(layer->query.terms);
    free(layer->key.terms);
    free(layer->value.terms);
    free(layer->qkv);
    attn_stream_destroy(layer->stream);
}

void machine_destroy(machine_t *machine) {
    for (int32_t l = 0; l < machine->count; l++) layer_destroy(&machine->layers[l]);
    free(machine->token);
    free(machine->hidden);
    *machine = (machine_t){.count = 0};
}

/* Layers that are too many share the last place: the machine then never begins. */
static machine_layer_t *add_layer(machine_t *machine, int beside) {
    if (machine->count == MACHINE_LAYERS)
        machine->failed = 1;
    else
        machine->count++;
    machine_layer_t *layer = &machine->layers[machine->count - 1];
    machine->steps += !beside;
    layer->first = machine->width;
    layer->step = machine->steps;
    return layer;
}

machine_layer_t *machine_perceptron(machine_t *machine) { return add_layer(machine, 0); }

machine_layer_t *machine_head(machine_t *machine, const char *backend, int32_t dim,
                              int32_t value_dim, int beside) {
    machine_layer_t *head = add_layer(machine, beside);
    head->backend = backend;
    head->dim = dim;
    head->outputs = value_dim;
    machine->width += value_dim;
    return head;
}

void machine_param(machine_layer_t *head, const char *name, int64_t value) {
    const int32_t i = head->param_count++;
    attn_format(head->values[i], sizeof head->values[i], "%lld", (long long)value);
    head->params[i] = (attn_param_t){name, head->values[i]};
}

/* Twice the room. (The modules of WebAssembly have no realloc().) */
static int grow(machine_map_t *map) {
    const int32_t room = map->room ? 2 * map->room : 64;
    machine_term_t *terms = malloc((size_t)room * sizeof *terms);
    if (!terms) return 0;
    if (map->count) memcpy(terms, map->terms, (size_t)map->count * sizeof *terms);
    free(map->terms);
    map->terms = terms;
    map->room = room;
    return 1;
}

void machine_weight(machine_t *machine, machine_map_t *map, int32_t row, int32_t column,
                    double weight) {
    if (map->count == map->room && !grow(map))
        machine->failed = 1;
    else
        map->terms[map->count++] = (machine_term_t){row, column, weight};
}

static machine_layer_t *last(machine_t *machine) { return &machine->layers[machine->count - 1]; }

int32_t machine_column(machine_t *machine) {
    last(machine)->outputs++;
    return machine->width++;
}

int32_t machine_neuron(machine_t *machine) { return last(machine)->neurons++; }

/* ---- running --------------------------------------------------------------------------------------- */

static attn_status_t no_memory(attn_error_t *error) {
    return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a transformer of explicit weights");
}

static attn_status_t begin_head(machine_layer_t *head, const attn_context_t *context,
                                int64_t length, attn_error_t *error) {
    attn_problem_t problem = head_problem(1, 1, head->dim, head->outputs);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    const size_t numbers = 2 * (size_t)head->dim + 2 * (size_t)head->outputs;
    head->qkv = malloc(numbers * sizeof *head->qkv);
    if (!head->qkv) return no_memory(error);
    head->out = head->qkv + 2 * head->dim + head->outputs;
    for (int32_t i = 0; i < head->param_count; i++) head->params[i].value = head->values[i];
    return attn_stream_create(context, head->backend, &problem, head->params,
                              (uint32_t)head->param_count, length, &head->stream, error);
}

attn_status_t machine_check(const machine_t *machine, attn_error_t *error) {
    return machine->failed ? no_memory(error) : ATTN_OK;
}

attn_status_t machine_begin(machine_t *machine, const attn_context_t *context, int64_t length,
                            attn_error_t *error) {
    int32_t neurons = 1;
    attn_status_t status = ATTN_OK;
    for (int32_t l = 0; l < machine->count; l++)
        if (machine->layers[l].neurons > neurons) neurons = machine->layers[l].neurons;
    machine->token = malloc((size_t)machine->width * sizeof *machine->token);
    machine->hidden = malloc((size_t)neurons * sizeof *machine->hidden);
    if (machine->failed || !machine->token || !machine->hidden) return no_memory(error);
    for (int32_t l = 0; l < machine->count && !status; l++)
        if (machine->layers[l].backend)
            status = begin_head(&machine->layers[l], context, length, error);
    return status;
}

attn_status_t machine_restart(machine_t *machine, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    machine->length = 0;
    for (int32_t l = 0; l < machine->count && !status; l++)
        if (machine->layers[l].stream)
            status = attn_stream_truncate(machine->layers[l].stream, 0, error);
    return status;
}

/* x times the normal distribution function. */
static double gelu(double x) { return x * 0.5 * erfc(-x * 0.70710678118654752440); }

static void add_product(const machine_map_t *map, const double *in, double *out) {
    for (int32_t i = 0; i < map->count; i++) {
        const machine_term_t *term = &map->terms[i];
        out[term->row] += term->weight * in[term->column];
    }
}

/* W_2 gelu(W_1 x); rows of the outer matrix are columns of the token. */
static void run_perceptron(const machine_t *machine, const machine_layer_t *layer) {
    double *hidden = machine->hidden;
    memset(hidden, 0, (size_t)layer->neurons * sizeof *hidden);
    memset(machine->token + layer->first, 0, (size_t)layer->outputs * sizeof *machine->token);
    add_product(&layer->inner, machine->token, hidden);
    for (int32_t h = 0; h < layer->neurons; h++) hidden[h] = gelu(hidden[h]);
    add_product(&layer->outer, hidden, machine->token);
}

/* Summed in double, then a float: the plugin's rounding is what else there is. */
static void project(const machine_map_t *map, const double *token, int32_t rows, float *out) {
    int32_t at = 0;
    for (int32_t row = 0; row < rows; row++) {
        double sum = 0;
        for (; at < map->count && map->terms[at].row == row; at++)
            sum += map->terms[at].weight * token[map->terms[at].column];
        out[row] = (float)sum;
    }
}

static attn_status_t run_head(const machine_t *machine, const machine_layer_t *head,
                              attn_error_t *error) {
    float *query = head->qkv, *key = query + head->dim, *value = key + head->dim;
    project(&head->query, machine->token, head->dim, query);
    project(&head->key, machine->token, head->dim, key);
    project(&head->value, machine->token, head->outputs, value);
    const attn_io_t token = {.struct_size = sizeof token,
                             .key = attn_tensor_bhnd(key, 1, 1, 1, head->dim),
                             .value = attn_tensor_bhnd(value, 1, 1, 1, head->outputs)};
    const attn_io_t asks = {.struct_size = sizeof asks,
                            .query = attn_tensor_bhnd(query, 1, 1, 1, head->dim),
                            .out = attn_tensor_bhnd(head->out, 1, 1, 1, head->outputs)};
    attn_status_t status = attn_stream_append(head->stream, &token, error);
    if (!status) status = attn_stream_query(head->stream, &asks, error);
    for (int32_t c = 0; c < head->outputs; c++)
        machine->token[head->first + c] = (double)head->out[c];
    return status;
}

attn_status_t machine_step(machine_t *machine, const double *token, double *answer,
                           attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    memcpy(machine->token, token, (size_t)machine->inputs * sizeof *token);
    machine->token[machine->position] = (double)++machine->length;
    machine->token[machine->one] = 1;
    for (int32_t l = 0; l < machine->count && !status; l++) {
        const machine_layer_t *layer = &machine->layers[l];
        if (layer->backend)
            status = run_head(machine, layer, error);
        else
            run_perceptron(machine, layer);
    }
    memcpy(answer, machine->token + machine->answer, (size_t)machine->outputs * sizeof *answer);
    return status;
}

/* ---- sizes ----------------------------------------------------------------------------------------- */

static double map_norm(const machine_map_t *map) {
    double norm = 0;
    for (int32_t i = 0; i < map->count; i++) norm = fmax(norm, fabs(map->terms[i].weight));
    return norm;
}

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

machine_size_t machine_size(const machine_t *machine) {
    machine_size_t size = {.width = machine->width};
    int32_t heads = 0, step = 0;
    for (int32_t l = 0; l < machine->count; l++) {
        const machine_layer_t *layer = &machine->layers[l];
        const machine_map_t *maps[] = {&layer->inner, &layer->outer, &layer->query, &layer->key,
                                       &layer->value};
        for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
            size.norm = fmax(size.norm, map_norm(maps[i]));
        size.width = larger(size.width, larger(layer->neurons, larger(layer->dim, layer->outputs)));
        size.perceptrons += !layer->backend;
        size.task += layer->task ? layer->neurons : 0;
        if (!layer->backend) continue;
        heads = layer->step == step ? heads + 1 : 1;
        size.attention += layer->step != step;
        step = layer->step;
        size.heads = larger(size.heads, heads);
    }
    return size;
}
