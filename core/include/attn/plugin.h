/*
 * attn/plugin.h: the plugin ABI. A plugin is constant data: an entry with a list of backends.
 *
 * The core of the ABI, this file, is small and frozen within a major version; all growth is by
 * named extensions (attn/ext/<name>.h), which a backend and the host offer each other through
 * get_extension("attn.<name>/1"). (The shape is CLAP's idea, https://cleveraudio.org.)
 *
 * A plugin needs no symbol of the host: it is given everything through pointers, and works when
 * every host extension is NULL. Of the structs that it gets it reads no more than their
 * struct_size says: attn_problem_copy(), attn_io_copy() and attn_own_array() of attn/support.h
 * see to that.
 */
#ifndef ATTN_PLUGIN_H
#define ATTN_PLUGIN_H

#include "attn/line.h"
#include "attn/types.h"

#include <stdarg.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A host loads plugins of its own major version, with any minor version. */
#define ATTN_ABI_MAJOR 1
#define ATTN_ABI_MINOR 1

typedef struct attn_host attn_host_t;
typedef struct attn_backend attn_backend_t;
typedef struct attn_backend_plan attn_backend_plan_t;

/**
 * A parameter's value after the host has read and checked it: `integer` for the types integer,
 * boolean and choice (the index), `number` for the type number (attn/ext/params.h).
 */
typedef union attn_value {
    int64_t integer;
    double number;
} attn_value_t;

/** What the host is and offers. Lives longer than every plan made with it. */
struct attn_host {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name, *version; /**< static text */
    /** A host service (attn/ext/{threads,memory,cpu,log}.h) or NULL. Owned by the host.
     *  [any thread] */
    const void *(*get_extension)(const attn_host_t *host, const char *id);
};

/**
 * A solved problem: what a backend's plan() returns. A backend allocates its own struct with this
 * one as first member. Immutable once returned, so that threads can share it.
 */
struct attn_backend_plan {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t workspace_size; /**< bytes that one run, or one call of an extension, needs */
    const char *kernel;      /**< which code runs, e.g. "avx512 12x32"; lives as long as the plan */

    /**
     * Solve the problem on these arrays; the host has checked them all against the problem. Does
     * not allocate, lock or print. All arrays stay the caller's. Several threads may run a plan at
     * once, each with a workspace of its own. [any thread]
     */
    attn_status_t (*run)(const attn_backend_plan_t *plan, const attn_io_t *io, attn_error_t *error);

    /** Free the plan's memory. Called once, when no run is under way. [one thread per plan] */
    void (*destroy)(attn_backend_plan_t *plan);
};

/** One way to compute attention. Constant data; all strings are static UTF-8 text. */
struct attn_backend {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t features;       /**< enum attn_feature_bits it can do; the host refuses the others */
    const char *id;          /**< "softmax"; third parties "org.example.name" */
    const char *name;        /**< for people */
    const char *version;     /**< of the backend */
    const char *description; /**< one sentence */
    const char *reference;   /**< paper and equation, or a URL */

    /**
     * ATTN_OK, or ATTN_ERROR_UNSUPPORTED with the reason in `why`. NULL: all problems with known
     * features. Does not allocate or block. [any thread]
     */
    attn_status_t (*supports)(const attn_problem_t *problem, attn_error_t *why);

    /**
     * Prepare to solve `problem`, which the host has checked (sizes positive, heads divisible,
     * features known, supports() asked). `values` holds one checked value for each parameter that
     * the backend declares through `attn.params/1`, in that order; NULL when it declares none.
     * May allocate (through `attn.memory/1` when the host has it). On success *plan is the caller's
     * until destroy(). [any thread]
     */
    attn_status_t (*plan)(const attn_host_t *host, const attn_problem_t *problem,
                          const attn_value_t *values, attn_backend_plan_t **plan,
                          attn_error_t *error);

    /** An extension of the backend
     *  (attn/ext/{params,inputs,weights,cost,facts,backward,stream}.h) or NULL. [any thread] */
    const void *(*get_extension)(const char *id);
};

/** What a plugin's shared object exports under the name "attn_plugin_entry". */
typedef struct attn_plugin_entry {
    uint32_t struct_size;
    uint16_t abi_major, abi_minor;
    uint32_t backend_count;
    uint32_t reserved;
    const attn_backend_t *const *backends;
} attn_plugin_entry_t;

#define ATTN_PLUGIN_SYMBOL "attn_plugin_entry"

/**
 * Define the entry of the plugin `name`, once in a plugin:
 *     static const attn_backend_t *const backends[] = {&my_backend};
 *     ATTN_PLUGIN(my, backends);
 * Built as a shared object it becomes the exported symbol; built into the library (with
 * ATTN_PLUGIN_BUILTIN defined) it becomes attn_plugin_entry_<name>, which the core's list names.
 */
#ifdef ATTN_PLUGIN_BUILTIN
#define ATTN_PLUGIN_DEFINE_(name)                                                                  \
    extern const attn_plugin_entry_t attn_plugin_entry_##name;                                     \
    const attn_plugin_entry_t attn_plugin_entry_##name
#elif defined(_WIN32)
#define ATTN_PLUGIN_DEFINE_(name)                                                                  \
    extern __declspec(dllexport) const attn_plugin_entry_t attn_plugin_entry;                      \
    const attn_plugin_entry_t attn_plugin_entry
#else
#define ATTN_PLUGIN_DEFINE_(name)                                                                  \
    extern __attribute__((visibility("default"))) const attn_plugin_entry_t attn_plugin_entry;     \
    const attn_plugin_entry_t attn_plugin_entry
#endif
#define ATTN_PLUGIN(name, list)                                                                    \
    ATTN_PLUGIN_DEFINE_(name) = {sizeof(attn_plugin_entry_t),                                      \
                                 ATTN_ABI_MAJOR,                                                   \
                                 ATTN_ABI_MINOR,                                                   \
                                 sizeof(list) / sizeof((list)[0]),                                 \
                                 0,                                                                \
                                 (list)}

/**
 * Fill `error` (NULL is fine) and return `status`: `return attn_fail(error, ATTN_ERROR_...,
 * ...)`. Whatever the arguments hold, the message is one line of UTF-8 (attn/line.h). [any thread]
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline attn_status_t
attn_fail(attn_error_t *error, attn_status_t status, const char *format, ...) {
    if (error) {
        char text[sizeof error->message];
        va_list arguments;
        va_start(arguments, format);
        const int length = vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        if (length < 0) text[0] = 0;
        if (length >= (int)sizeof text) { /* which may have cut a character */
            size_t end = sizeof text - 1;
            while (end > 0 && ((unsigned char)text[end - 1] & 0xC0) == 0x80) end--;
            text[end - (end > 0 && (unsigned char)text[end - 1] >= 0x80)] = 0;
        }
        error->status = status;
        attn_line(error->message, sizeof error->message, text);
    }
    return status;
}

#ifdef __cplusplus
}
#endif
#endif
