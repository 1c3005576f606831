/* reasoning/corpus_task.c: TEXT: the tokens of a corpus, each learned from those before it. */
#include "attn/support.h"
#include "labs/language/bytes.h"
#include "labs/reasoning/draw.h"
#include "labs/reasoning/read.h"

#include <string.h>

void corpus_task_make(reasoning_task_t *task) {
    task->vocabulary = BYTES_VOCABULARY;
    task->first = BYTES_VOCABULARY; /* there are no numbers */
    task->length = task->size + 1;
}

/* Places that a sample may begin at. The held-out text has at least one, as reasoning_learn() checks. */
static uint64_t places(const reasoning_task_t *task, const corpus_part_t *part) {
    return (uint64_t)(part->count - task->length + 1);
}

/* Anywhere in the text to learn; of the one that is held out one sample after another, from its beginning. */
void corpus_task_draw(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample) {
    const int tests = draw->use == REASONING_TEST;
    const corpus_part_t *part = tests ? &task->corpus->test : &task->corpus->train;
    const uint64_t number = tests ? draw->stream / 2 * (uint64_t)task->size
                                  : attn_random_u64(draw->seed, draw->stream, draw->next++);
    const int32_t *from = part->tokens + number % places(task, part);
    memcpy(sample->tokens, from, (size_t)task->length * sizeof *sample->tokens);
    sample->count = task->length;
    sample->question = 1;
}

attn_status_t reasoning_learn(reasoning_task_t *task, const corpus_t *corpus, attn_error_t *error) {
    const int64_t least = attn_min(corpus->train.count, corpus->test.count);
    if (task->kind != REASONING_TEXT)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s has no corpus",
                         reasoning_name(task->kind));
    if (least < task->length)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "%s has %lld tokens, expected at least the %d of a sample",
                         least == corpus->test.count ? "the held-out text" : "the text to learn",
                         (long long)least, (int)task->length);
    task->corpus = corpus;
    task->learned = corpus->hash;
    return ATTN_OK;
}

attn_status_t corpus_task_read(const reasoning_task_t *task, const char *text,
                               reasoning_sample_t *sample, attn_error_t *error) {
    (void)task, (void)text, (void)sample;
    return attn_fail(
        error, ATTN_ERROR_ARGUMENT,
        "a model of text answers no questions: attn lab write has it go on from a text");
}

void corpus_task_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                        char text[REASONING_UNLIKE]) {
    (void)task, (void)sample, (void)text;
}

const char *corpus_task_text(int32_t token, char text[16]) {
    text[bytes_of(token, text)] = '\0';
    return text;
}
