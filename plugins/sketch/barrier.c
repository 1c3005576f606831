/* Names are those of the paper of 2012, section 3. */
#include "barrier.h"

#include "algebra/dense.h"

#include <math.h>

/*
 * One barrier, at b: M = (b I - A)^-1 for the upper one, (A - b I)^-1 for the lower, and its potential tr M.
 * What a vector v takes of a barrier that moves on is v^T M^2 v / drop + sign v^T M v, M at the new place and
 * `drop` the change of the potential by the move alone.
 */
typedef struct barrier {
    double sign, place, step;
    double potential, drop;
    double *inverse; /* M, k x k */
} barrier_t;

/* All of it, and where each matrix is k x k unless it says otherwise. */
typedef struct sparsifier {
    const attn_features_t *features;
    const attn_basis_t *basis;
    barrier_t upper, lower;
    const attn_barrier_work_t *work;
    int64_t blocks;
    int is_triangle; /* N has nothing below its diagonal: D R^-1, where X has rank n */
} sparsifier_t;

/* ---- barriers ---------------------------------------------------------------------------------------- */

/* M at the barrier's place; positive definite while A is within. The potential is tr M. */
static int invert(const sparsifier_t *what, barrier_t *barrier) {
    const int64_t k = what->basis->rank;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++)
            what->work->inverted[i * k + j] =
                barrier->sign * ((i == j ? barrier->place : 0) - what->work->sum[i * k + j]);
    if (!algebra_invert(what->work->inverted, k, barrier->inverse)) return 0;
    barrier->potential = 0;
    for (int64_t i = 0; i < k; i++) barrier->potential += barrier->inverse[i * k + i];
    return 1;
}

/* The barrier moves on. */
static int move(const sparsifier_t *what, barrier_t *barrier) {
    const double before = barrier->potential;
    barrier->place += barrier->step;
    if (!invert(what, barrier)) return 0;
    barrier->drop = fabs(before - barrier->potential);
    return isfinite(barrier->drop) && barrier->drop > 0;
}

/* v^T M v and v^T M^2 v. */
static void measure(const barrier_t *barrier, const double *vector, int64_t k, double *plain,
                    double *squared) {
    *plain = *squared = 0;
    for (int64_t i = 0; i < k; i++) {
        const double along = algebra_dot(barrier->inverse + i * k, vector, k);
        *plain += along * vector[i];
        *squared += along * along;
    }
}

/*
 * A += w v v^T, and the potentials without another inverse: tr (M^-1 -+ w v v^T)^-1 = tr M +- w v^T M^2 v / (1 -+
 * w v^T M v) (Sherman and Morrison, 1950).
 */
static void add(sparsifier_t *what, const double *vector, double weight) {
    const int64_t k = what->basis->rank;
    barrier_t *barriers[] = {&what->upper, &what->lower};
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++)
            what->work->sum[i * k + j] += weight * vector[i] * vector[j];
    for (int b = 0; b < 2; b++) {
        double plain, squared;
        measure(barriers[b], vector, k, &plain, &squared);
        const double signed_weight = barriers[b]->sign * weight;
        barriers[b]->potential += signed_weight * squared / (1 - signed_weight * plain);
    }
}

/* ---- choosing --------------------------------------------------------------------------------------- */

/* The lower triangle of form += factor P^T P + sign N P, P = M N^T for a barrier: products of rows. */
static void add_form(const sparsifier_t *what, const barrier_t *barrier, double factor) {
    const int64_t n = what->basis->rows, k = what->basis->rank;
    double *p = what->work->room;
    memset(p, 0, (size_t)(k * n) * sizeof *p);
    for (int64_t i = 0; i < k; i++)
        for (int64_t c = 0; c < k; c++)
            algebra_add_multiple(p + i * n, barrier->inverse[i * k + c], what->work->turned + c * n,
                                 what->is_triangle ? c + 1 : n);
    for (int64_t i = 0; i < k; i++)
        for (int64_t r = 0; r < n; r++)
            algebra_add_multiple(what->work->form + r * n,
                                 factor * p[i * n + r] - what->work->turned[i * n + r], p + i * n,
                                 r + 1);
}

