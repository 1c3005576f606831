/* Plugins at run time: a shared object by its path. */
#include "internal.h"

#if defined(__wasm__) || defined(_WIN32)

attn_status_t attn_plugin_load(attn_context_t *context, const char *path, attn_error_t *error) {
    if (!context || !path)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "load: the context or the path is null");
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "'%.150s': this build cannot load plugins",
                     path);
}

void attn_libraries_close(attn_context_t *context) { (void)context; }

#else

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(__ELF__)
#include <link.h>

/*
 * Whether the file has all the bytes that its segments map. The system's loader does not ask, and a
 * plugin that was copied half would end the program with SIGBUS. What is no ELF file is left to it.
 */
static bool is_whole(const char *path) {
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    FILE *file = fopen(path, "rb");
    if (!file) return true;
    bool whole = true;
    if (fread(&header, sizeof header, 1, file) == 1 &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && fseek(file, 0, SEEK_END) == 0) {
        const unsigned long size = (unsigned long)ftell(file);
        for (unsigned i = 0; whole && i < header.e_phnum; i++) {
            const unsigned long at = header.e_phoff + (unsigned long)i * sizeof segment;
            whole = at < size && fseek(file, (long)at, SEEK_SET) == 0 &&
                    fread(&segment, sizeof segment, 1, file) == 1 &&
                    (segment.p_type != PT_LOAD ||
                     (segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset));
        }
    }
    fclose(file);
    return whole;
}
#else
static bool is_whole(const char *path) {
    (void)path;
    return true;
}
#endif

/* dlopen() looks a name without a slash up in the system's folders; a plugin is given by its path. */
static void *open_path(const attn_context_t *context, const char *path) {
    if (strchr(path, '/')) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    size_t length = strlen(path);
    char *here = attn_allocate(context, length + 3);
    if (!here) return NULL;
    memcpy(here, "./", 2);
    memcpy(here + 2, path, length + 1);
    void *handle = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    attn_release(context, here);
    return handle;
}

attn_status_t attn_plugin_load(attn_context_t *context, const char *path, attn_error_t *error) {
    if (!context || !path)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "load: the context or the path is null");
    if (!is_whole(path))
        return attn_fail(error, ATTN_ERROR_PLUGIN, "'%.150s' is not a plugin: it is cut off", path);
    library_t *library = attn_allocate(context, sizeof *library);
    if (!library)
        return attn_fail(error, ATTN_ERROR_MEMORY, "plugin '%.150s': no memory to load it", path);
    library->handle = open_path(context, path);
    if (!library->handle) {
        const char *why = dlerror();
        attn_release(context, library);
        return attn_fail(error, ATTN_ERROR_PLUGIN, "cannot load a plugin: %.200s",
                         why ? why : path);
    }
    const attn_plugin_entry_t *entry = dlsym(library->handle, ATTN_PLUGIN_SYMBOL);
    attn_status_t status =
        entry ? attn_plugin_register(context, entry, path, error)
              : attn_fail(error, ATTN_ERROR_PLUGIN, "'%.150s' is not a plugin: it has no symbol %s",
                          path, ATTN_PLUGIN_SYMBOL);
    if (status != ATTN_OK) {
        dlclose(library->handle);
        attn_release(context, library);
        return status;
    }
    library->next = context->libraries;
    context->libraries = library;
    return ATTN_OK;
}

void attn_libraries_close(attn_context_t *context) {
    while (context->libraries) {
        library_t *library = context->libraries;
        context->libraries = library->next;
        dlclose(library->handle);
        attn_release(context, library);
    }
}

#endif
