/* cli/mpi/alike.c: see alike.h. */
#include "cli/mpi/alike.h"

#include "cli/cli.h"
#include "cli/mpi/settle.h"

#include <stdio.h>

#define HASH_BEGIN 14695981039346656037u
#define HASH_PRIME 1099511628211u

/* FNV-1a. */
static uint64_t hash_of_text(uint64_t hash, const char *text) {
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * HASH_PRIME;
    return hash;
}

/* What is no letter parts one text from the next. */
static uint64_t hash_of_number(uint64_t hash, uint32_t number) {
    return (hash ^ (number + 256)) * HASH_PRIME;
}

/* ---- inputs ------------------------------------------------------------------------------------------ */

/* A text that may be NULL. */
static int alike_text(const char *option, const char *text) {
    char what[DECLARED_TEXT + 64];
    snprintf(what, sizeof what, "%s: give each the same file or list, in the same words", option);
    return settle_alike(text ? hash_of_text(HASH_BEGIN, text) : 0, what);
}

int alike_inputs(const over_t *over) {
    static const char *const names[INPUT_COUNT] = {"--q", "--k", "--v"};
    static const char *const before[INPUT_COUNT] = {NULL, "--past-k", "--past-v"};
    const inputs_t *inputs = over->run->inputs;
    attn_array_info_t info = {.struct_size = sizeof info};
    int status = CLI_OK;
    for (int which = 0; !status && which < INPUT_COUNT; which++) {
        status = alike_text(names[which], inputs->paths[which]);
        if (!status && before[which]) status = alike_text(before[which], inputs->pasts[which]);
    }
    for (uint32_t number = INPUT_COUNT;
         !status && attn_backend_array(over->run->backend, number, &info); number++) {
        char label[DECLARED_TEXT];
        if (info.role != ATTN_ROLE_INPUT) continue;
        snprintf(label, sizeof label, "--input %s", info.name);
        const char *value = arguments_value(&inputs->arguments, number, &info, label);
        status = alike_text(label, value);
    }
    return status;
}

/* ---- outputs ----------------------------------------------------------------------------------------- */

int alike_outputs(const over_t *over) {
    attn_array_info_t info = {.struct_size = sizeof info};
    uint64_t hash = HASH_BEGIN;
    for (uint32_t number = 0; attn_backend_array(over->run->backend, number, &info); number++) {
        if (info.role != ATTN_ROLE_OUTPUT) continue;
        const char *path = arguments_value(&over->run->inputs->arguments, number, &info, NULL);
        if (path) hash = hash_of_text(hash_of_number(hash, number), path);
    }
    const option_texts_t *gradients = &over->run->gradients->files;
    for (int i = 0; i < gradients->count; i++)
        hash = hash_of_text((hash ^ 255) * HASH_PRIME, gradients->items[i]);
    return settle_alike(hash, "outputs or their files");
}
