#include "sparse.h"

#include "listed.h"

#include <string.h>

static int samples(const sketch_plan_t *plan) {
    return plan->method == ATTN_SKETCH_LEVERAGE && !plan->exact;
}

/* ---- leverage sampling --------------------------------------------------------------------------- */

static void lay_out_sparse_choice(const sketch_plan_t *plan, attn_arena_t *arena,
                                  attn_listed_scratch_t *scratch) {
    const attn_problem_t *problem = &plan->problem;
    attn_listed_scratch_take(arena, problem->queries, problem->dim, plan->elements, scratch);
}

void attn_sparse_scratch(const sketch_plan_t *plan, attn_arena_t *arena) {
    attn_listed_scratch_t scratch;
    if (samples(plan)) lay_out_sparse_choice(plan, arena, &scratch);
}

void attn_sparse_space(const sketch_plan_t *plan, attn_arena_t *arena, sketch_space_t *space) {
    const int64_t heads = plan->problem.batch * plan->problem.heads;
    if (!samples(plan)) return;
    space->firsts = attn_arena_take(arena, heads * plan->problem.dim, sizeof *space->firsts);
    space->nexts = attn_arena_take(arena, heads * plan->size, sizeof *space->nexts);
}

int64_t attn_sparse_scores(const sketch_plan_t *plan, const attn_io_t *io, int64_t head,
                           attn_arena_t *arena, double **scores) {
    const attn_csr_t x = attn_csr_of(&plan->problem, io);
    const int64_t rows = plan->problem.queries;
    attn_listed_scratch_t scratch;
    lay_out_sparse_choice(plan, arena, &scratch);
    *scores = scratch.dense.scores;
    return attn_listed_scores(&x, head * rows, rows, &scratch);
}

void attn_sparse_chain(const sketch_plan_t *plan, const sketch_space_t *space, int64_t head) {
    const attn_sketch_draw_t *draws = space->draws + head * plan->size;
    int32_t *firsts = space->firsts + head * plan->problem.dim;
    int32_t *nexts = space->nexts + head * plan->size;
    for (int64_t j = 0; j < plan->problem.dim; j++) firsts[j] = -1;
    for (int64_t t = plan->size - 1; t >= 0; t--) {
        nexts[t] = firsts[draws[t].feature];
        firsts[draws[t].feature] = (int32_t)t;
    }
}

/* ---- elements into a sketch ---------------------------------------------------------------------- */

static void add_hadamard(const attn_sketch_srht_t *srht, const sketch_elements_t *row) {
    for (int64_t i = 0; i < row->count; i++) {
        const int64_t feature = row->features[i];
        const float value = row->values[i] * srht->weights[feature];
        for (int64_t t = 0; t < row->size; t++)
            row->out[t] += attn_sketch_is_turned(feature, srht->columns[t]) ? -value : value;
    }
}

/* Of the table or, where X has fewer elements than features, drawn for each. */
static const attn_sketch_entry_t *entries_of(const sketch_plan_t *plan, int64_t feature,
                                             attn_sketch_entry_t *drawn) {
    const attn_sketch_part_t part = {feature, 1, plan->size, plan->seed};
    if (plan->entries) return plan->entries + feature * plan->sparsity;
    attn_sketch_osnap(drawn, &part, plan->sparsity);
    return drawn;
}

static void add_entries(const sketch_plan_t *plan, const sketch_elements_t *row) {
    attn_sketch_entry_t drawn[ATTN_SKETCH_MOST_SPARSITY];
    for (int64_t i = 0; i < row->count; i++) {
        const attn_sketch_entry_t *entries = entries_of(plan, row->features[i], drawn);
        for (int64_t e = 0; e < plan->sparsity; e++)
            row->out[entries[e].column] += entries[e].weight * row->values[i];
    }
}

static void add_draws(const sketch_plan_t *plan, const sketch_space_t *space, int64_t head,
                      const sketch_elements_t *row) {
    const attn_sketch_draw_t *draws = space->draws + head * plan->size;
    const int32_t *firsts = space->firsts + head * plan->problem.dim;
    const int32_t *nexts = space->nexts + head * plan->size;
    for (int64_t i = 0; i < row->count; i++)
        for (int32_t t = firsts[row->features[i]]; t >= 0; t = nexts[t])
            row->out[t] = draws[t].weight * row->values[i];
}

typedef struct listing {
    const sketch_plan_t *plan;
    const attn_csr_t *x;
    const sketch_space_t *space;
    int64_t first, count; /* rows */
} listing_t;

static void sketch_listed(void *data, int64_t task, uint32_t worker) {
    const listing_t *listing = data;
    const sketch_plan_t *plan = listing->plan;
    const attn_csr_t *x = listing->x;
    const int64_t done = task * SKETCH_ROWS, left = listing->count - done;
    const int64_t first = listing->first + done;
    (void)worker;
    for (int64_t r = first; r < first + (left < SKETCH_ROWS ? left : SKETCH_ROWS); r++) {
        const int64_t start = x->starts[r];
        const sketch_elements_t row = {.count = x->starts[r + 1] - start,
                                       .size = plan->size,
                                       .features = x->indices + start,
                                       .values = x->data + start,
                                       .out = listing->space->query + r * plan->size};
        if (plan->matrix) {
            plan->kernels->elements(&row, plan->matrix);
            continue;
        }
        memset(row.out, 0, (size_t)row.size * sizeof *row.out);
        if (samples(plan))
            add_draws(plan, listing->space, r / plan->problem.queries, &row);
        else if (attn_sketch_scatters(plan))
            add_entries(plan, &row);
        else
            add_hadamard(&plan->srht, &row);
    }
}

attn_status_t attn_sketch_sparse(const sketch_plan_t *plan, const attn_io_t *io,
                                 const sketch_space_t *space, int64_t first_head, int64_t heads,
                                 attn_error_t *error) {
    const attn_csr_t x = attn_csr_of(&plan->problem, io);
    attn_status_t status = attn_csr_check(&x, error);
    if (status == ATTN_OK && samples(plan))
        status = attn_sketch_sample(plan, io, space, first_head, heads, error);
    if (status != ATTN_OK) return status;
    const int64_t rows = plan->problem.queries;
    listing_t listing = {plan, &x, space, first_head * rows, heads * rows};
    attn_host_parallel_for(plan->host, (listing.count - 1) / SKETCH_ROWS + 1, sketch_listed,
                           &listing);
    return ATTN_OK;
}
