/* reasoning/task.c: see task.h. */
#include "labs/reasoning/task.h"

#include "attn/support.h"
#include "labs/reasoning/draw.h"
#include "labs/reasoning/read.h"
#include "number/format.h"

#include <string.h>

/* ---- kinds ----------------------------------------------------------------------------------------- */

static const struct kind {
    const char *name;
    int32_t most; /* size */
    void (*make)(reasoning_task_t *task);
    void (*draw)(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample);
    attn_status_t (*read)(const reasoning_task_t *task, const char *text,
                          reasoning_sample_t *sample, attn_error_t *error);
    void (*unlike)(const reasoning_task_t *task, const reasoning_sample_t *sample,
                   char text[REASONING_UNLIKE]);
    const char *(*text)(int32_t token);
    int splits; /* its draw() looks at the use itself */
} kinds[REASONING_KINDS] = {
    [REASONING_LIS] = {"lis", 250, lis_make, lis_draw, lis_read, lis_unlike, NULL, 0},
    [REASONING_ED] = {"ed", 32, edit_make, edit_draw, edit_read, edit_unlike, edit_text, 0},
    [REASONING_ED_LOCAL] = {"ed_local", 32, edit_make, edit_draw, edit_read, edit_unlike, edit_text,
                            0},
    [REASONING_ARITHMETIC] = {"arithmetic", 20, arithmetic_make, arithmetic_draw, arithmetic_read,
                              arithmetic_unlike, arithmetic_text, 0},
    [REASONING_TEXT] = {.name = "text",
                        .most = REASONING_MOST_TOKENS - 1,
                        .make = corpus_task_make,
                        .draw = corpus_task_draw,
                        .read = corpus_task_read,
                        .unlike = corpus_task_unlike,
                        .splits = 1},
};

const char *reasoning_name(int32_t kind) { return kinds[kind].name; }

attn_status_t reasoning_find(const char *name, int32_t *kind, attn_error_t *error) {
    char names[80] = "";
    for (*kind = 0; *kind < REASONING_KINDS; ++*kind) {
        if (strcmp(name, kinds[*kind].name) == 0) return ATTN_OK;
        const size_t used = strlen(names);
        attn_format(names + used, sizeof names - used, "%s%s", *kind ? ", " : "",
                    kinds[*kind].name);
    }
    return attn_fail(error, ATTN_ERROR_NOT_FOUND, "unknown task '%.30s': there are %s", name,
                     names);
}

static int is_prime(int32_t x) {
    for (int32_t d = 2; d * d <= x; d++)
        if (x % d == 0) return 0;
    return x > 1;
}

attn_status_t reasoning_make(int32_t kind, int32_t size, int32_t modulus, int32_t band,
                             reasoning_task_t *task, attn_error_t *error) {
    if (kind < 0 || kind >= REASONING_KINDS)
        return attn_fail(error, ATTN_ERROR_RANGE, "there is no task number %d", (int)kind);
    if (size < 2 || size > kinds[kind].most)
        return attn_fail(error, ATTN_ERROR_RANGE, "%s of size %d, expected 2 to %d",
                         kinds[kind].name, (int)size, (int)kinds[kind].most);
    if (kind == REASONING_ARITHMETIC && (modulus > 97 || !is_prime(modulus)))
        return attn_fail(error, ATTN_ERROR_RANGE, "modulus %d, expected a prime up to 97",
                         (int)modulus);
    if (kind == REASONING_ED_LOCAL && (band < 1 || band > size + 2))
        return attn_fail(error, ATTN_ERROR_RANGE, "a band of %d, expected 1 to %d", (int)band,
                         (int)size + 2);
    *task = (reasoning_task_t){.kind = kind, .size = size, .modulus = modulus, .band = band};
    kinds[kind].make(task);
    return ATTN_OK;
}

/* ---- samples --------------------------------------------------------------------------------------- */

/* Which use a question is for: the same whatever seed drew it. */
static enum reasoning_use use_of(const reasoning_sample_t *sample) {
    uint64_t hash = 0;
    for (int32_t i = 0; i < sample->question; i++)
        hash = attn_random_u64(hash, 0x7461736B, (uint64_t)sample->tokens[i]); /* "task" */
    return hash % REASONING_TEST_SHARE == 0 ? REASONING_TEST : REASONING_TRAIN;
}

void reasoning_draw(const reasoning_task_t *task, uint64_t seed, enum reasoning_use use,
                    uint64_t number, reasoning_sample_t *sample) {
    draw_t draw = {.seed = seed, .stream = number * 2 + (uint64_t)use, .use = use};
    do {
        sample->count = 0;
        kinds[task->kind].draw(task, &draw, sample);
    } while (!kinds[task->kind].splits && use_of(sample) != use);
}

attn_status_t reasoning_read(const reasoning_task_t *task, const char *text,
                             reasoning_sample_t *sample, attn_error_t *error) {
    sample->count = 0;
    return kinds[task->kind].read(task, text, sample, error);
}

void reasoning_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                      char text[REASONING_UNLIKE]) {
    *text = '\0';
    kinds[task->kind].unlike(task, sample, text);
}

/* ---- tokens ---------------------------------------------------------------------------------------- */

const char *reasoning_text(const reasoning_task_t *task, int32_t token, char text[16]) {
    static const char *const all[REASONING_OWN] = {"<pad>", "<sep>", "<eos>"};
    if (task->kind == REASONING_TEXT) return corpus_task_text(token, text);
    if (token >= task->first)
        attn_format(text, 16, "%d", (int)(token - task->first));
    else
        attn_format(text, 16, "%s",
                    token < REASONING_OWN ? all[token] : kinds[task->kind].text(token));
    return text;
}

int32_t reasoning_answer(const int32_t *tokens, int64_t count) {
    int64_t end = 0;
    while (end < count && tokens[end] != REASONING_EOS) end++;
    return end > 0 ? tokens[end - 1] : -1;
}
