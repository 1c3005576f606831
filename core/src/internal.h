/* internal.h: what the core's own files know of each other. */
#ifndef ATTN_INTERNAL_H
#define ATTN_INTERNAL_H

#include "ieee/ieee.h"

#include "attn/attn.h"
#include "attn/ext/inputs.h"
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

/* status.c: whether it is one of a parameter or an array: lower case, digits, '_'. */
bool attn_is_name(const char *text);

/* status.c: attn_struct_read() of a struct called `what`, with an error. */
attn_status_t attn_struct_take(void *to, uint32_t size, const void *from, uint32_t first,
                               const char *what, attn_error_t *error);

/* status.c: what a plugin says of its failure, as one line: it may have written the error itself. */
attn_status_t attn_answer(attn_status_t status, attn_error_t *error);

/* memory.c: malloc-like, through the context's allocator. */
extern const attn_ext_memory_t attn_default_memory;
void *attn_allocate(const attn_context_t *context, size_t size);
void attn_release(const attn_context_t *context, void *memory);
char *attn_copy_text(const attn_context_t *context, const char *text);

/* cpu.c: the highest tier allowed by `name` (NULL or "": all that the machine has). */
attn_status_t attn_cpu_choose(const char *name, attn_tier_t *tier, attn_error_t *error);

/* amx.c: why AMX's tiles cannot be used, a short sentence; NULL if they can. And whether that is so on a processor that
 * has them. */
const char *attn_amx_refusal(void);
bool attn_amx_is_lost(void);

/* pool.c: a pool of `workers` - 1 threads; the caller of parallel_for is the last worker. */
attn_status_t attn_pool_create(const attn_context_t *context, uint32_t workers, attn_pool_t **pool,
                               attn_error_t *error);
void attn_pool_destroy(const attn_context_t *context, attn_pool_t *pool);
void attn_pool_parallel_for(void *pool, int64_t tasks, attn_task_t *task, void *data);

/* registry.c */
attn_status_t attn_register_builtins(attn_context_t *context, attn_error_t *error);
void attn_registry_clear(attn_context_t *context);

/* registry.c: a backend's extension, or NULL; one of less than `size` bytes is none. */
const void *attn_extension(const attn_backend_t *backend, const char *id, size_t size);

/* registry.c: whether the backend has these features, with an error that names the first it lacks. */
attn_status_t attn_features_check(const attn_backend_t *backend, uint64_t needed,
                                  attn_error_t *error);

/* loader.c */
void attn_libraries_close(attn_context_t *context);

/* params.c: how many parameters the backend declares. */
uint32_t attn_params_count(const attn_backend_t *backend);
/* What is wrong with a backend's declaration; NULL: nothing. */
const char *attn_params_malformed(const attn_backend_t *backend);
/* Text to values, in the order of the backend's declaration. `values` has room. */
attn_status_t attn_params_read(const attn_backend_t *backend, const attn_param_t *params,
                               uint32_t count, attn_value_t *values, attn_error_t *error);

/* problem.c: a caller's problem as this library has it, checked. */
attn_status_t attn_problem_read(attn_problem_t *problem, const attn_problem_t *given,
                                attn_error_t *error);
/* Whether its query, key, value and output can be addressed, but for arrays whose bits are in `replaced`. */
attn_status_t attn_problem_fits(const attn_problem_t *problem, uint64_t replaced,
                                attn_error_t *error);

/* What a plan or a stream is asked for: a problem, whose backend it is for, and values of its parameters,
 * which the caller releases. */
typedef struct attn_request {
    attn_problem_t problem;
    const attn_backend_t *backend;
    attn_value_t *values; /* NULL: it has none */
} attn_request_t;

/* plan.c: all of it checked. */
attn_status_t attn_request_read(const attn_context_t *context, const char *backend,
                                const attn_problem_t *problem, const attn_param_t *params,
                                uint32_t param_count, attn_request_t *request, attn_error_t *error);

/* Arrays that have no say in weights, by their numbers. */
enum {
    ATTN_UNREAD_BY_WEIGHTS = 1 << ATTN_ARRAY_VALUE | 1 << ATTN_ARRAY_VALUE_SCALES |
                             1 << ATTN_ARRAY_OUT | 1 << ATTN_ARRAY_LSE | 1 << ATTN_ARRAY_SCORES
};

/* plan.c: whether there are such rows; `what` is for errors. */
attn_status_t attn_rows_check(const attn_problem_t *problem, int64_t batch, int64_t head,
                              int64_t first, int64_t count, const char *what, attn_error_t *error);

/* plan.c: the backend reports to `own`, from where it goes to the caller's, `result`. */
attn_status_t attn_report_begin(attn_io_t *io, attn_report_t *own, attn_report_t **result,
                                attn_error_t *error);
void attn_report_end(attn_report_t *result, const attn_report_t *own);

/* What a run's arrays are checked against. */
typedef struct attn_scope {
    const attn_problem_t *problem;
    const attn_backend_t *backend;
    const attn_backend_plan_t *prepared; /* NULL: the backend's own shapes are not known yet */
    const attn_array_info_t *own;        /* its own arrays: read once, as runs are many */
    uint32_t own_count;
    const char
        *call; /* "an append": arrays that it does not use are refused; NULL: they are ignored */
} attn_scope_t;

