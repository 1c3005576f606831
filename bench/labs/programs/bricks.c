/* labs/programs/bricks.c: see bricks.h. */
#include "labs/programs/bricks.h"

#include <math.h>

form_t form_of(int32_t column) { return (form_t){.count = 1, .columns = {column}, .weights = {1}}; }

form_t form_plus(form_t form, int32_t column, double weight) {
    form.columns[form.count] = column;
    form.weights[form.count++] = weight;
    return form;
}

form_t form_times(form_t form, double factor) {
    for (int32_t i = 0; i < form.count; i++) form.weights[i] *= factor;
    return form;
}

/* gelu(scale form), times weight into `out`. */
static void neuron(const bricks_t *bricks, int32_t out, double weight, form_t form, double scale) {
    machine_t *machine = bricks->machine;
    machine_layer_t *layer = &machine->layers[machine->count - 1];
    const int32_t number = machine_neuron(machine);
    for (int32_t i = 0; i < form.count; i++)
        if (form.weights[i] != 0)
            machine_weight(machine, &layer->inner, number, form.columns[i],
                           scale * form.weights[i]);
    machine_weight(machine, &layer->outer, out, number, weight);
}

void brick_relu(const bricks_t *bricks, int32_t out, double weight, form_t form) {
    const double sharp = fmax(1, 0.17 / bricks->eps);
    neuron(bricks, out, weight / sharp, form, sharp);
}

void brick_linear(const bricks_t *bricks, int32_t out, double weight, form_t form) {
    neuron(bricks, out, weight, form, 1);
    neuron(bricks, out, -weight, form, -1);
}

static form_t sum(form_t a, form_t b, double factor) {
    for (int32_t i = 0; i < b.count; i++) a = form_plus(a, b.columns[i], factor * b.weights[i]);
    return a;
}

/*
 * gelu(z) + gelu(-z) = sqrt(2 / pi) (z^2 - z^4 / 6 + ...), so that the difference of those of h (a + b) and h (a - b) is
 * sqrt(2 / pi) 4 h^2 a b, but for (2 M h)^4 / 6 of either.
 */
void brick_product(const bricks_t *bricks, int32_t out, double weight, form_t a, form_t b) {
    const double h = sqrt(bricks->eps) / (bricks->bound * bricks->bound);
    const double back = weight * sqrt(acos(-1) / 2) / (4 * h * h);
    for (int i = 0; i < 4; i++) {
        const double sign = i & 1 ? -1 : 1, other = i & 2 ? -1 : 1;
        neuron(bricks, out, other * back, sum(a, b, other), sign * h);
    }
}

void brick_step(const bricks_t *bricks, int32_t out, double weight, form_t form) {
    const int32_t one = bricks->machine->one;
    brick_relu(bricks, out, weight, form_plus(form_times(form, 3), one, -1));
    brick_relu(bricks, out, -weight, form_plus(form_times(form, 3), one, -2));
}

/* relu(x + c t) - relu(c t), t = flag - 1/2, is x where t = 1/2 and c >= 2 M, and 0 where t = -1/2. */
void brick_select(const bricks_t *bricks, int32_t out, int32_t flag, form_t a, form_t b) {
    const int32_t one = bricks->machine->one;
    for (int second = 0; second < 2; second++) {
        const double c = (second ? -4 : 4) * bricks->bound;
        const form_t gate = {.count = 2, .columns = {flag, one}, .weights = {c, -c / 2}};
        brick_relu(bricks, out, 1, sum(second ? b : a, gate, 1));
        brick_relu(bricks, out, -1, gate);
    }
}

void brick_block(const bricks_t *bricks, int32_t out, form_t form, int32_t size, int32_t blocks) {
    const int32_t one = bricks->machine->one;
    brick_linear(bricks, out, 1, form_of(one));
    for (int32_t j = 1; j < blocks; j++)
        brick_step(bricks, out, 1, form_plus(form, one, -(double)j * size));
}
