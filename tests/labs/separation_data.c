/*
 * The data of the separation experiments: Definitions 3.8, D.1 and F.1 of arXiv:2310.11685, entry by
 * entry, and that signs and places are drawn as they should be.
 */
#include "separation_case.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>

static void check_entry(float entry, double expected, const char *what) {
    if (entry != (float)expected) test_fail("%s: %.9g, not %.9g", what, (double)entry, expected);
}

/** Definition 3.8. Returns the entry that is 4 log n. */
static int64_t check_regression(const separation_t *what, const separation_arrays_t *arrays) {
    const double log_n = log((double)what->n);
    int64_t mark = -1;
    for (int64_t i = 0; i < what->n; i++) {
        const double d0 = (double)arrays->key[2 * i], d1 = (double)arrays->key[2 * i + 1];
        assert_true(d0 > log_n - 1e-6 && d0 < 1.4 * log_n + 1e-6);
        if (fabs(d1 - 4 * log_n) < 1e-5) {
            assert_true(mark < 0);
            mark = i;
        } else
            assert_true(d1 > log_n - 1e-6 && d1 < 1.4 * log_n + 1e-6);
    }
    assert_true(mark >= 0 && what->tau == 0.25);
    return mark;
}

/** Definition D.1, X = I. Returns the marked row of D1. */
static int64_t check_self(const separation_t *what, const separation_arrays_t *arrays) {
    const double unit = sqrt(log((double)what->n));
    int64_t marks[2] = {-1, -1};
    for (int set = 0; set < 2; set++)
        for (int64_t i = 0; i < what->n; i++) {
            const float *row = arrays->key + (set * what->n + i) * what->d;
            if (row[0] != 0) {
                assert_true(marks[set] < 0);
                marks[set] = i;
                check_entry(row[0], what->a[set] * unit, "a sqrt(log n)");
            }
            for (int64_t k = 1; k < what->d - 1; k++)
                check_entry(row[k], k - 1 == i % (what->d - 2) ? 0.2 * unit : 0, "the blocks");
            check_entry(row[what->d - 1], 0.8 * unit, "c sqrt(log n)");
        }
    assert_true(marks[0] >= 0 && fabs(what->tau - 0.9 * unit) < 1e-12);
    return marks[1];
}

/** Definition F.1. Returns the marked key of D1. */
static int64_t check_cross(const separation_t *what, const separation_arrays_t *arrays) {
    const double log_n = log((double)what->n);
    int64_t marks[2] = {-1, -1}, rows[2] = {-1, -1};
    for (int set = 0; set < 2; set++)
        for (int64_t i = 0; i < what->n; i++) {
            const float *key = arrays->key + (set * what->n + i) * what->d;
            const float *query = arrays->query + (set * what->n + i) * what->d;
            if (key[0] != 0) {
                assert_true(marks[set] < 0 && key[0] == 1);
                marks[set] = i;
            }
            if (query[0] != 0) {
                assert_true(rows[set] < 0);
                rows[set] = i;
                check_entry(query[0], what->a[set] * log_n, "a log n");
            }
            for (int64_t k = 1; k < what->d; k++) {
                check_entry(key[k], k - 1 == i % (what->d - 1), "the blocks");
                check_entry(query[k], log_n, "log n");
            }
        }
    assert_true(marks[0] >= 0 && rows[0] >= 0 && rows[1] >= 0 && what->tau == 0.9);
    return marks[1];
}

/** All signs are +1 or -1, about half of each; marks are anywhere, and differ from trial to trial. */
static void data_are_the_definitions(void **state) {
    (void)state;
    static const struct {
        const char *panel, *settings;
        int64_t (*check)(const separation_t *what, const separation_arrays_t *arrays);
    } nets[] = {{"3b", "n=150", check_regression},
                {"4c", "n=150 d=13", check_self},
                {"7c", "n=150 d=13", check_cross}};
    enum { TRIALS = 300 };
    for (size_t s = 0; s < TEST_COUNT(nets); s++) {
        const lab_run_t run = case_run(nets[s].panel, nets[s].settings);
        const lab_point_t point = case_point(&run, 10);
        const separation_t what = separation_of(&point);
        const int64_t count = (nets[s].panel[0] == '3' ? what.n : what.d) * what.stride;
        double sum = 0, places = 0;
        test_label("panel %s", nets[s].panel);
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            const separation_arrays_t arrays = case_draw(&what, &point, trial);
            places += (double)nets[s].check(&what, &arrays);
            for (int64_t i = 0; i < count; i++) {
                assert_true(fabsf(arrays.signs[i]) == 1);
                sum += (double)arrays.signs[i];
            }
            case_release(&arrays);
        }
        assert_true(fabs(sum) <= 4 * sqrt(TRIALS * (double)count));
        /* A place in 0..n-1 has the variance (n^2 - 1) / 12. */
        const double n = (double)what.n, off = places / TRIALS - (n - 1) / 2;
        if (!(fabs(off) <= 4 * sqrt((n * n - 1) / 12 / TRIALS)))
            test_fail("marked places are off by %g on average", off);
    }
}

TEST_MAIN(cmocka_unit_test(data_are_the_definitions))
