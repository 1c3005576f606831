/* reasoning/checkpoint.c: a study as bytes: lines of text that say what it is, and its numbers. */
#include "labs/reasoning/study.h"

#include "attn/support.h"
#include "labs/language/bytes.h"
#include "labs/reasoning/checksum.h"
#include "number/format.h"
#include "number/number.h"

#include <string.h>

enum { HEADER = 1024, REST = 64 /* of it: a line for what it has no room for, and its end */ };
static const char magic[] = "attn study 1\n";

/* ---- the header ------------------------------------------------------------------------------------ */

typedef struct header {
    char text[HEADER];
    size_t size;
    uint64_t rest; /* sum of the lines that it has no room for */
} header_t;

static void add_text(header_t *header, const char *name, const char *value) {
    if (strlen(name) + strlen(value) + 2 > HEADER - REST - header->size) {
        header->rest = checksum(header->rest, name, strlen(name) + 1);
        header->rest = checksum(header->rest, value, strlen(value) + 1);
        return;
    }
    attn_format(header->text + header->size, HEADER - header->size, "%s=%s\n", name, value);
    header->size += strlen(header->text + header->size);
}

static void add_number(header_t *header, const char *name, double value) {
    char text[32];
    add_text(header, name, attn_number_text(value, text));
}

static void add_hash(header_t *header, const char *name, uint64_t value) {
    char text[32];
    attn_format(text, sizeof text, "%016llx", (unsigned long long)value);
    add_text(header, name, text);
}

/* Everything that its numbers depend on. It ends in an empty line. */
static void describe(const study_settings_t *s, header_t *header) {
    header->size = sizeof magic - 1;
    header->rest = CHECKSUM_BASIS;
    memcpy(header->text, magic, sizeof magic);
    add_text(header, "task", reasoning_name(s->task.kind));
    add_number(header, "size", s->task.size);
    if (s->task.kind == REASONING_ARITHMETIC) add_number(header, "modulus", s->task.modulus);
    if (s->task.kind == REASONING_ED_LOCAL) add_number(header, "band", s->task.band);
    if (s->task.kind == REASONING_TEXT) {
        add_hash(header, "vocabulary", bytes_hash());
        add_hash(header, "corpus", s->task.learned);
    }
    add_text(header, "attention", s->backend);
    for (uint32_t i = 0; i < s->param_count; i++)
        add_text(header, s->params[i].name, s->params[i].value);
    add_number(header, "width", (double)s->width);
    add_number(header, "heads", (double)s->heads);
    add_number(header, "layers", (double)s->layers);
    add_number(header, "batch", (double)s->training.batch);
    add_number(header, "seed", (double)s->training.seed);
    add_number(header, "dropout", (double)s->training.dropout);
    add_number(header, "beta1", s->training.beta1);
    add_number(header, "beta2", s->training.beta2);
    add_number(header, "decay", s->training.decay);
    if (s->training.epsilon !=
        nn_training_paper(0).epsilon) /* else as in files without this line */
        add_number(header, "epsilon", s->training.epsilon);
    if (s->training.embedding > 0) add_number(header, "embedding", s->training.embedding);
    add_number(header, "rate", s->rate);
    add_number(header, "warm", (double)s->warm);
    add_number(header, "steps", (double)s->steps);
    if (s->constant) add_number(header, "constant", 1); /* else as in files without this line */
    if (s->cool) add_number(header, "cool", (double)s->cool);
    if (header->rest != CHECKSUM_BASIS)
        attn_format(header->text + header->size, HEADER - header->size, "rest=%llx\n",
                    (unsigned long long)header->rest);
    header->size += strlen(header->text + header->size);
    attn_format(header->text + header->size, HEADER - header->size, "\n");
    header->size += strlen(header->text + header->size);
}

/* ---- the numbers ----------------------------------------------------------------------------------- */

typedef struct tail {
    int64_t step, looked;
    int64_t enough;
    double loss;
    uint64_t sum; /* of all bytes before it */
} tail_t;

static size_t floats_size(const study_t *study) {
    return 3 * (size_t)study->trainer.net.layout.count * sizeof(float);
}

size_t study_save(const study_t *study, void *buffer, size_t size) {
    header_t header;
    describe(&study->settings, &header);
    const size_t floats = floats_size(study), before = header.size + floats;
    char *at = buffer;
    tail_t tail = {.step = study->trainer.step,
                   .looked = study->looked,
                   .enough = study->enough,
                   .loss = study->loss};
    if (size < before + sizeof tail) return before + sizeof tail;
    memcpy(at, header.text, header.size);
    memcpy(at + header.size, study->trainer.weights, floats);
    memcpy(at + before, &tail, sizeof tail);
    tail.sum = checksum(CHECKSUM_BASIS, at, before + offsetof(tail_t, sum));
    memcpy(at + before, &tail, sizeof tail);
    return before + sizeof tail;
}

static int line_length(const char *text, size_t size) {
    const char *end = memchr(text, '\n', size < 100 ? size : 100);
    return end ? (int)(end - text) : (int)(size < 100 ? size : 100);
}

