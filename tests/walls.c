/* Inputs that end where memory does: what reads a row further, if only to throw it away, is a fault. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "support/backends.h"
#include "support/test.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct walled {
    char *memory; /* pages, of which the last cannot be read */
    size_t bytes;
} walled_t;

/* Moves the tensor, whose elements lie beside each other, before a wall. */
static walled_t wall_in(attn_tensor_t *tensor) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int64_t *shape = tensor->shape;
    const size_t size = (size_t)(shape[0] * shape[1] * shape[2] * shape[3]) * sizeof(float);
    const size_t pages = (size + page - 1) / page * page;
    walled_t walled = {.bytes = pages + page};
    walled.memory =
        mmap(NULL, walled.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(walled.memory != MAP_FAILED);
    assert_int_equal(mprotect(walled.memory + pages, page, PROT_NONE), 0);
    char *place = walled.memory + pages - size;
    memcpy(place, tensor->data, size);
    tensor->data = place;
    return walled;
}

static attn_problem_t problem_of(uint64_t number) {
    enum { DRAWS = 8 };
    const uint64_t at = number * DRAWS;
    const int64_t queries = 1 + fixture_draw(at, 12), keys = 1 + fixture_draw(at + 1, 40);
    attn_problem_t problem =
        fixture_problem(1, 1 + fixture_draw(at + 2, 2), queries, keys, 1 + fixture_draw(at + 3, 24),
                        1 + fixture_draw(at + 4, 24));
    problem.causal = (int32_t)fixture_draw(at + 5, 2) ? ATTN_CAUSAL_BOTTOM_RIGHT : ATTN_CAUSAL_NONE;
    return problem;
}

static void check(const attn_context_t *context, const subject_t *subject,
                  const attn_problem_t *problem) {
    arrays_t plain = arrays_create(problem, LAYOUT_BHND, 0);
    arrays_t walled = arrays_create(problem, LAYOUT_BHND, 0);
    attn_tensor_t *inputs[] = {&walled.io.query, &walled.io.key, &walled.io.value};
    walled_t walls[3];
    for (int i = 0; i < 3; i++) walls[i] = wall_in(inputs[i]);
    fixture_solve(context, subject->backend, subject->settings, &plain);
    fixture_solve(context, subject->backend, subject->settings, &walled);
    array_check_same(&walled.out, &plain.out, "out");
    for (int i = 0; i < 3; i++) munmap(walls[i].memory, walls[i].bytes);
    arrays_destroy(&plain);
    arrays_destroy(&walled);
}

static void inputs_end_where_memory_does(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++)
        for (uint64_t number = 0; number < 60; number++) {
            if (!test_takes_case()) continue;
            const attn_problem_t p = problem_of(number);
            test_label("%s %s: H %" PRId64 " n %" PRId64 " m %" PRId64 " d %" PRId64 " dv %" PRId64
                       " causal %d",
                       SUBJECTS[s].backend, SUBJECTS[s].settings, p.heads, p.queries, p.keys, p.dim,
                       p.value_dim, p.causal);
            check(context, &SUBJECTS[s], &p);
        }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(inputs_end_where_memory_does))