/* plan.c: what the arrays of a plan's runs are checked against, and the host that it computes by. */
const attn_scope_t *attn_plan_scope(const attn_plan_t *plan);
const attn_host_t *attn_plan_host(const attn_plan_t *plan);

/* arrays.c: the members of attn_io_t as they are declared, and where they are in it. */
typedef struct attn_declared {
    attn_array_info_t info;
    size_t offset;
} attn_declared_t;
extern const attn_declared_t attn_declared[];
enum { ATTN_DECLARED = ATTN_SMALL ? (int)ATTN_ARRAY_KEY_SCALES : (int)ATTN_ARRAY_OWN };

/* arrays.c: array number `number` of a run as it is declared, which may be in `copy`; NULL past the
 * last. */
const attn_array_info_t *attn_array_declared(const attn_backend_t *backend, uint32_t number,
                                             attn_array_info_t *copy);
/* How many arrays the backend has of its own, and all of them as they are declared. */
uint32_t attn_own_count(const attn_backend_t *backend);
void attn_own_read(const attn_backend_t *backend, attn_array_info_t *own);
/* Array number `number` of a run, NULL past the last. */
static inline const attn_array_info_t *attn_array_of(const attn_scope_t *scope, uint32_t number) {
    if (number < ATTN_DECLARED) return &attn_declared[number].info;
    const uint32_t index = number - ATTN_ARRAY_OWN;
    return !ATTN_SMALL && index < scope->own_count ? &scope->own[index] : NULL;
}
/* Its tensor, without data where there is none. */
static inline const attn_tensor_t *attn_array_in(const attn_io_t *io, uint32_t number) {
    static const attn_tensor_t absent;
    if (number < ATTN_ARRAY_OWN)
        return (const attn_tensor_t *)(const void *)((const char *)io +
                                                     attn_declared[number].offset);
    const uint32_t index = number - ATTN_ARRAY_OWN;
    const bool is_there = index < io->own_count && io->own[index];
    return is_there ? io->own[index] : &absent;
}
/* Bits of the library's arrays for which inputs stand that the problem names. */
uint64_t attn_arrays_replaced(const attn_scope_t *scope);
/* What it has to be: element type, shape, and strides without gaps (0: it would not fit in memory). */
attn_tensor_t attn_array_wanted(const attn_scope_t *scope, uint32_t number,
                                const attn_array_info_t *info);
/* Whether the shapes that a plan says of the backend-specific tensors can be. */
attn_status_t attn_arrays_check(const attn_scope_t *scope, attn_error_t *error);
int64_t attn_axis_extent(const attn_problem_t *problem, int32_t axis);
const attn_ext_inputs_t *attn_own_arrays(const attn_backend_t *backend);
/* What is wrong with a backend's declaration; NULL: nothing. */
const char *attn_arrays_malformed(const attn_backend_t *backend);

/* io.c: a caller's arrays as this library has them; `what`, "io" or "gradients", is for errors. */
attn_status_t attn_io_read(attn_io_t *io, const attn_io_t *given, const char *what,
                           attn_error_t *error);
/* Whether no two elements of an array that is written share a place (attn_tensor_t). */
bool attn_axes_nest(const attn_tensor_t *tensor);
/* All arrays but those whose bits are set in `unused`, by their numbers; see attn_scope_t.call. */
attn_status_t attn_io_check(const attn_scope_t *scope, const attn_io_t *io, uint64_t unused,
                            attn_error_t *error);
/* Nothing is given behind the backend's last array, number `end` - 1: it would be left out in silence. */
attn_status_t attn_behind_check(const attn_scope_t *scope, const attn_io_t *io, uint32_t end,
                                attn_error_t *error);
/* One array, which is there. */
attn_status_t attn_tensor_check(const attn_scope_t *scope, uint32_t number,
                                const attn_array_info_t *info, const attn_tensor_t *tensor,
                                bool is_written, attn_error_t *error);

/* overlap.c: whether two arrays share a byte, or it takes too long to tell. */
bool attn_tensors_overlap(const attn_tensor_t *a, const attn_tensor_t *b);
/* Bytes as an array. */
attn_tensor_t attn_tensor_bytes(void *data, uint64_t size);
/* What a call writes, and its name in errors: "gradient of ", "key"; `number` is that of it in the io that
 * it is checked against, if any. */
enum { ATTN_NO_NUMBER = -1 };
typedef struct attn_written {
    const char *prefix, *name;
    const attn_tensor_t *tensor;
    int64_t number;
} attn_written_t;
/* It shares no memory with another array of io, those in `unused` left out. */
attn_status_t attn_written_check(const attn_scope_t *scope, const attn_written_t *written,
                                 const attn_io_t *io, uint64_t unused, attn_error_t *error);
/* The same of all outputs in io. */
attn_status_t attn_outputs_check(const attn_scope_t *scope, const attn_io_t *io, uint64_t unused,
                                 attn_error_t *error);

#endif
