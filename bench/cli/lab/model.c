/* cli/lab/model.c: see model.h. */
#include "cli/lab/model.h"

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/platform.h"
#include "labs/language/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 4096 };

/* Those that are installed, else those that a build has beside the program. */
#if defined(ATTN_MODELS_INSTALLED)
static const char *const folders[] = {ATTN_MODELS_INSTALLED, "models"};
#else
static const char *const folders[] = {ATTN_MODELS};
#endif

static int find(const lab_model_t *m, char path[PATH_SIZE]) {
    char own[PATH_SIZE / 2];
    if (!platform_own_folder(own, sizeof own)) own[0] = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct stat info;
        snprintf(path, PATH_SIZE, "%s%s/%s-%s.model", own, folders[i], m->task, m->attention);
        if (stat(path, &info) == 0) return CLI_OK;
    }
    return cli_complain(CLI_USAGE,
                        "there is no model of %s with %s attention: --model names a file (attn lab "
                        "train and attn lab export make one)",
                        m->task, m->attention);
}

/* That the file is of the task, and of the attention where one is named. */
static int check(const lab_model_t *m, const char *path) {
    const study_settings_t *settings = &m->model.description.settings;
    const char *task = reasoning_name(settings->task.kind);
    if (strcmp(m->task, task) != 0)
        return cli_complain(CLI_USAGE, "%s: is a model of %s, not of %s", path, task, m->task);
    if (m->attention && strcmp(m->attention, settings->backend) != 0)
        return cli_complain(CLI_USAGE, "%s: is a model with %s attention, not %s", path,
                            settings->backend, m->attention);
    return CLI_OK;
}

/* A file that is there goes before a backend of that name. */
static int is_attention(const lab_model_t *m) {
    struct stat info;
    return stat(m->path, &info) != 0 && attn_backend_find(m->context, m->path);
}

static int load(lab_model_t *m) {
    char found[PATH_SIZE];
    const char *path = m->path ? m->path : found;
    char *bytes;
    size_t size;
    attn_error_t error;
    if (m->path && is_attention(m))
        return cli_complain(CLI_USAGE,
                            "%s: cannot be opened: there is no such file (did you mean "
                            "--attention %s?)",
                            path, path);
    int status = m->path ? CLI_OK : find(m, found);
    if (!status) status = file_read_bounded(path, LAB_MODEL_MOST, &bytes, &size);
    if (status) return status;
    if (model_load(m->context, bytes, size, &m->model, &error)) status = cli_reject(path, &error);
    free(bytes);
    return status ? status : check(m, path);
}

int lab_model_load(lab_model_t *m) {
    attn_error_t error;
    int32_t kind;
    if (reasoning_find(m->task, &kind, &error)) return cli_reject("lab", &error);
    if (!m->attention && !m->path) m->attention = "softmax";
    const int status = settings_context(&m->settings, &m->context);
    return status ? status : load(m);
}

int lab_model_ask(lab_model_t *m) {
    attn_error_t error;
    const int status = lab_model_load(m);
    if (status) return status;
    if (reasoning_read(&m->model.description.settings.task, m->question, &m->asked, &error))
        return cli_reject(m->task, &error);
    if (model_solve(&m->model, &m->asked, &m->said, m->state, &error))
        return cli_reject(m->task, &error);
    return CLI_OK;
}

int lab_model_read(lab_model_t *m) {
    int32_t kind;
    attn_error_t error;
    if (reasoning_find(m->task, &kind, &error) || kind != REASONING_TEXT) return lab_model_ask(m);
    const int status = lab_model_load(m);
    if (status) return status;
    const int64_t most = m->model.net.shape.length;
    const size_t size = strlen(m->question);
    int32_t *tokens = malloc((size + 1) * sizeof *tokens);
    if (!tokens) return cli_complain(CLI_USAGE, "no memory for the text");
    const int64_t count = bytes_encode(m->question, size, tokens);
    const int64_t kept = count < most ? count : most;
    memcpy(m->said.tokens, tokens, (size_t)kept * sizeof *tokens);
    free(tokens);
    m->said.count = (int32_t)kept + 1;
    if (count > 0 && kept == count) return CLI_OK;
    return cli_complain(CLI_USAGE, "the text has %lld tokens, expected 1 to %lld", (long long)count,
                        (long long)most);
}

void lab_model_free(lab_model_t *m) {
    model_destroy(&m->model);
    attn_context_destroy(m->context);
}
