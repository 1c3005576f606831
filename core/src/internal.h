/* internal.h: what the core's own files know of each other. */
#ifndef ATTN_INTERNAL_H
#define ATTN_INTERNAL_H

#include "attn/attn.h"
#include "attn/ext/log.h"
#include "attn/support.h"

#include <stdbool.h>

typedef struct attn_pool attn_pool_t;

/* One registered backend. */
typedef struct registration {
    const attn_backend_t *backend;
    char *origin;
} registration_t;

/* A plugin's shared object, closed with the context. */
typedef struct library {
    void *handle;
    struct library *next;
} library_t;

/* The registry, and the host that plugins see. */
struct attn_context {
    attn_host_t host;
    attn_ext_memory_t memory;
    attn_ext_threads_t threads;
    attn_ext_cpu_t cpu;
    attn_ext_log_t log;
    attn_pool_t *pool; /* the context's own, or NULL */
    registration_t *backends;
    uint32_t backend_count, backend_capacity;
    library_t *libraries;
};

/* status.c: adds a name to what an error lists, as far as there is room. */
void attn_list_name(char *list, size_t size, const char *name);

/* memory.c: malloc-like, through the context's allocator. */
extern const attn_ext_memory_t attn_default_memory;
void *attn_allocate(const attn_context_t *context, size_t size);
void attn_release(const attn_context_t *context, void *memory);
char *attn_copy_text(const attn_context_t *context, const char *text);

/* cpu.c: the highest tier allowed by `name` (NULL or "": all that the machine has). */
attn_status_t attn_cpu_choose(const char *name, attn_tier_t *tier, attn_error_t *error);

/* pool.c: a pool of `workers` - 1 threads; the caller of parallel_for is the last worker. */
attn_status_t attn_pool_create(const attn_context_t *context, uint32_t workers, attn_pool_t **pool,
                               attn_error_t *error);
void attn_pool_destroy(const attn_context_t *context, attn_pool_t *pool);
void attn_pool_parallel_for(void *pool, int64_t tasks, attn_task_t *task, void *data);

/* registry.c */
attn_status_t attn_register_builtins(attn_context_t *context, attn_error_t *error);
void attn_registry_clear(attn_context_t *context);

/* loader.c */
void attn_libraries_close(attn_context_t *context);

/* params.c: text to values, in the order of the backend's declaration. `values` has room. */
attn_status_t attn_params_read(const attn_backend_t *backend, const attn_param_t *params,
                               uint32_t count, attn_value_t *values, attn_error_t *error);

/* problem.c: the shape of each array of a run, and the check against it. */
attn_status_t attn_io_check(const attn_problem_t *problem, const attn_io_t *io,
                            bool with_value_and_out, attn_error_t *error);

#endif
