/*
 * Statements of the papers that need no figure: facts, claims and lemmas that hold for any numbers, tried on random ones.
 * bench/labs/statements.json names each of these cases.
 */
#include "attn/random.h"
#include "labs/head.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>

static uint64_t random_state = 1;

static double uniform(void) { return attn_random_uniform(test_seed(), 7, random_state++); }
static double between(double low, double high) { return low + (high - low) * uniform(); }
static double sign(void) { return uniform() < 0.5 ? -1 : 1; }

/* ---- arXiv:2310.11685: the tensor trick ------------------------------------------------------------- */

enum { N = 5, D = 3 };

/*
 * Fact A.1, Claims C.3 and C.5: row j0 of A1 X A2^T is block j0 of (A1 x A2) vec X, and the plugins' weights of queries
 * A1 X and keys A2 are u of it over its sum.
 */
static void tensors_are_products(void **state) {
    (void)state;
    static const attn_param_t lin[] = {{"feature_map", "lin"}};
    attn_context_t *context = fixture_context(1);
    float a1[N * D], a2[N * D], query[N * D], weights[N * N];
    double x[D * D], u[N];
    for (int i = 0; i < N * D; i++) a1[i] = (float)between(0.1, 1), a2[i] = (float)between(0.1, 1);
    for (int i = 0; i < D * D; i++) x[i] = between(0.1, 1);
    for (int i = 0; i < N * D; i++) {
        double sum = 0;
        for (int k = 0; k < D; k++) sum += (double)a1[i / D * D + k] * x[k * D + i % D];
        query[i] = (float)sum;
    }
    for (int kind = 0; kind < 2; kind++) {
        const attn_problem_t problem = head_problem(N, N, D, D);
        head_t head;
        assert_int_equal(head_create(context, kind ? "linear" : "softmax", &problem, lin,
                                     kind ? 1 : 0, &head, NULL),
                         ATTN_OK);
        assert_int_equal(head_weights(&head, query, a2, 0, N, weights, NULL), ATTN_OK);
        for (int j0 = 0; j0 < N; j0++) {
            double alpha = 0;
            for (int j1 = 0; j1 < N; j1++) {
                u[j1] = 0; /* row (j0, j1) of A1 x A2 times vec X */
                for (int k = 0; k < D * D; k++)
                    u[j1] += (double)a1[j0 * D + k / D] * (double)a2[j1 * D + k % D] * x[k];
                if (!kind) u[j1] = exp(u[j1]);
                alpha += u[j1];
            }
            for (int j1 = 0; j1 < N; j1++)
                assert_true(fabs((double)weights[j0 * N + j1] - u[j1] / alpha) < 64 * 0x1p-24);
        }
        head_destroy(&head);
    }
    attn_context_destroy(context);
}

/* ---- arXiv:2310.11685: sums with random signs -------------------------------------------------------- */

enum { TOKENS = 1000, DRAWS = 3000 };

/* f of a row of logits, by softmax or linear attention. */
static void normalise(const double *logits, int lin, double *f) {
    double sum = 0;
    for (int i = 0; i < TOKENS; i++) sum += f[i] = lin ? logits[i] : exp(logits[i]);
    for (int i = 0; i < TOKENS; i++) f[i] /= sum;
}

static double signed_sum(const double *f) {
    double sum = 0;
    for (int i = 0; i < TOKENS; i++) sum += sign() * f[i];
    return sum;
}

/* Logits of Definition 3.8. */
static void draw_logits(double *logits, int has_mark) {
    const double log_n = log(TOKENS);
    for (int i = 0; i < TOKENS; i++) logits[i] = between(1, 1.4) * log_n;
    if (has_mark) logits[(int)(uniform() * TOKENS)] = 4 * log_n;
}

/*
 * Lemmas 4.1 and 4.2, part 1: entries are at most 2 / n, 4 / n and n^-0.6, and by Hoeffding's inequality a sum passes
 * C sqrt(log(n / delta)) times the root of n times that with probability 2 (delta / n)^(C^2 / 2): C = 2, delta = 0.01.
 */
static void sums_with_signs_are_small(void **state) {
    (void)state;
    static double logits[TOKENS], f[TOKENS];
    const double width = 2 * sqrt(log(TOKENS / 0.01)), root = sqrt(TOKENS);
    const double most[] = {pow(TOKENS, -0.6), 2.0 / TOKENS, 4.0 / TOKENS};
    for (int kind = 0; kind < 3; kind++) { /* softmax, linear; D1's linear */
        for (int draw = 0; draw < DRAWS / 10; draw++) {
            draw_logits(logits, kind == 2);
            normalise(logits, kind > 0, f);
            for (int i = 0; i < TOKENS; i++) assert_true(f[i] <= most[kind]);
            for (int again = 0; again < 10; again++)
                assert_true(fabs(signed_sum(f)) <= width * most[kind] * root);
        }
    }
}

/* Lemma 4.2, parts 2 and 3: the mark's sign is the sum's, each with probability 1/2 (four standard deviations). */
static void a_mark_decides_a_sum(void **state) {
    (void)state;
    static double logits[TOKENS], f[TOKENS];
    int positive = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        draw_logits(logits, 1);
        normalise(logits, 0, f);
        const double sum = signed_sum(f);
        assert_true(fabs(sum) >= 0.25);
        positive += sum > 0;
    }
    assert_true(fabs(positive / (double)DRAWS - 0.5) < 4 * sqrt(0.25 / DRAWS));
}

