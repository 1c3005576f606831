/* reasoning/lis.c: longest increasing subsequences. Numbers up to n name lengths, inputs are above. */
#include "labs/reasoning/draw.h"
#include "labs/reasoning/read.h"

#include "attn/support.h"
#include "number/format.h"

enum { MOST = 512, MOST_RUNS = 3 };

void lis_make(reasoning_task_t *task) {
    const int32_t n = task->size;
    task->first = REASONING_OWN;
    task->numbers = n <= 40 ? 150 : 150 + (5 * (n - 40) + 2) / 3; /* 150 for 40, 250 for 100 */
    if (task->numbers < 2 * n + 1) task->numbers = 2 * n + 1;
    task->vocabulary = task->first + task->numbers;
    task->length = 2 * n + 4;
}

static void sort(int32_t *items, int32_t count) {
    for (int32_t i = 1; i < count; i++)
        for (int32_t j = i; j > 0 && items[j - 1] > items[j]; j--) {
            const int32_t item = items[j];
            items[j] = items[j - 1];
            items[j - 1] = item;
        }
}

/* Different inputs in ascending order. */
static void draw_run(const reasoning_task_t *task, draw_t *draw, int32_t count, int32_t *run) {
    int32_t values[2 * MOST];
    const int32_t lowest = task->size + 1, choice = task->numbers - lowest;
    for (int32_t i = 0; i < choice; i++) values[i] = lowest + i;
    draw_shuffle(draw, values, choice, count);
    sort(values, count);
    for (int32_t i = 0; i < count; i++) run[i] = values[i];
}

/* Noise, over which sorted runs are laid at random places in order. */
static void draw_inputs(const reasoning_task_t *task, draw_t *draw, int32_t *x) {
    const int32_t n = task->size, runs = draw_within(draw, 1, MOST_RUNS);
    int32_t places[MOST], run[MOST], left = draw_within(draw, n < 3 ? n : 3, n);
    for (int32_t i = 0; i < n; i++) {
        x[i] = draw_within(draw, n + 1, task->numbers - 1);
        places[i] = i;
    }
    draw_shuffle(draw, places, n, left);
    for (int32_t r = 0, at = 0; r < runs && left > 0; r++) {
        const int32_t count = r + 1 < runs ? draw_within(draw, 1, left) : left;
        draw_run(task, draw, count, run);
        sort(places + at, count);
        for (int32_t i = 0; i < count; i++) x[places[at + i]] = run[i];
        at += count, left -= count;
    }
}

/* What follows the numbers. */
static void solve(const reasoning_task_t *task, reasoning_sample_t *sample) {
    const int32_t n = sample->count, *x = sample->tokens;
    int32_t lengths[MOST], answer = 0;
    sample_put(sample, REASONING_SEP);
    sample->question = sample->count;
    for (int32_t i = 0; i < n; i++) {
        lengths[i] = 1;
        for (int32_t j = 0; j < i; j++)
            if (x[j] < x[i] && lengths[j] >= lengths[i]) lengths[i] = lengths[j] + 1;
        if (lengths[i] > answer) answer = lengths[i];
        sample_put(sample, task->first + lengths[i]);
    }
    sample_put(sample, REASONING_SEP);
    sample_put(sample, task->first + answer);
    sample_put(sample, REASONING_EOS);
}

void lis_draw(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample) {
    int32_t x[MOST];
    draw_inputs(task, draw, x);
    for (int32_t i = 0; i < task->size; i++) sample_put(sample, task->first + x[i]);
    solve(task, sample);
}

attn_status_t lis_read(const reasoning_task_t *task, const char *text, reasoning_sample_t *sample,
                       attn_error_t *error) {
    const int32_t n = task->size;
    attn_status_t status = ATTN_OK;
    for (text = read_space(text); *text && !status; text = read_space(text)) {
        int32_t x;
        if (sample->count == n)
            return attn_fail(error, ATTN_ERROR_RANGE, "more than the %d numbers of the task",
                             (int)n);
        status = read_number(&text, n + 1, task->numbers - 1, &x, error);
        if (!status) sample_put(sample, task->first + x);
    }
    if (!status && sample->count == 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "there is no number");
    if (!status) solve(task, sample);
    return status;
}

void lis_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                char text[REASONING_UNLIKE]) {
    if (sample->question - 1 != task->size)
        attn_format(text, REASONING_UNLIKE, "sequences of exactly %d numbers", (int)task->size);
}
