/* Linear attention over ranks: every rule, with and without a normaliser, against the oracle of the whole sequence. */
#include "ranks.h"

#include "linear/trial_gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays ------------------------------------------------------------------------------------ */

/* What a rank brings: views of the whole, whose rows are contiguous. */
typedef struct part {
    attn_mpi_rows_t queries, keys;
    attn_tensor_t own[OWN];
    const attn_tensor_t *tensors[OWN];
    attn_io_t io;
} part_t;

static attn_tensor_t rows_of(const attn_tensor_t *tensor, const attn_mpi_rows_t *rows) {
    return rows->total ? trial_rows(tensor, rows->first[0], rows->total)
                       : (attn_tensor_t){.data = NULL};
}

static void make_part(part_t *part, trial_t *trial, const attn_mpi_plan_t *plan) {
    attn_mpi_query_rows(plan, ranks_rank(), &part->queries);
    attn_mpi_key_rows(plan, ranks_rank(), &part->keys);
    part->io = trial->io;
    part->io.query = rows_of(&trial->query.tensor, &part->queries);
    part->io.key = rows_of(&trial->key.tensor, &part->keys);
    part->io.value = rows_of(&trial->value.tensor, &part->keys);
    part->io.out = rows_of(&trial->out.tensor, &part->queries);
    for (int a = 0; a < OWN; a++) {
        part->tensors[a] = trial->tensors[a];
        if (!trial->tensors[a] || a > BETA) continue;
        part->own[a] = rows_of(trial->tensors[a], &part->keys);
        part->tensors[a] = &part->own[a];
    }
    part->io.own = part->tensors;
}

/* attn_mpi_query_rows() or attn_mpi_key_rows(). */
typedef int32_t rows_fn(const attn_mpi_plan_t *plan, int32_t rank, attn_mpi_rows_t *rows);

/* Every rank's rows of an array become those of all ranks: one message a rank, as some MPIs wait busily. */
static void gather(typed_t *array, const attn_mpi_plan_t *plan, rows_fn *get_rows) {
    enum { MOST = 1 << 14 };
    static double numbers[MOST];
    const attn_tensor_t *out = &array->tensor;
    attn_mpi_rows_t rows;
    for (int rank = 0; rank < ranks_size(); rank++) {
        int count = 0;
        get_rows(plan, rank, &rows);
        for (int turn = 0; turn < 2; turn++, count = 0) {
            for (int64_t b = 0; b < out->shape[0]; b++)
                for (int64_t h = 0; h < out->shape[1]; h++)
                    for (int64_t i = rows.first[0]; i < rows.first[0] + rows.total; i++)
                        for (int64_t c = 0; c < out->shape[3]; c++, count++) {
                            assert_true(count < MOST);
                            if (turn)
                                typed_set(array, b, h, i, c, numbers[count]);
                            else
                                numbers[count] = typed_get(out, b, h, i, c);
                        }
            if (!turn) MPI_Bcast(numbers, count, MPI_DOUBLE, rank, MPI_COMM_WORLD);
        }
    }
}

/* ---- results ----------------------------------------------------------------------------------- */

static attn_mpi_plan_t *plan_of(const trial_t *trial) {
    char settings[160], words[160];
    attn_param_t params[8];
    uint32_t count = 0;
    attn_mpi_plan_t *plan = NULL;
    attn_error_t error = {0};
    snprintf(words, sizeof words, "%s", trial_settings(trial, settings));
    for (char *word = strtok(words, ","); word; word = strtok(NULL, ",")) {
        char *value = strchr(word, '=');
        *value++ = 0;
        params[count++] = (attn_param_t){word, value};
    }
    if (attn_mpi_plan_create(trial->context, MPI_COMM_WORLD, "linear", &trial->problem, params,
                             count, NULL, &plan, &error))
        test_fail("attn_mpi_plan_create: %s", error.message);
    return plan;
}