/* Whether a line of `text` from `line` on has the name that the line at `other` has. */
static int names_line(const char *text, size_t size, size_t line, const char *other, int length) {
    const char *sign = memchr(other, '=', (size_t)length);
    const size_t name = sign ? (size_t)(sign - other) + 1 : 0;
    while (name && line + name <= size && text[line] != '\n') {
        if (memcmp(text + line, other, name) == 0) return 1;
        const char *end = memchr(text + line, '\n', size - line);
        if (!end) return 0;
        line = (size_t)(end - text) + 1;
    }
    return 0;
}

/* Where the two first differ, as lines; some are there only where they say what is not usual. */
static attn_status_t refuse(const char *found, size_t size, const header_t *wanted,
                            attn_error_t *error) {
    size_t line = 0;
    for (size_t i = 0; i < size && i < wanted->size && found[i] == wanted->text[i]; i++)
        if (found[i] == '\n') line = i + 1;
    const char *its = found + line, *own = wanted->text + line;
    const int its_length = line_length(its, size - line);
    const int own_length = line_length(own, wanted->size - line);
    const int has_its = names_line(wanted->text, wanted->size, line, its, its_length);
    const int has_own = names_line(found, size, line, own, own_length);
    if (!has_its && (has_own || own_length == 0))
        return attn_fail(error, ATTN_ERROR_SHAPE, "the checkpoint is of %.*s, and this is not",
                         its_length, its);
    if (!has_own && (has_its || its_length == 0))
        return attn_fail(error, ATTN_ERROR_SHAPE, "this is of %.*s, and the checkpoint is not",
                         own_length, own);
    return attn_fail(error, ATTN_ERROR_SHAPE, "the checkpoint is of %.*s, and this is %.*s",
                     its_length, its, own_length, own);
}

/* ---- a training of another length ------------------------------------------------------------------ */

/* The whole number of a header's line, or -1. */
static int64_t line_number(const char *bytes, size_t size, const char *line) {
    const size_t length = strlen(line);
    for (size_t i = 0; i + length < size && i < HEADER; i++) {
        if (memcmp(bytes + i, line, length) != 0) continue;
        int64_t number = 0;
        for (i += length; i < size && bytes[i] >= '0' && bytes[i] <= '9' && number < INT64_MAX / 20;
             i++)
            number = 10 * number + (bytes[i] - '0');
        return i < size && bytes[i] == '\n' ? number : -1;
    }
    return -1;
}

/* The study as the checkpoint's header has it, where it differs in its length alone; otherwise as it is. */
static study_settings_t as_long_as(const study_t *study, const char *bytes, size_t size) {
    study_settings_t settings = study->settings;
    const int64_t steps = line_number(bytes, size, "\nsteps=");
    const int64_t cool = line_number(bytes, size, "\ncool=");
    if (settings.cool > 0 && cool > 0 && cool <= steps)
        settings.steps = steps, settings.cool = cool;
    return settings;
}

/* Both have had the same rates so far. */
static attn_status_t check_begun(const study_settings_t *found, const study_settings_t *wanted,
                                 int64_t step, attn_error_t *error) {
    if (found->steps == wanted->steps && found->cool == wanted->cool) return ATTN_OK;
    const int64_t last = attn_min(found->steps - found->cool, wanted->steps - wanted->cool);
    if (step <= last) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_SHAPE,
                     "the checkpoint is of step %lld of %lld: %lld steps could go on from it up to "
                     "step %lld, from which on a rate falls",
                     (long long)step, (long long)found->steps, (long long)wanted->steps,
                     (long long)last);
}

attn_status_t study_restore(study_t *study, const void *buffer, size_t size, attn_error_t *error) {
    header_t header;
    tail_t tail;
    const char *bytes = buffer;
    const size_t same = sizeof magic - 3; /* all but the version */
    const study_settings_t found = as_long_as(study, bytes, size);
    describe(&found, &header);
    if (size < sizeof magic - 1 || memcmp(bytes, magic, same) != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "this is no checkpoint of a study");
    if (memcmp(bytes, magic, sizeof magic - 1) != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "the checkpoint is of version '%.*s', expected '1'",
                         line_length(bytes + same, size - same), bytes + same);
    if (memcmp(bytes, header.text, size < header.size ? size : header.size) != 0)
        return refuse(bytes, size, &header, error);
    const size_t floats = floats_size(study), expected = header.size + floats + sizeof tail;
    if (size != expected)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "the checkpoint has %zu bytes, expected %zu: it is %s", size, expected,
                         size < expected ? "truncated" : "too long");
    memcpy(&tail, bytes + header.size + floats, sizeof tail);
    if (tail.sum != checksum(CHECKSUM_BASIS, bytes, size - sizeof tail.sum))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "the checkpoint is damaged: its sum is off");
    const int64_t steps = found.steps;
    if (tail.step < 0 || tail.step > steps || tail.looked < 0 || tail.looked > tail.step ||
        tail.enough < 0 || tail.enough > 1)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "the checkpoint is damaged: it is of step %lld of %lld",
                         (long long)tail.step, (long long)steps);
    const attn_status_t status = check_begun(&found, &study->settings, tail.step, error);
    if (status) return status;
    memcpy(study->trainer.weights, bytes + header.size, floats);
    study->trainer.step = tail.step;
    study->looked = tail.looked;
    study->enough = (int)tail.enough;
    study->loss = tail.loss;
    return ATTN_OK;
}
