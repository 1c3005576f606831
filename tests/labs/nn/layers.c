/* The layers of the neural net against double precision: values, and gradients by differences of it. */
#include "numbers.h"

#include "attn/random.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- layer norm ------------------------------------------------------------------------------------ */

typedef struct row {
    int64_t width, at;
    const float *x, *gain, *bias, *dout;
} row_t;

/* The mean, and 1 / deviation, of a row whose element `at` is v. */
static void row_stats(const row_t *row, double v, double *mean, double *inverse) {
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < row->width; c++) sum += c == row->at ? v : (double)row->x[c];
    *mean = sum / (double)row->width;
    for (int64_t c = 0; c < row->width; c++)
        squares += pow((c == row->at ? v : (double)row->x[c]) - *mean, 2);
    *inverse = 1 / sqrt(squares / (double)row->width + (double)1e-5f);
}

/* sum dout * norm(x) */
static double row_loss(const void *data, double v) {
    const row_t *row = data;
    double mean, inverse, loss = 0;
    row_stats(row, v, &mean, &inverse);
    for (int64_t c = 0; c < row->width; c++) {
        const double x = c == row->at ? v : (double)row->x[c];
        loss += (double)row->dout[c] * ((x - mean) * inverse * (double)row->gain[c]);
    }
    return loss;
}

/* Element c of the normalised row, |.| of what it is made of: rounding is of these. */
static double row_unit(const row_t *row, int64_t c, double *size) {
    double mean, inverse, sizes = 0;
    row_stats(row, (double)row->x[0], &mean, &inverse);
    for (int64_t i = 0; i < row->width; i++) sizes += fabs((double)row->x[i]);
    *size = (fabs((double)row->x[c]) + sizes / (double)row->width) * inverse;
    return ((double)row->x[c] - mean) * inverse;
}

static void check_norm_row(row_t row, const float *out, const float *dx, const float *before) {
    const double roundings = (double)(4 * row.width + 16) * NUMBERS_U;
    double mean, inverse, g_sum = 0, gu_sum = 0, size;
    row.at = 0;
    row_stats(&row, (double)row.x[0], &mean, &inverse);
    for (int64_t c = 0; c < row.width; c++) {
        const double unit = row_unit(&row, c, &size), g = (double)(row.dout[c] * row.gain[c]);
        numbers_near((double)out[c], unit * (double)row.gain[c] + (double)row.bias[c],
                     roundings * (size * fabs((double)row.gain[c]) + fabs((double)row.bias[c])),
                     "norm", c);
        g_sum += fabs(g), gu_sum += fabs(g) * size;
    }
    for (row.at = 0; row.at < row.width; row.at++) {
        const int64_t c = row.at;
        const double width = (double)row.width, x = (double)row.x[c];
        row_unit(&row, c, &size);
        const double terms =
            fabs((double)row.dout[c] * (double)row.gain[c]) + g_sum / width + size * gu_sum / width;
        numbers_near((double)dx[c] - (double)before[c], numbers_slope(row_loss, &row, x),
                     roundings * (inverse * terms + fabs((double)dx[c]) + fabs((double)before[c])),
                     "gradient of norm", c);
    }
}

static void check_norm_sums(const row_t *rows, int64_t count, const float *dgain,
                            const float *dbias) {
    for (int64_t c = 0; c < rows[0].width; c++) {
        double gain = 1, gain_size = 1, bias = 1, bias_size = 1, size;
        for (int64_t r = 0; r < count; r++) {
            const double unit = row_unit(&rows[r], c, &size), d = (double)rows[r].dout[c];
            gain += d * unit, gain_size += fabs(d) * size;
            bias += d, bias_size += fabs(d);
        }
        const double roundings = (double)(4 * rows[0].width + count + 16) * NUMBERS_U;
        numbers_near((double)dgain[c], gain, roundings * gain_size, "gradient of gain", c);
        numbers_near((double)dbias[c], bias, roundings * bias_size, "gradient of bias", c);
    }
}