static void check(trial_t *trial) {
    part_t part;
    attn_error_t error = {0};
    trial_make(trial);
    trial_label(trial);
    attn_mpi_plan_t *plan = plan_of(trial);
    make_part(&part, trial, plan);
    if (attn_mpi_run(plan, &part.io, &error)) test_fail("attn_mpi_run: %s", error.message);
    gather(&trial->out, plan, attn_mpi_query_rows);
    trial_compare(trial);
    attn_mpi_plan_destroy(plan);
    trial_drop(trial);
}

/** All rules of causal attention: each rank goes on where the one before it ended. */
static void states_are_passed_on(void **state) {
    attn_context_t *context = fixture_context(1);
    (void)state;
    for (int rule = 0; rule < RULES_COUNT; rule++)
        for (int map = 0; map < MAPS_COUNT; map++)
            for (int variant = 0; variant < 4; variant++) {
                attn_problem_t problem =
                    fixture_problem(2, 4, variant == 3 ? 2 : 41, 0, 5, variant == 1 ? 1 : 7);
                problem.keys = problem.queries;
                problem.kv_heads = variant % 2 ? 2 : 4;
                problem.causal = variant ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_BOTTOM_RIGHT;
                if (variant == 2) problem.inputs = ATTN_INPUT_KV_LENGTHS;
                const int normalise = !is_delta(rule) && variant != 1;
                if (normalise && map == 1)
                    continue; /* lin's sums cancel: a normaliser of nothing */
                trial_t trial = trial_of(context, &problem, map, rule, normalise);
                trial.with_state = variant % 2;
                if (variant == 1 && is_gated(rule)) trial.decay_by = DECAY_RETNET;
                if (variant == 2 && is_gated(rule)) trial.decay_by = DECAY_BY_HEAD;
                if (is_wide(map) && trial.decay_by == DECAY_BY_COLUMN)
                    trial.decay_by = DECAY_BY_HEAD;
                if (test_takes_case()) check(&trial);
            }
    attn_context_destroy(context);
}

/** Every query with the sum of all ranks' states. */
static void states_are_added(void **state) {
    static const int64_t sizes[][2] = {{41, 41}, {3, 50}, {50, 3}, {1, 1}};
    attn_context_t *context = fixture_context(1);
    (void)state;
    for (int map = 0; map < MAPS_COUNT; map++)
        for (size_t i = 0; i < TEST_COUNT(sizes); i++) {
            attn_problem_t problem = fixture_problem(2, 4, sizes[i][0], sizes[i][1], 5, 7);
            problem.kv_heads = i % 2 ? 2 : 4;
            if (i == 1) problem.inputs = ATTN_INPUT_KV_LENGTHS;
            trial_t trial = trial_of(context, &problem, map, 0, map != 1);
            trial.with_state = i == 2;
            if (test_takes_case()) check(&trial);
        }
    attn_context_destroy(context);
}

/* ---- gradients ----------------------------------------------------------------------------------- */

/* States are whole: each rank has an array of its own for their gradient. */
static void check_back(trial_t *trial) {
    part_t part;
    way_back_t way;
    attn_io_t gradients;
    attn_error_t error = {0};
    trial_make(trial);
    way_make(&way, trial);
    trial_label(trial);
    attn_mpi_plan_t *plan = plan_of(trial);
    make_part(&part, trial, plan);
    if (attn_mpi_run(plan, &part.io, &error)) test_fail("attn_mpi_run: %s", error.message);
    gradients = way.io;
    gradients.out = rows_of(&way.out.tensor, &part.queries);
    gradients.query = rows_of(&way.query.tensor, &part.queries);
    gradients.key = rows_of(&way.key.tensor, &part.keys);
    gradients.value = rows_of(&way.value.tensor, &part.keys);
    if (attn_mpi_backward(plan, &part.io, &gradients, &error))
        test_fail("attn_mpi_backward: %s", error.message);
    gather(&way.query, plan, attn_mpi_query_rows);
    gather(&way.key, plan, attn_mpi_key_rows);
    gather(&way.value, plan, attn_mpi_key_rows);
    way_compare(&way);
    attn_mpi_plan_destroy(plan);
    way_drop(&way);
    trial_drop(trial);
}

