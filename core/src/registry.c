/* The registry: backends by id, in the order in which they came. */
#include "internal.h"

#include <string.h>

/* Made by the build: attn_builtin_plugins[], ended by NULL. */
extern const attn_plugin_entry_t *const attn_builtin_plugins[];

uint32_t attn_backend_count(const attn_context_t *context) {
    return context ? context->backend_count : 0;
}

const attn_backend_t *attn_backend_at(const attn_context_t *context, uint32_t index) {
    return index < attn_backend_count(context) ? context->backends[index].backend : NULL;
}

const attn_backend_t *attn_backend_find(const attn_context_t *context, const char *id) {
    for (uint32_t i = 0; id && i < attn_backend_count(context); i++)
        if (strcmp(context->backends[i].backend->id, id) == 0) return context->backends[i].backend;
    return NULL;
}

const char *attn_backend_origin(const attn_context_t *context, uint32_t index) {
    return index < attn_backend_count(context) ? context->backends[index].origin : NULL;
}

const void *attn_extension(const attn_backend_t *backend, const char *id, size_t size) {
    const void *extension = backend->get_extension ? backend->get_extension(id) : NULL;
    return extension && attn_struct_size(extension) >= size ? extension : NULL;
}

attn_status_t attn_features_check(const attn_backend_t *backend, uint64_t needed,
                                  attn_error_t *error) {
    const uint64_t missing = needed & ~backend->features;
    const char *what = NULL;
    if (!missing) return ATTN_OK;
#define NAME_FIRST(name, bit, text, words)                                                         \
    if (!what && (missing & ATTN_FEATURE_##name)) what = words;
    ATTN_FEATURES(NAME_FIRST)
#undef NAME_FIRST
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "backend '%.60s' does not do %s", backend->id,
                     what ? what : "all of this");
}

static attn_status_t check_entry(const attn_context_t *context, const attn_plugin_entry_t *entry,
                                 const char *origin, attn_error_t *error) {
    /* The version first: what else an entry of another major version holds is not known. */
    if (entry->abi_major != ATTN_ABI_MAJOR)
        return attn_fail(error, ATTN_ERROR_ABI,
                         "plugin '%.120s' is of ABI version %u.%u, this library of %d.%d", origin,
                         entry->abi_major, entry->abi_minor, ATTN_ABI_MAJOR, ATTN_ABI_MINOR);
    if (entry->struct_size < sizeof *entry || entry->backend_count == 0 || !entry->backends)
        return attn_fail(error, ATTN_ERROR_PLUGIN,
                         "'%.150s' is not a plugin: its entry is malformed", origin);
    for (uint32_t i = 0; i < entry->backend_count; i++) {
        const attn_backend_t *backend = entry->backends[i];
        attn_backend_t known;
        if (ATTN_SMALL) continue; /* softmax alone */
        if (!backend || !attn_struct_read(&known, sizeof known, backend, sizeof known) ||
            !backend->id || !backend->plan)
            return attn_fail(error, ATTN_ERROR_PLUGIN,
                             "'%.150s' is not a plugin: its backend %u is malformed", origin, i);
        const char *malformed = attn_params_malformed(backend);
        if (!malformed) malformed = attn_arrays_malformed(backend);
        if (malformed)
            return attn_fail(error, ATTN_ERROR_PLUGIN, "plugin '%.120s': backend '%.60s': %s",
                             origin, backend->id, malformed);
        bool taken = attn_backend_find(context, backend->id) != NULL;
        for (uint32_t k = 0; k < i; k++) taken |= strcmp(entry->backends[k]->id, backend->id) == 0;
        if (taken)
            return attn_fail(error, ATTN_ERROR_PLUGIN,
                             "plugin '%.120s': a backend '%.60s' is registered already", origin,
                             backend->id);
    }
    return ATTN_OK;
}

static bool reserve(attn_context_t *context, uint32_t more) {
    const uint32_t needed = context->backend_count + more;
    if (needed <= context->backend_capacity) return true;
    registration_t *grown = attn_allocate(context, needed * sizeof *grown);
    if (!grown) return false;
    if (context->backend_count)
        memcpy(grown, context->backends, context->backend_count * sizeof *grown);
    attn_release(context, context->backends);
    context->backends = grown;
    context->backend_capacity = needed;
    return true;
}

attn_status_t attn_plugin_register(attn_context_t *context, const attn_plugin_entry_t *entry,
                                   const char *origin, attn_error_t *error) {
    if (!context || !entry)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "register: the context or the entry is null");
    if (!origin) origin = "linked";
    attn_status_t status = check_entry(context, entry, origin, error);
    if (status != ATTN_OK) return status;
    const uint32_t before = context->backend_count;
    bool enough = reserve(context, entry->backend_count);
    for (uint32_t i = 0; enough && i < entry->backend_count; i++) {
        char *copy = attn_copy_text(context, origin);
        enough = copy != NULL;
        if (enough)
            context->backends[context->backend_count++] =
                (registration_t){.backend = entry->backends[i], .origin = copy};
    }
    if (enough) return ATTN_OK;
    while (context->backend_count > before)
        attn_release(context, context->backends[--context->backend_count].origin);
    return attn_fail(error, ATTN_ERROR_MEMORY, "plugin '%.150s': no memory to register it", origin);
}

static bool lists(const attn_plugin_entry_t *entry, const attn_backend_t *backend) {
    for (uint32_t i = 0; i < entry->backend_count; i++)
        if (entry->backends[i] == backend) return true;
    return false;
}

attn_status_t attn_plugin_unregister(attn_context_t *context, const attn_plugin_entry_t *entry,
                                     attn_error_t *error) {
    if (!context || !entry)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "unregister: the context or the entry is null");
    const uint32_t before = context->backend_count;
    context->backend_count = 0;
    for (uint32_t i = 0; i < before; i++) {
        const registration_t registration = context->backends[i];
        if (lists(entry, registration.backend))
            attn_release(context, registration.origin);
        else
            context->backends[context->backend_count++] = registration;
    }
    if (context->backend_count < before) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_NOT_FOUND, "unregister: the plugin is not registered");
}

attn_status_t attn_register_builtins(attn_context_t *context, attn_error_t *error) {
    for (int i = 0; attn_builtin_plugins[i]; i++) {
        attn_status_t status =
            attn_plugin_register(context, attn_builtin_plugins[i], "built-in", error);
        if (status != ATTN_OK) return status;
    }
    return ATTN_OK;
}

void attn_registry_clear(attn_context_t *context) {
    for (uint32_t i = 0; i < context->backend_count; i++)
        attn_release(context, context->backends[i].origin);
    attn_release(context, context->backends);
    context->backends = NULL;
    context->backend_count = 0;
}