/*
 * The room of a vector between what the upper barrier allows, 1/w >= U = v^T M^2 v / drop + v^T M v, and what the
 * lower one asks for, 1/w <= L = v^T M^2 v / drop - v^T M v, is L - U: one quadratic form, and in x_j = features
 * it is N (...) N^T.
 */
static void fill_form(const sparsifier_t *what) {
    const int64_t n = what->basis->rows;
    memset(what->work->form, 0, (size_t)(n * n) * sizeof *what->work->form);
    add_form(what, &what->lower, 1 / what->lower.drop);
    add_form(what, &what->upper, -1 / what->upper.drop);
    for (int64_t r = 0; r < n; r++)
        for (int64_t s = 0; s < r; s++) what->work->form[r * n + s] *= 2;
}

/* The form of each feature of a block. */
static void room_of(const sparsifier_t *what, const attn_block_t *block, double *rooms) {
    const int64_t n = what->basis->rows;
    for (int64_t f = 0; f < block->width; f++) rooms[f] = 0;
    for (int64_t r = 0; r < block->count; r++) {
        const double *row = what->work->form + block->rows[r] * n;
        double along[ATTN_BLOCK_WIDTH] = {0};
        for (int64_t s = 0; s <= r; s++) {
            const double factor = row[block->rows[s]];
            const float *values = block->values + s * block->stride;
            for (int64_t f = 0; f < block->width; f++) along[f] += factor * (double)values[f];
        }
        for (int64_t f = 0; f < block->width; f++)
            rooms[f] += along[f] * (double)block->values[r * block->stride + f];
    }
}

/*
 * The feature with the most room: the barrier argument is that one has some. One has to be ahead by more than
 * rounding, so that among equal ones it is the first, whoever inverted the matrices.
 */
static int64_t most_room(const sparsifier_t *what) {
    double most = 0;
    int64_t best = -1;
    for (int64_t b = 0; b < what->blocks; b++) {
        const attn_block_t block = attn_block(what->features, what->work->firsts[b]);
        double rooms[ATTN_BLOCK_WIDTH];
        room_of(what, &block, rooms);
        for (int64_t f = 0; f < block.width; f++)
            if (rooms[f] > most * (1 + 0x1p-30)) most = rooms[f], best = block.first + f;
    }
    return best;
}

/* v_j = N^T x_j, and the weight in the middle of its room. */
static double weigh(const sparsifier_t *what, int64_t feature) {
    const int64_t k = what->basis->rank;
    const attn_block_t block = attn_block(what->features, feature);
    double above, below, upper, lower;
    memset(what->work->vector, 0, (size_t)k * sizeof(double));
    for (int64_t r = 0; r < block.count; r++) {
        const double value = (double)block.values[r * block.stride];
        const double *row = what->basis->matrix + block.rows[r] * k;
        for (int64_t i = 0; i < k; i++) what->work->vector[i] += value * row[i];
    }
    measure(&what->upper, what->work->vector, k, &above, &upper);
    measure(&what->lower, what->work->vector, k, &below, &lower);
    return 2 / (upper / what->upper.drop + above + lower / what->lower.drop - below);
}

/* ---- all of it ----------------------------------------------------------------------------------- */

/* Each step goes over all blocks: of a CSR, whose features may be many more than its elements, over those alone. */
static void list_blocks(sparsifier_t *what) {
    for (int64_t first = 0; first < what->features->x->columns;) {
        const attn_block_t block = attn_block(what->features, first);
        if (block.count) what->work->firsts[what->blocks++] = first;
        first += block.width;
    }
}