static void norms(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 2, 7, 16, 33, 128};
    enum { ROWS = 3 };
    const nn_kernels_t *k = numbers_kernels();
    for (size_t n = 0; n < TEST_COUNT(widths); n++) {
        const int64_t width = widths[n], count = ROWS * width;
        float *x = numbers_make(count, 1), *gain = numbers_make(width, 2);
        float *bias = numbers_make(width, 3), *dout = numbers_make(count, 4);
        float *out = numbers_make(count, 5), *stats = numbers_make(2 * ROWS, 6);
        float *dx = numbers_make(count, 7), *before = numbers_make(count, 7);
        float *dgain = numbers_make(width, 8), *dbias = numbers_make(width, 9);
        const nn_norm_t norm = {.rows = ROWS, .width = width, .gain = gain, .bias = bias};
        row_t rows[ROWS];
        test_label("norm of %" PRId64, width);
        for (int64_t c = 0; c < width; c++) dgain[c] = dbias[c] = 1;
        k->norm(&norm, x, out, stats);
        k->norm_backward(&norm, x, stats, dout, dx, dgain, dbias);
        for (int64_t r = 0; r < ROWS; r++) {
            rows[r] = (row_t){width, 0, x + r * width, gain, bias, dout + r * width};
            check_norm_row(rows[r], out + r * width, dx + r * width, before + r * width);
        }
        check_norm_sums(rows, ROWS, dgain, dbias);
        numbers_check(out, count, "norm"), numbers_check(dx, count, "dx");
        numbers_check(dgain, width, "dgain"), numbers_check(dbias, width, "dbias");
        free(x), free(gain), free(bias), free(dout), free(out), free(stats), free(dx), free(before);
        free(dgain), free(dbias);
    }
}

/* ---- GeLU ------------------------------------------------------------------------------------------ */

static double gelu_of(const void *data, double x) {
    (void)data;
    return numbers_gelu(x);
}

/* Rounding: of 1 + tanh, where tanh is near -1, against 1; 8 steps, tanh within 4e-7 (simd/math.h). */
static void gelus(void **state) {
    (void)state;
    enum { COUNT = 301 };
    const nn_kernels_t *k = numbers_kernels();
    float *x = numbers_make(COUNT, 1), *out = numbers_make(COUNT, 2);
    float *d = numbers_make(COUNT, 3), *before = numbers_make(COUNT, 3);
    for (int i = 0; i < COUNT; i++) x[i] *= i % 7 == 0 ? 20.0f : 2.0f;
    x[0] = 0;
    k->gelu(COUNT, x, out);
    k->gelu_backward(COUNT, x, d);
    for (int i = 0; i < COUNT; i++) {
        const double v = (double)x[i], size = fabs(v);
        const double roundings = 4e-7 + 16 * NUMBERS_U;
        numbers_near((double)out[i], gelu_of(NULL, v), roundings * (1 + 4 * size) * size, "gelu",
                     i);
        /* x (1 - t^2) loses what t has in common with 1, times the inner slope */
        const double slope = numbers_slope(gelu_of, NULL, v);
        const double steep = size * (1 + 0.134145 * v * v);
        numbers_near((double)d[i], (double)before[i] * slope,
                     roundings * fabs((double)before[i]) * (2 + 2 * steep), "gradient of gelu", i);
    }
    numbers_check(out, COUNT, "gelu"), numbers_check(d, COUNT, "gradient of gelu");
    free(x), free(out), free(d), free(before);
}

/* ---- cross-entropy --------------------------------------------------------------------------------- */

static void entropies(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 2, 17, 153};
    enum { ROWS = 4 };
    static const float scale = 0.25f;
    const nn_kernels_t *k = numbers_kernels();
    for (size_t n = 0; n < TEST_COUNT(widths); n++) {
        const int64_t classes = widths[n], count = ROWS * classes;
        const int32_t targets[ROWS] = {0, (int32_t)classes - 1, -1, (int32_t)classes / 2};
        float *logits = numbers_make(count, 1), *got = numbers_make(count, 1);
        double loss = 0, size = 0;
        for (int64_t c = 0; c < classes; c++) logits[c] += 300.0f, got[c] = logits[c];
        const double total = k->entropy(ROWS, classes, targets, scale, got);
        test_label("entropy of %" PRId64, classes);
        for (int64_t r = 0; r < ROWS; r++) {
            const float *row = logits + r * classes;
            double most = -INFINITY, sum = 0;
            for (int64_t c = 0; c < classes; c++) most = fmax(most, (double)row[c]);
            for (int64_t c = 0; c < classes; c++) sum += exp((double)row[c] - most);
            for (int64_t c = 0; c < classes; c++) {
                const double weight = exp((double)row[c] - most) / sum;
                const double one = c == targets[r] ? 1 : 0;
                const double expected = targets[r] < 0 ? 0 : (double)scale * (weight - one);
                /* the sum's roundings, exp()'s 2 ulp, and those of row - most, up to 8 */
                numbers_near((double)got[r * classes + c], expected,
                             (double)(classes + 16) * NUMBERS_U * (weight + one) * (double)scale,
                             "gradient of entropy", r * classes + c);
            }
            if (targets[r] < 0) continue;
            loss += log(sum) + most - (double)row[targets[r]];
            size += (double)(classes + 16) * NUMBERS_U + NUMBERS_U * fabs(most);
        }
        numbers_near(total, loss, size, "entropy", 0);
        numbers_check(got, count, "entropy");
        free(logits), free(got);
    }
}

