#include "ways.h"

#include "attn/support.h"
#include "embedding_kernels.h"

#include <math.h>

/* ---- the embedding and its checks ------------------------------------------------------------------------ */

/* F^(7/8): an eighth of F, on the scale of its logarithm, is what S2 may differ by. */
static double within(double factor) { return factor / sqrt(sqrt(sqrt(factor))); }

/*
 * As many buckets for each of X's rows that a normal S1 and S2 of them pass: eigenvalues of W2 are then within
 * ((1 + h) / (1 - 1/b))^2, h^2 = 2/b - 1/b^2, of 1 (Wachter, 1980): 1.6, 2.1, 2.9 and 4.9, and c is 1.8, 2.6, 4.4 and 8.1 at least.
 */
static int64_t buckets(double factor) {
    return factor < 3 ? 40 : factor < 5.5 ? 16 : factor < 11 ? 8 : 4;
}

/*
 * And of few rows, or for a small delta, as many as a normal S1 needs to be within c for a part 1 - delta: its least singular value
 * is less than 1 - sqrt(n / size) - t with probability exp(-size t^2 / 2) at most (Davidson and Szarek, 2001, Theorem II.13).
 */
static int64_t embedded_size(int64_t n, double factor, double delta) {
    const double shortfall = sqrt((double)n) + sqrt(2 * log(1 / delta));
    const double root = shortfall / (1 - 1 / sqrt(within(factor)));
    return attn_max(buckets(factor) * n, (int64_t)ceil(root * root));
}

double attn_scores_missed(const attn_scores_way_t *way) {
    const double v = 2 / (double)way->check_size, short_of = 1 - way->within / way->embedded;
    double part = 1;
    for (int64_t k = 0; k < way->checks; k++) part *= v / (v + short_of * short_of);
    return part;
}

/*
 * One check of as many features as that takes, but no more than a share of X's; else several. Their variance does not depend on
 * the places: 2, which are fewer sums, where features that stand alone share one of theirs with 1 of 8 others at most: with
 * several, good embeddings of such an X would not pass.
 */
static void add_checks(attn_scores_way_t *way, int64_t n, int64_t d, double delta) {
    enum { SHARE = 8, FEW = 2, APART = 8 * FEW * FEW };
    const double short_of = 1 - way->within / way->embedded;
    const double one = ceil(2 * (1 - delta) / (delta * short_of * short_of));
    way->check_size = attn_max(way->size, (int64_t)fmin(one, (double)(d / SHARE)));
    way->check_places =
        way->embedded >= 3 && APART * n <= way->check_size ? FEW : ATTN_EMBED_PLACES;
    way->checks = 1;
    while (attn_scores_missed(way) > delta) way->checks++;
}

/* ---- the JL matrix ----------------------------------------------------------------------------------------- */

/*
 * P(chi^2_k <= k / u) and P(chi^2_k >= k u) are at most exp(-k rate), the rates being (1/u - 1 + ln u) / 2 and
 * (u - 1 - ln u) / 2 (Chernoff); the first is the smaller one for u > 1.
 */
int64_t attn_jl_columns(int64_t features, double u, double delta) {
    const double rate = fmax(0, (1 / u - 1 + log(u)) / 2); /* but for rounding */
    const double columns = log(2 * (double)features / delta) / rate;
    return columns < 0x1p31 ? (int64_t)ceil(columns) : INT32_MAX;
}

/* ---- both ---------------------------------------------------------------------------------------------------- */

static attn_scores_way_t way_of(int64_t n, int64_t d, double embedded, double delta) {
    attn_scores_way_t way = {.embedded = embedded,
                             .within = within(embedded),
                             .size = embedded_size(n, embedded, delta),
                             .columns = n};
    add_checks(&way, n, d, delta);
    return way;
}

/* F^(5/8) for the embedding, the rest for the JL matrix. */
static attn_scores_way_t way_projected(int64_t n, int64_t d, double factor, double delta) {
    const double embedded = sqrt(factor) * sqrt(sqrt(sqrt(factor)));
    attn_scores_way_t way = way_of(n, d, embedded, delta);
    way.columns = attn_jl_columns(d, factor / embedded, delta);
    return way;
}

attn_scores_way_t attn_scores_way(int64_t n, int64_t d, double factor, double delta) {
    const attn_scores_way_t plain = way_of(n, d, factor, delta);
    const attn_scores_way_t projected = way_projected(n, d, factor, delta);
    return projected.columns < n &&
                   attn_scores_way_flops(&projected, n, d) < attn_scores_way_flops(&plain, n, d)
               ? projected
               : plain;
}

double attn_scores_way_flops(const attn_scores_way_t *way, int64_t n, int64_t d) {
    const double rows = (double)n, elements = rows * (double)d, checks = (double)way->checks;
    const double embedded = (double)way->size + checks * (double)way->check_size;
    const double triangle = rows * rows * rows * (1 + 4.0 / 3 * checks);
    const double scores = way->columns < n ? 2 * (double)way->columns : rows;
    const double places = ATTN_EMBED_PLACES + checks * (double)way->check_places;
    return 2 * places * elements + rows * rows * embedded + triangle + scores * elements;
}
