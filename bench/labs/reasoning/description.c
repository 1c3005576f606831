/* reasoning/description.c: see description.h. */
#include "labs/reasoning/description.h"

#include "attn/support.h"
#include "labs/language/bytes.h"
#include "number/format.h"
#include "number/number.h"

#include <math.h>
#include <string.h>

/* ---- lines ----------------------------------------------------------------------------------------- */

static int is_next(const description_t *description, const char *name) {
    const size_t length = strlen(name);
    return strncmp(description->next, name, length) == 0 && description->next[length] == '=';
}

const char *description_line(description_t *description, const char *name, attn_error_t *error) {
    const char *line = description->next;
    if (!is_next(description, name)) {
        attn_fail(error, ATTN_ERROR_ARGUMENT, "its header has '%.40s' where '%s=' is expected",
                  line, name);
        return NULL;
    }
    description->next = line + strlen(line) + 1;
    return line + strlen(name) + 1;
}

attn_status_t description_number(description_t *description, const char *name, double *value,
                                 attn_error_t *error) {
    const char *text = description_line(description, name, error), *end;
    if (!text) return ATTN_ERROR_ARGUMENT;
    *value = attn_number_read(text, &end);
    if (end == text || *end || !isfinite(*value))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "its header has '%s=%.40s', which is no number", name, text);
    return ATTN_OK;
}

attn_status_t description_integer(description_t *description, const char *name, int64_t most,
                                  int64_t *value, attn_error_t *error) {
    double number;
    const attn_status_t status = description_number(description, name, &number, error);
    if (status) return status;
    char text[32];
    if (!(number >= 0 && number <= (double)most) || number != floor(number))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "its header has %s=%s, expected a whole number up to %lld", name,
                         attn_number_text(number, text), (long long)most);
    *value = (int64_t)number;
    return ATTN_OK;
}

attn_status_t description_end(const description_t *description, attn_error_t *error) {
    if (!*description->next) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_ARGUMENT, "its header has '%.40s' where it ought to end",
                     description->next);
}

static const char digits[] = "0123456789abcdef";

/* ---- what it is of --------------------------------------------------------------------------------- */

/* The lines to description->text, and their first checked. */
static attn_status_t take_text(const char *bytes, size_t size, const char *kind,
                               description_t *description, attn_error_t *error) {
    char magic[32];
    const size_t room = size < DESCRIPTION_TEXT ? size : DESCRIPTION_TEXT;
    size_t end = 1;
    attn_format(magic, sizeof magic, "attn %s ", kind);
    const size_t length = strlen(magic);
    if (size < length || memcmp(bytes, magic, length) != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "this is no file of a %s", kind);
    while (end < room && !(bytes[end - 1] == '\n' && bytes[end] == '\n')) end++;
    if (end >= room)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "its header has no end: it is truncated");
    description->size = end + 1;
    for (size_t i = 0; i <= end; i++) description->text[i] = bytes[i] == '\n' ? '\0' : bytes[i];
    if (strcmp(description->text + length, "1") != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "the %s is of version '%.20s', expected '1'",
                         kind, description->text + length);
    description->next = description->text + length + 2;
    return ATTN_OK;
}

static attn_status_t read_hash(description_t *description, const char *name, uint64_t *hash,
                               attn_error_t *error) {
    const char *text = description_line(description, name, error);
    if (!text) return ATTN_ERROR_ARGUMENT;
    *hash = 0;
    for (const char *c = text; c < text + 16; c++) {
        const char *digit = *c ? strchr(digits, *c) : NULL;
        if (!digit)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "its header has %s=%.20s, which is no hash", name, text);
        *hash = *hash << 4 | (uint64_t)(digit - digits);
    }
    return text[16] ? attn_fail(error, ATTN_ERROR_ARGUMENT,
                                "its header has %s=%.20s, which is no hash", name, text)
                    : (attn_status_t)ATTN_OK;
}

static attn_status_t read_text(description_t *description, uint64_t *corpus, attn_error_t *error) {
    uint64_t vocabulary;
    const attn_status_t status = read_hash(description, "vocabulary", &vocabulary, error);
    if (status) return status;
    if (vocabulary != bytes_hash())
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "it has another vocabulary than this program: %016llx, expected %016llx",
                         (unsigned long long)vocabulary, (unsigned long long)bytes_hash());
    return read_hash(description, "corpus", corpus, error);
}

