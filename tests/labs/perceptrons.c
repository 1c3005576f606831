/*
 * Lemmas A.1 to A.7 of "Do Efficient Transformers Really Save Computation?", arXiv:2402.13934: what perceptrons of two
 * layers with GeLU do, with explicit weights, in double precision: numbers of neurons, errors and weights as they say.
 */
#include "attn/random.h"
#include "support/test.h"

#include <math.h>

enum { MOST_IN = 9, MOST_HIDDEN = 64, MOST_OUT = 9 };

/** out_o = sum_h outer[o][h] gelu(sum_k inner[h][k] in_k + bias[h]). */
typedef struct perceptron {
    int inputs, hidden, outputs;
    double inner[MOST_HIDDEN][MOST_IN], bias[MOST_HIDDEN], outer[MOST_OUT][MOST_HIDDEN];
} perceptron_t;

/* x times the normal distribution function. */
static double gelu(double x) { return x * 0.5 * erfc(-x / sqrt(2)); }

static double relu(double x) { return fmax(x, 0); }

static void run(const perceptron_t *net, double (*of)(double), const double *in, double *out) {
    double hidden[MOST_HIDDEN];
    for (int h = 0; h < net->hidden; h++) {
        double sum = net->bias[h];
        for (int k = 0; k < net->inputs; k++) sum += net->inner[h][k] * in[k];
        hidden[h] = of(sum);
    }
    for (int o = 0; o < net->outputs; o++) {
        out[o] = 0;
        for (int h = 0; h < net->hidden; h++) out[o] += net->outer[o][h] * hidden[h];
    }
}

static double norm(const perceptron_t *net) {
    double most = 0;
    for (int h = 0; h < net->hidden; h++) {
        most = fmax(most, fabs(net->bias[h]));
        for (int k = 0; k < net->inputs; k++) most = fmax(most, fabs(net->inner[h][k]));
        for (int o = 0; o < net->outputs; o++) most = fmax(most, fabs(net->outer[o][h]));
    }
    return most;
}

/* Lemma A.2: |relu(x) - gelu(l x) / l| <= 0.17 / l, the largest of x (1 - Phi(x)) being below 0.17. */
static perceptron_t smooth(perceptron_t net, double eps) {
    double sum = 0;
    for (int o = 0; o < net.outputs; o++) {
        double row = 0;
        for (int h = 0; h < net.hidden; h++) row += fabs(net.outer[o][h]);
        sum = fmax(sum, row);
    }
    const double sharp = fmax(1, 0.17 * sum / eps);
    for (int h = 0; h < net.hidden; h++) {
        net.bias[h] *= sharp;
        for (int k = 0; k < net.inputs; k++) net.inner[h][k] *= sharp;
        for (int o = 0; o < net.outputs; o++) net.outer[o][h] /= sharp;
    }
    return net;
}

static uint64_t random_state = 1;
static double between(double low, double high) {
    return low + (high - low) * attn_random_uniform(test_seed(), 8, random_state++);
}

/* ---- lemmas ---------------------------------------------------------------------------------------- */

/*
 * gelu(z) + gelu(-z) = z erf(z / sqrt 2) = sqrt(2 / pi) (z^2 - z^4 / 6 + ...), so that the difference of those of h (a + b)
 * and h (a - b) is sqrt(2 / pi) 4 h^2 a b, but for (2 M h)^4 / 6 of either.
 */