/* ---- dropout --------------------------------------------------------------------------------------- */

/* The share that is dropped, what is kept, and the same again wherever one begins. */
static void dropouts(void **state) {
    (void)state;
    enum { COUNT = 40003 };
    const nn_kernels_t *k = numbers_kernels();
    const nn_dropout_t dropout = {.rate = 0.1f, .seed = test_seed(), .stream = 5};
    float *x = numbers_make(COUNT, 1), *again = numbers_make(COUNT, 1),
          *was = numbers_make(COUNT, 1);
    int64_t dropped = 0;
    k->dropout(&dropout, 7, COUNT, x);
    k->dropout(&dropout, 7, 8000, again);
    k->dropout(&dropout, 1007, COUNT - 8000, again + 8000);
    for (int64_t i = 0; i < COUNT; i++) {
        dropped += x[i] == 0.0f;
        if (x[i] != 0.0f)
            numbers_near((double)x[i], (double)was[i] * 65536 / (65536 - 6554),
                         2 * NUMBERS_U * fabs((double)x[i]), "kept", i);
        if (x[i] != again[i]) test_fail("element %" PRId64 " depends on where one begins", i);
    }
    /* 5 deviations of a binomial: one seed in 1.7 million */
    numbers_near((double)dropped, 0.1 * COUNT, 5 * sqrt(COUNT * 0.1 * 0.9) + 1, "dropped", 0);
    numbers_check(x, COUNT, "dropout");
    const nn_dropout_t none = {.rate = 0, .seed = 1};
    k->dropout(&none, 0, COUNT, was);
    float *same = numbers_make(COUNT, 1);
    assert_memory_equal(was, same, COUNT * sizeof *was);
    free(x), free(again), free(was), free(same);
}

/* ---- AdamW ----------------------------------------------------------------------------------------- */

static void steps(void **state) {
    (void)state;
    enum { COUNT = 37 };
    const nn_kernels_t *k = numbers_kernels();
    const nn_adamw_t a = {0.01f, 0.9f, 0.999f, 1e-8f, 0.01f, 0.271f, 0.002997001f};
    float *g = numbers_make(COUNT, 1), *w = numbers_make(COUNT, 2), *w0 = numbers_make(COUNT, 2);
    float *m = numbers_make(COUNT, 3), *m0 = numbers_make(COUNT, 3), *v = numbers_make(COUNT, 4);
    float *v0 = numbers_make(COUNT, 4);
    for (int i = 0; i < COUNT; i++) v[i] *= v[i], v0[i] = v[i];
    k->adamw(&a, COUNT, g, w, m, v);
    for (int i = 0; i < COUNT; i++) {
        const double b1 = (double)a.beta1, b2 = (double)a.beta2, gi = (double)g[i];
        const double first = b1 * (double)m0[i] + (1 - b1) * gi;
        const double second = b2 * (double)v0[i] + (1 - b2) * gi * gi;
        const double root = sqrt(second / (double)a.correction2) + (double)a.epsilon;
        const double terms = b1 * fabs((double)m0[i]) + (1 - b1) * fabs(gi);
        numbers_near((double)m[i], first, 4 * NUMBERS_U * terms, "first moment", i);
        /* 1 - 0.999 is off by a rounding of 1 */
        numbers_near((double)v[i], second, 5 * NUMBERS_U * (second + gi * gi), "second moment", i);
        const double change = first / (double)a.correction1 / root;
        const double lost =
            (8 * terms / (double)a.correction1 / root + 3 * fabs(change) * (1 + gi * gi / second)) *
            NUMBERS_U;
        const double rate = (double)a.rate, old = (double)w0[i];
        numbers_near((double)w[i], old - rate * (change + (double)a.decay * old),
                     rate * (lost + 4 * NUMBERS_U * fabs((double)a.decay * old)) +
                         2 * NUMBERS_U * fabs(old),
                     "weight", i);
    }
    numbers_check(w, COUNT, "weights"), numbers_check(m, COUNT, "m"), numbers_check(v, COUNT, "v");
    free(g), free(w), free(w0), free(m), free(m0), free(v), free(v0);
}

TEST_MAIN(cmocka_unit_test(norms), cmocka_unit_test(gelus), cmocka_unit_test(entropies),
          cmocka_unit_test(dropouts), cmocka_unit_test(steps))