/*
 * Lemma D.4, part 2, says that a row beside the mark's stays below (c + 0.1) s but with probability delta / poly(n). For
 * a1 >= 1 it has at least half of its weight on the mark, so that two signs of three alone take it above.
 */
static void lemma_d_4_part_2_is_false(void **state) {
    (void)state;
    const double a1 = 1.2, b = 0.2, c = 0.8;
    for (double n = 64; n < 1e12; n *= 8) {
        const double weight = pow(n, a1) / (pow(n, a1) + n - 1); /* u is n^(1 + a1) and n */
        /* the signs of a1 and c are +1, with probability 1/4; blocks are at their worst */
        assert_true(a1 * weight - b + c > c + 0.1);
    }
}

/* ---- arXiv:2304.13276 and arXiv:2304.04397 ------------------------------------------------------------ */

/* Facts 3.1, of exponentials, and 2.1. */
static void exponentials_keep_their_facts(void **state) {
    (void)state;
    for (int draw = 0; draw < DRAWS; draw++) {
        double x[N], off = 0, norm = 0, most = 0, largest = 0, length = 0, apart = 0;
        for (int i = 0; i < N; i++) {
            const double move = between(-0.01, 0.01);
            x[i] = between(-3, 3);
            off = fmax(off, fabs(move));
            length += x[i] * x[i];
            most = fmax(most, fabs(x[i]));
            largest = fmax(largest, exp(x[i]));
            norm += exp(2 * x[i]);
            apart += pow(exp(x[i]) - exp(x[i] + move), 2);
        }
        assert_true(most <= sqrt(length) && sqrt(length) <= sqrt(N) * most);
        assert_true(largest <= exp(sqrt(length)));
        assert_true(sqrt(apart) <= sqrt(norm) * 2 * off);
        const double small = between(-0.1, 0.1);
        assert_true(fabs(1 - exp(small)) <= 2 * fabs(small));
    }
}

/* Draw A with |A|_F <= R, which its spectral norm is at most, and x with |x| <= R; logits are A x. */
static double draw_products(double radius, double *logits) {
    double a[N * D], x[D], a_norm = 0, x_norm = 0;
    for (int i = 0; i < N * D; i++) a_norm += pow(a[i] = between(-1, 1), 2);
    for (int i = 0; i < D; i++) x_norm += pow(x[i] = between(-1, 1), 2);
    const double scale = radius * radius / sqrt(a_norm * x_norm);
    double alpha = 0;
    for (int i = 0; i < N; i++) {
        logits[i] = 0;
        for (int k = 0; k < D; k++) logits[i] += scale * a[i * D + k] * x[k];
        alpha += exp(logits[i]);
    }
    return alpha;
}

/* Lemma 3.3. */
static void normalisers_have_their_lower_bound(void **state) {
    (void)state;
    double logits[N];
    for (int draw = 0; draw < DRAWS; draw++) {
        const double radius = between(0.1, 5);
        assert_true(draw_products(radius, logits) >= exp(-radius * radius));
    }
}

/* Lemmas 5.4 and 7.4: f' - f = (1/alpha' - 1/alpha) exp' + (exp' - exp) / alpha. */
static void shifts_are_two_parts(void **state) {
    (void)state;
    double before[N], after[N];
    for (int draw = 0; draw < DRAWS; draw++) {
        const double alpha = draw_products(1.5, before), beta = draw_products(1.5, after);
        for (int i = 0; i < N; i++) {
            const double shift = exp(after[i]) / beta - exp(before[i]) / alpha;
            const double first = (1 / beta - 1 / alpha) * exp(after[i]);
            const double second = (exp(after[i]) - exp(before[i])) / alpha;
            assert_true(fabs(shift - first - second) < 1e-14 * exp(4));
        }
    }
}

/* The printed conditions, (1 - eps) B <= A <= (1 + eps) B and |A| <= r, without the conclusion |B| <= (1 + eps) r. */
static void lemma_3_1_is_false_as_printed(void **state) {
    (void)state;
    const double a = 0.1, b = 0.4, eps = 0.75, r = 0.1, slack = 1e-15;
    assert_true((1 - eps) * b <= a + slack && a <= (1 + eps) * b && a <= r);
    assert_true(b > (1 + eps) * r);
    /* and in the other direction they give it */
    for (int draw = 0; draw < DRAWS; draw++) {
        const double other = between((1 - eps) * a, (1 + eps) * a);
        assert_true(other <= (1 + eps) * r);
    }
}

TEST_MAIN(cmocka_unit_test(tensors_are_products), cmocka_unit_test(sums_with_signs_are_small),
          cmocka_unit_test(a_mark_decides_a_sum), cmocka_unit_test(lemma_d_4_part_2_is_false),
          cmocka_unit_test(exponentials_keep_their_facts),
          cmocka_unit_test(normalisers_have_their_lower_bound),
          cmocka_unit_test(shifts_are_two_parts), cmocka_unit_test(lemma_3_1_is_false_as_printed))