/** Keys get what queries of all other ranks behind them pass on through the state. */
static void gradients_go_through_states(void **state) {
    static const int64_t sizes[][2] = {{41, 41}, {3, 50}, {50, 3}, {2, 2}};
    attn_context_t *context = fixture_context(2);
    (void)state;
    for (int map = 0; map < MAPS_COUNT; map++)
        for (size_t i = 0; i < TEST_COUNT(sizes); i++)
            for (int variant = 0; variant < 6; variant++) {
                attn_problem_t problem = fixture_problem(2, 4, sizes[i][0], sizes[i][1], 5, 7);
                const int normalise = variant % 3 != 1 && map != 1;
                problem.kv_heads = variant % 2 ? 2 : 4;
                if (variant >= 3) problem.inputs = ATTN_INPUT_KV_LENGTHS;
                if (variant == 4) problem.dtype = problem.kv_dtype = ATTN_BF16;
                if (problem.queries == problem.keys && variant % 2)
                    problem.causal = ATTN_CAUSAL_TOP_LEFT;
                trial_t trial = trial_of(context, &problem, map, 0, normalise);
                trial.with_state = variant == 2 || variant == 5;
                if (test_takes_case()) check_back(&trial);
            }
    attn_context_destroy(context);
}

/* ---- what is refused ------------------------------------------------------------------------------ */

static void refuse(const attn_context_t *context, const attn_problem_t *problem, int32_t layout,
                   attn_status_t expected, const char *words) {
    const attn_mpi_options_t options = {.struct_size = sizeof options, .layout = layout};
    attn_mpi_plan_t *plan = NULL;
    attn_error_t error = {0};
    fixture_expect(attn_mpi_plan_create(context, MPI_COMM_WORLD, "linear", problem, NULL, 0,
                                        &options, &plan, &error),
                   &error, expected, words);
    assert_null(plan);
}

static void other_problems_are_refused(void **state) {
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 40, 40, 4, 4);
    (void)state;
    refuse(context, &problem, ATTN_MPI_LAYOUT_ZIGZAG, ATTN_ERROR_UNSUPPORTED, "rank 0|contiguous");
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT, problem.keys = 50;
    refuse(context, &problem, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|as many queries as keys");
    problem.keys = 40, problem.inputs = ATTN_INPUT_KV_LENGTHS;
    refuse(context, &problem, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|lengths");
    problem.inputs = ATTN_INPUT_SINKS;
    refuse(context, &problem, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|sinks");
    attn_context_destroy(context);
}

static void rules_without_sums_have_no_gradients(void **state) {
    static const char *const rules[] = {"gated", "delta", "gated_delta"};
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 40, 40, 4, 4);
    (void)state;
    problem.causal = ATTN_CAUSAL_TOP_LEFT, problem.backward = 1;
    for (size_t i = 0; i < TEST_COUNT(rules); i++) {
        const attn_param_t rule = {"rule", rules[i]};
        attn_mpi_plan_t *plan = NULL;
        attn_error_t error = {0};
        fixture_expect(attn_mpi_plan_create(context, MPI_COMM_WORLD, "linear", &problem, &rule, 1,
                                            NULL, &plan, &error),
                       &error, ATTN_ERROR_UNSUPPORTED, "rank 0|gradients of linear|rule=linear");
        assert_null(plan);
    }
    attn_context_destroy(context);
}

RANKS_MAIN(cmocka_unit_test(states_are_passed_on), cmocka_unit_test(states_are_added),
           cmocka_unit_test(gradients_go_through_states),
           cmocka_unit_test(rules_without_sums_have_no_gradients),
           cmocka_unit_test(other_problems_are_refused))