static void start(sparsifier_t *what) {
    const int64_t n = what->basis->rows, k = what->basis->rank;
    list_blocks(what);
    memset(what->work->sum, 0, (size_t)(k * k) * sizeof(double));
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < k; c++)
            what->work->turned[c * n + r] = what->basis->matrix[r * k + c];
}

void attn_barrier_take(attn_arena_t *arena, int64_t rows, int64_t columns, int64_t blocks,
                       attn_barrier_work_t *work) {
    const int64_t n = attn_min(rows, columns);
    const uint64_t line = (uint64_t)n * sizeof(double);
    double **const squares[] = {&work->sum,    &work->upper, &work->lower, &work->inverted,
                                &work->turned, &work->room,  &work->form};
    for (size_t s = 0; s < sizeof squares / sizeof *squares; s++)
        *squares[s] = attn_arena_take(arena, n, line);
    work->vector = attn_arena_take(arena, 1, line);
    work->firsts = attn_arena_take(arena, blocks, sizeof *work->firsts);
}

/* One feature more; 0 where rounding has closed the way. */
static int step(sparsifier_t *what, double *weights) {
    if (!move(what, &what->upper) || !move(what, &what->lower)) return 0;
    fill_form(what);
    const int64_t best = most_room(what);
    const double weight = best < 0 ? 0 : weigh(what, best);
    if (!(weight > 0)) return 0;
    add(what, what->work->vector, weight);
    weights[best] += weight;
    return 1;
}

/* Destroys A. Its eigenvalues are off by the rounding of so many terms, and of rotations. */
static void look_at(sparsifier_t *what, int64_t steps, double scale, attn_barrier_end_t *end) {
    const int64_t k = what->basis->rank;
    const double most = attn_barrier_distortion(k, steps) + 8 * (double)(steps + k) * 0x1p-53;
    algebra_eigenvalues(what->work->sum, k, what->work->vector);
    end->distortion = 0;
    end->keeps = 1;
    for (int64_t i = 0; i < k; i++) {
        const double off = fabs(scale * what->work->vector[i] - 1);
        end->distortion = fmax(end->distortion, off);
        end->keeps &= off <= most;
    }
}

void attn_barrier_weights(const attn_features_t *features, const attn_basis_t *basis, int64_t steps,
                          const attn_barrier_work_t *work, double *weights,
                          attn_barrier_end_t *end) {
    const double k = (double)basis->rank, root = sqrt((double)steps / k);
    sparsifier_t what = {
        .features = attn_basis_features(basis, features),
        .basis = basis,
        .upper = {.sign = 1,
                  .place = k * (root * root + root) / (root - 1),
                  .step = (root + 1) / (root - 1),
                  .inverse = work->upper},
        .lower = {.sign = -1, .place = -k * root, .step = 1, .inverse = work->lower},
        .work = work,
        .is_triangle = isfinite(basis->inverse_norm),
    };
    const int64_t count = features->x->columns;
    memset(weights, 0, (size_t)count * sizeof *weights);
    start(&what);
    const int goes_on = invert(&what, &what.upper) && invert(&what, &what.lower);
    end->steps = 0;
    while (goes_on && end->steps < steps && step(&what, weights)) end->steps++;
    const double scale = 2 / (what.upper.place + what.lower.place);
    for (int64_t j = 0; j < count; j++) weights[j] *= scale;
    look_at(&what, steps, scale, end);
}

double attn_barrier_flops(int64_t rows, int64_t columns, double steps) {
    const double n = (double)attn_min(rows, columns), d = (double)columns;
    return steps *
           (n * n * (d + 1) + 6 * n * n * n); /* forms of all features; two inverses, one form */
}

double attn_barrier_distortion(int64_t rank, int64_t steps) {
    const double q = (double)steps / (double)rank;
    return 2 * sqrt(q) / (q + 1);
}

double attn_barrier_steps(int64_t rank, double eps) { return ceil(4 * (double)rank / (eps * eps)); }