static void products(void **state) {
    (void)state;
    for (double bound = 0.5; bound < 100; bound *= 4)
        for (double eps = 1; eps > 1e-4; eps /= 10) {
            perceptron_t net = {.inputs = 2, .hidden = 4, .outputs = 1};
            const double h = sqrt(eps) / (bound * bound), back = sqrt(acos(-1) / 2) / (4 * h * h);
            for (int i = 0; i < 4; i++) {
                const double sign = i & 1 ? -1 : 1, other = i & 2 ? -1 : 1;
                net.inner[i][0] = sign * h, net.inner[i][1] = sign * other * h;
                net.outer[0][i] = other * back;
            }
            test_label("M = %g, eps = %g", bound, eps);
            for (int i = 0; i < 400; i++) {
                const double in[2] = {i < 4 ? (i & 1 ? -bound : bound) : between(-bound, bound),
                                      i < 4 ? (i & 2 ? -bound : bound) : between(-bound, bound)};
                double out;
                run(&net, gelu, in, &out);
                if (!(fabs(out - in[0] * in[1]) <= eps))
                    test_fail("off by %g", out - in[0] * in[1]);
            }
            assert_true(norm(&net) <= fmax(h, pow(bound, 4) / eps));
        }
}

static perceptron_t draw(int hidden, double bound) {
    perceptron_t net = {.inputs = 3, .hidden = hidden, .outputs = 2};
    for (int h = 0; h < hidden; h++) {
        net.bias[h] = between(-bound, bound);
        for (int k = 0; k < 3; k++) net.inner[h][k] = between(-bound, bound);
        for (int o = 0; o < 2; o++) net.outer[o][h] = between(-bound, bound);
    }
    return net;
}

static void rectifiers(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        const double bound = between(1, 20), eps = pow(10, -between(0, 6));
        const perceptron_t net = draw(1 + i % 20, bound), like = smooth(net, eps);
        test_label("M = %g, eps = %g", bound, eps);
        assert_true(norm(&like) <=
                    bound * fmax(1, bound * net.hidden / eps)); /* poly(M, 1 / eps) */
        for (int k = 0; k < 50; k++) {
            const double in[3] = {between(-9, 9), between(-9, 9), between(-9, 9)};
            double wanted[2], out[2];
            run(&net, relu, in, wanted);
            run(&like, gelu, in, out);
            for (int o = 0; o < 2; o++)
                if (!(fabs(out[o] - wanted[o]) <= eps + 1e-9))
                    test_fail("off by %g", out[o] - wanted[o]);
        }
    }
}

/* gelu(z) - gelu(-z) = z: two neurons an output, and no error but rounding. */
static void linear_maps(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        perceptron_t net = {.inputs = 4, .hidden = 2 * 3, .outputs = 3};
        for (int h = 0; h < 6; h++) net.outer[h / 2][h] = h % 2 ? -1 : 1;
        for (int h = 0; h < 6; h += 2)
            for (int k = 0; k < 4; k++) {
                net.inner[h][k] = between(-9, 9);
                net.inner[h + 1][k] = -net.inner[h][k];
            }
        double in[4], out[3];
        for (int k = 0; k < 4; k++) in[k] = between(-9, 9);
        run(&net, gelu, in, out);
        for (int o = 0; o < 3; o++) {
            double wanted = 0;
            for (int k = 0; k < 4; k++) wanted += net.inner[2 * o][k] * in[k];
            assert_true(fabs(out[o] - wanted) < 1e-12 * 400);
        }
    }
}

/* relu(x + c t) - relu(c t), c = 2 M / alpha, is x for t >= alpha and 0 for t <= -alpha: 2 d + 2 neurons. */
static void selections(void **state) {
    (void)state;
    enum { WIDTH = 3 };
    for (int i = 0; i < 300; i++) {
        const double bound = between(0.5, 20), alpha = between(0.01, 1),
                     eps = pow(10, -between(0, 5));
        const double c = 2 * bound / alpha;
        perceptron_t net = {.inputs = 2 * WIDTH + 1, .hidden = 2 * WIDTH + 2, .outputs = WIDTH};
        for (int h = 0; h < net.hidden; h++) {
            const int second = h >= WIDTH + 1, place = h % (WIDTH + 1);
            net.inner[h][2 * WIDTH] = second ? -c : c;
            if (place < WIDTH) net.inner[h][second * WIDTH + place] = 1;
            for (int o = 0; o < WIDTH; o++) net.outer[o][h] = place == WIDTH ? -1 : place == o;
        }
        const perceptron_t like = smooth(net, eps);
        const double t = (i & 1 ? -1 : 1) * between(alpha, 3);
        double in[2 * WIDTH + 1], out[WIDTH];
        for (int k = 0; k < 2 * WIDTH; k++) in[k] = between(-bound, bound);
        in[2 * WIDTH] = t;
        run(&like, gelu, in, out);
        for (int o = 0; o < WIDTH; o++)
            assert_true(fabs(out[o] - in[t < 0 ? WIDTH + o : o]) <= eps + 1e-9);
    }
}