static attn_status_t read_task(description_t *description, attn_error_t *error) {
    int64_t size, modulus = 0, band = 0;
    uint64_t corpus = 0;
    int32_t kind;
    const char *name = description_line(description, "task", error);
    if (!name) return ATTN_ERROR_ARGUMENT;
    attn_status_t status = reasoning_find(name, &kind, error);
    if (!status) status = description_integer(description, "size", 10000, &size, error);
    if (!status && kind == REASONING_ARITHMETIC)
        status = description_integer(description, "modulus", 10000, &modulus, error);
    if (!status && kind == REASONING_ED_LOCAL)
        status = description_integer(description, "band", 10000, &band, error);
    if (!status && kind == REASONING_TEXT) status = read_text(description, &corpus, error);
    if (status) return status;
    status = reasoning_make(kind, (int32_t)size, (int32_t)modulus, (int32_t)band,
                            &description->settings.task, error);
    description->settings.task.learned = corpus;
    return status;
}

/* All lines up to the width are the backend's. */
static attn_status_t read_attention(description_t *description, attn_error_t *error) {
    study_settings_t *settings = &description->settings;
    settings->backend = description_line(description, "attention", error);
    if (!settings->backend) return ATTN_ERROR_ARGUMENT;
    settings->params = description->params;
    while (*description->next && !is_next(description, "width")) {
        char *line = description->text + (description->next - description->text);
        char *value = strchr(line, '=');
        if (!value || settings->param_count == DESCRIPTION_PARAMS)
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "its header has '%.40s', not a parameter",
                             line);
        description->next += strlen(line) + 1;
        *value = '\0';
        description->params[settings->param_count++] =
            (attn_param_t){.name = line, .value = value + 1};
    }
    return ATTN_OK;
}

static attn_status_t read_integers(description_t *description, attn_error_t *error) {
    study_settings_t *settings = &description->settings;
    int64_t seed = 0;
    const struct {
        const char *name;
        int64_t most, *value;
    } lines[] = {{"width", 1 << 14, &settings->width},
                 {"heads", 1 << 14, &settings->heads},
                 {"layers", NN_MOST_LAYERS, &settings->layers},
                 {"batch", 1 << 20, &settings->training.batch},
                 {"seed", (int64_t)1 << 53, &seed}};
    attn_status_t status = ATTN_OK;
    for (size_t i = 0; i < sizeof lines / sizeof *lines && !status; i++)
        status =
            description_integer(description, lines[i].name, lines[i].most, lines[i].value, error);
    settings->training.seed = (uint64_t)seed;
    return status;
}

static attn_status_t read_training(description_t *description, attn_error_t *error) {
    study_settings_t *settings = &description->settings;
    nn_training_t *training = &settings->training;
    double dropout = 0;
    const struct {
        const char *name;
        double *value;
        int optional;
    } lines[] = {{"dropout", &dropout, 0},
                 {"beta1", &training->beta1, 0},
                 {"beta2", &training->beta2, 0},
                 {"decay", &training->decay, 0},
                 {"epsilon", &training->epsilon, 1}, /* the paper's, where there is none */
                 {"embedding", &training->embedding, 1},
                 {"rate", &settings->rate, 0}};
    attn_status_t status = ATTN_OK;
    for (size_t i = 0; i < sizeof lines / sizeof *lines && !status; i++)
        if (!lines[i].optional || is_next(description, lines[i].name))
            status = description_number(description, lines[i].name, lines[i].value, error);
    int64_t constant = 0;
    training->dropout = (float)dropout;
    if (!status)
        status = description_integer(description, "warm", INT64_MAX / 2, &settings->warm, error);
    if (!status)
        status = description_integer(description, "steps", INT64_MAX / 2, &settings->steps, error);
    if (!status && is_next(description, "constant"))
        status = description_integer(description, "constant", 1, &constant, error);
    settings->constant = (int)constant;
    if (!status && is_next(description, "cool"))
        status = description_integer(description, "cool", settings->steps, &settings->cool, error);
    return status;
}

attn_status_t description_read(const void *bytes, size_t size, const char *kind,
                               description_t *description, attn_error_t *error) {
    *description = (description_t){.settings = {.training = nn_training_paper(0), .enough = 2}};
    attn_status_t status = take_text(bytes, size, kind, description, error);
    if (!status) status = read_task(description, error);
    if (!status) status = read_attention(description, error);
    if (!status) status = read_integers(description, error);
    if (!status) status = read_training(description, error);
    return status;
}