/*
 * [k <= j] and [k >= j] for x within 1/3 of j, n outputs of 2 neurons each: relu(3 (x - k) + 2) - relu(3 (x - k) + 1).
 * (The proof has slopes of 2, with which x = j - 1/3 gives 5/6.)
 */
static void indicators(void **state) {
    (void)state;
    enum { COUNT = 8 };
    for (int less = 0; less < 2; less++) {
        perceptron_t net = {.inputs = 1, .hidden = 2 * COUNT, .outputs = COUNT};
        for (int h = 0; h < net.hidden; h++) {
            const int k = h / 2 + 1;
            const double slope = less ? 3 : -3;
            net.inner[h][0] = slope;
            net.bias[h] = -slope * k + (h % 2 ? 1 : 2);
            net.outer[h / 2][h] = h % 2 ? -1 : 1;
        }
        const perceptron_t like = smooth(net, 1e-4);
        for (int i = 0; i < 500; i++) {
            const int j = i % (COUNT + 1);
            const double off = i < 2 * COUNT ? (i & 1 ? 1 : -1) / 3.0 : between(-1, 1) / 3;
            double x = j + off, out[COUNT];
            run(&like, gelu, &x, out);
            for (int k = 1; k <= COUNT; k++)
                assert_true(fabs(out[k - 1] - (less ? k <= j : k >= j)) <= 1e-4 + 1e-9);
        }
    }
}

/* ceil(i / n), one less, and i's place in its block, for i within 1/4 of 1 to n^2: O(n) neurons. */
static void quotients(void **state) {
    (void)state;
    for (int n = 2; n <= 20; n++) {
        /* sum over j < n of [i > j n], the proof's slope, and i itself by a linear map */
        perceptron_t net = {.inputs = 1, .hidden = 2 * (n - 1) + 3, .outputs = 3};
        for (int h = 0; h < 2 * (n - 1); h++) {
            const double edge = (h / 2 + 1) * n;
            net.inner[h][0] = 2;
            net.bias[h] = -2 * edge - (h % 2 ? 1.5 : 0.5);
            const double step = h % 2 ? -1 : 1;
            net.outer[0][h] = net.outer[1][h] = step;
            net.outer[2][h] = -n * step;
        }
        const int one = 2 * (n - 1); /* relu(1) = 1; relu(x) and relu(-x), which is x */
        net.bias[one] = 1;
        net.outer[0][one] = 1;
        net.inner[one + 1][0] = 1, net.inner[one + 2][0] = -1;
        net.outer[2][one + 1] = 1, net.outer[2][one + 2] = -1;
        const perceptron_t like = smooth(net, 1e-3);
        for (int i = 1; i <= n * n; i++) {
            const double off = i % 3 == 0 ? 0.25 : i % 3 == 1 ? -0.25 : between(-0.25, 0.25);
            const double x = i + off;
            const int block = (i + n - 1) / n;
            double out[3];
            run(&like, gelu, &x, out);
            assert_true(fabs(out[0] - block) <= 1e-3 + 1e-9);
            assert_true(fabs(out[1] - (block - 1)) <= 1e-3 + 1e-9);
            assert_true(fabs(out[2] - (i + off - (block - 1) * n)) <= 1e-3 + 1e-9);
        }
    }
}

TEST_MAIN(cmocka_unit_test(products), cmocka_unit_test(rectifiers), cmocka_unit_test(linear_maps),
          cmocka_unit_test(selections), cmocka_unit_test(indicators), cmocka_unit_test(quotients))
