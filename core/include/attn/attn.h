/*
 * attn/attn.h: attention on CPUs and in WebAssembly: the whole interface for programs that use it.
 *
 * Data flows one way: a problem (sizes, no pointers), a backend id and parameters make a plan;
 * a plan runs on arrays, as often as wanted.
 *
 *     attn_context_t *context;                            // registry, cpu tier, threads
 *     attn_context_create(NULL, &context, &error);
 *     attn_problem_t problem;
 *     attn_problem_init(&problem, 1, 8, 1024, 1024, 64, 64);
 *     attn_plan_t *plan;
 *     attn_plan_create(context, "softmax", &problem, NULL, 0, &plan, &error);
 *     attn_io_t io;
 *     attn_io_init(&io);                       // then io.query = ..., io.workspace = ...
 *     attn_run(plan, &io, &error);
 *
 * Errors. A function that can fail returns a status. It writes one line that explains the
 * failure into the caller's attn_error_t, or nothing where that is NULL; what it should have made
 * is then NULL. Nothing is printed and nothing aborts.
 *
 * Threads. Each function says who may call it:
 * - [any thread]: any thread at any time, several of them at once.
 * - [one thread per context]: it changes the context. No other thread uses the context, its plans
 *   or its streams during the call.
 * - [one thread per plan], [one thread per stream]: the same for one plan or one stream; others
 *   of the same context may be used meanwhile.
 * There is no global state: everything hangs on a context.
 *
 * Structs that begin with struct_size may be older or newer than the library (attn/grow.h).
 * Fields that the caller's struct lacks are zero, which is their default. A field that the library
 * is too old for and that is not zero is ATTN_ERROR_ARGUMENT; so is a struct_size below that of
 * the first version. A struct that is filled for the caller has its struct_size set by the caller;
 * the library writes as many fields as have room.
 *
 * Overlap. Inputs may share memory with each other: query, key and value may be one array. What a
 * call writes (outputs, gradients, rows of weights, the part of the workspace that it needs)
 * shares no byte with an input, another output or the workspace. Arrays may interleave, as in one
 * buffer of packed q, k, v and out: elements count, not the memory between them. A call that
 * breaks this rule is ATTN_ERROR_ARGUMENT and writes nothing; so is one whose strides are so
 * tangled that a bounded search cannot tell. Streams keep copies: you may overwrite what you
 * appended.
 *
 * NULL. Where it means something, the comment says so: `error`, options, an array that is absent,
 * the argument of a destroy function. Any other NULL is ATTN_ERROR_ARGUMENT from a function that
 * returns a status. From other functions it gives an empty answer: 0, NULL, the scalar tier, an
 * empty text, or no effect.
 */
#ifndef ATTN_ATTN_H
#define ATTN_ATTN_H

#include "attn/arrays.h"
#include "attn/ext/cpu.h"
#include "attn/ext/memory.h"
#include "attn/ext/params.h"
#include "attn/ext/threads.h"
#include "attn/plugin.h"
#include "attn/types.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(ATTN_SHARED)
#ifdef ATTN_BUILDING
#define ATTN_API __declspec(dllexport)
#else
#define ATTN_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define ATTN_API __attribute__((visibility("default")))
#else
#define ATTN_API
#endif

/* Argument number `n` is kept, and not read: without this gcc warns of an output that is const
 * there and not yet written. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define ATTN_UNREAD(n) __attribute__((access(none, n)))
#else
#define ATTN_UNREAD(n)
#endif

#define ATTN_VERSION_MAJOR 0
#define ATTN_VERSION_MINOR 1
#define ATTN_VERSION_PATCH 0
#define ATTN_VERSION "0.1.0"

typedef struct attn_context attn_context_t;
typedef struct attn_plan attn_plan_t;

/** Alignment of workspaces, in bytes. */
#define ATTN_ALIGNMENT 64

/** The library's version, "major.minor.patch". ATTN_VERSION is the header's. [any thread] */
ATTN_API const char *attn_version(void);

/** The name of a status, e.g. "ATTN_ERROR_SHAPE"; static text. [any thread] */
ATTN_API const char *attn_status_name(attn_status_t status);

/**
 * The name of a tier as ATTN_CPU spells it ("scalar", "sse4", "avx2", ...); static text.
 * [any thread]
 */
ATTN_API const char *attn_tier_name(attn_tier_t tier);

/* ---- context --------------------------------------------------------------------------------- */

/** All optional: zero means the default. */
typedef struct attn_context_options {
    uint32_t struct_size;
    int32_t threads;                /**< workers of the context's own pool; 0 and 1: none. An idle
                                       worker looks for work for about 50 us, then sleeps. A child
                                       of fork() has no workers: there the context's plans and
                                       streams work in the calling thread; you may destroy them */
    const char *cpu;                /**< highest tier to use; NULL: the environment's ATTN_CPU */
    const attn_ext_threads_t *pool; /**< the embedder's threads instead; must outlive the context */
    const attn_ext_memory_t *memory; /**< the embedder's allocator; must outlive the context */
    void (*log)(void *user, const char *line); /**< called with what plugins say; NULL: dropped */
    void *log_user;
} attn_context_options_t;

/**
 * Make a context with the built-in backends registered. `options` may be NULL. You own *context
 * and destroy it with attn_context_destroy(). [any thread]
 * Errors:
 * - ATTN_ERROR_NOT_FOUND: no tier has the name options->cpu, or that in the environment.
 * - ATTN_ERROR_UNSUPPORTED: this machine or this build lacks the tier, or has no threads.
 * - ATTN_ERROR_RANGE: threads is below 0 or above 1024.
 * - ATTN_ERROR_ARGUMENT: `pool` or `memory` lacks a function.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_context_create(const attn_context_options_t *options,
                                           attn_context_t **context, attn_error_t *error);

/**
 * Destroy a context and unload its plugins; NULL is fine. Destroy all its plans and streams before.
 * [one thread per context]
 */
ATTN_API void attn_context_destroy(attn_context_t *context);

/** The tier that plans of this context use. [any thread] */
ATTN_API attn_tier_t attn_context_tier(const attn_context_t *context);

/**
 * The context's threads, which other contexts may share (`pool` in their options). They live as
 * long as the context. [any thread]
 */
ATTN_API const attn_ext_threads_t *attn_context_threads(const attn_context_t *context);

/**
 * The tiers that this machine can run and this build contains, lowest first. Returns how many.
 * Writes at most `capacity` of them to `tiers`, which may be NULL. [any thread]
 */
ATTN_API uint32_t attn_available_tiers(attn_tier_t *tiers, uint32_t capacity);

/* ---- registry -------------------------------------------------------------------------------- */

/** How many backends are registered. [any thread] */
ATTN_API uint32_t attn_backend_count(const attn_context_t *context);

/**
 * Backend number `index`, or NULL past the last. Its plugin owns it; it lives as long as the
 * context. [any thread]
 */
ATTN_API const attn_backend_t *attn_backend_at(const attn_context_t *context, uint32_t index);

/** The backend with this id, or NULL. [any thread] */
ATTN_API const attn_backend_t *attn_backend_find(const attn_context_t *context, const char *id);

/** Where backend number `index` came from: "built-in", or the path of its plugin. [any thread] */
ATTN_API const char *attn_backend_origin(const attn_context_t *context, uint32_t index);

/**
 * Parameter number `index` of a backend (attn/ext/params.h), in the order of declaration. Returns 0
 * past the last. You set info->struct_size; texts are static. [any thread]
 */
ATTN_API int32_t attn_backend_param(const attn_backend_t *backend, uint32_t index,
                                    attn_param_info_t *info);

/**
 * Array number `number` of a run with this backend (attn/arrays.h): the members of attn_io_t, then
 * from ATTN_ARRAY_OWN on backend-specific tensors. Returns 0 past the last. A backend of NULL has
 * no backend-specific tensors. You set info->struct_size; texts are static. [any thread]
 */
ATTN_API int32_t attn_backend_array(const attn_backend_t *backend, uint32_t number,
                                    attn_array_info_t *info);

/** The member of *io that is array number `number`; NULL from ATTN_ARRAY_OWN on. [any thread] */
ATTN_API attn_tensor_t *attn_io_array(attn_io_t *io, uint32_t number);

/**
 * Load a plugin's shared object and register its backends: all of them or, on an error, none.
 * [one thread per context]
 * Errors:
 * - ATTN_ERROR_PLUGIN: there is no such file, it is no plugin, or one of its ids is taken.
 * - ATTN_ERROR_ABI: the plugin has another major version of the ABI.
 * - ATTN_ERROR_MEMORY: out of memory.
 * - ATTN_ERROR_UNSUPPORTED: this build cannot load plugins.
 */
ATTN_API attn_status_t attn_plugin_load(attn_context_t *context, const char *path,
                                        attn_error_t *error);

/**
 * Register a plugin that is linked into the program. `entry` must outlive the context. `origin` is
 * copied; NULL means "linked". [one thread per context]
 * Errors:
 * - ATTN_ERROR_PLUGIN: it is no plugin, or one of its ids is taken.
 * - ATTN_ERROR_ABI: the plugin has another major version of the ABI.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_plugin_register(attn_context_t *context,
                                            const attn_plugin_entry_t *entry, const char *origin,
                                            attn_error_t *error);

/**
 * Undo attn_plugin_register(): the context loses the backends of `entry`, and you may free `entry`.
 * Destroy all their plans and streams before. [one thread per context]
 * Errors:
 * - ATTN_ERROR_NOT_FOUND: `entry` is not registered.
 */
ATTN_API attn_status_t attn_plugin_unregister(attn_context_t *context,
                                              const attn_plugin_entry_t *entry,
                                              attn_error_t *error);

/**
 * All backends with their parameters and arrays as JSON:
 *
 *     [{"id", "name", "version", "description", "reference", "origin", "features": [...],
 *       "params": [{"name", "label", "help", "unit", "type", "min", "max", "default", "automatic",
 *                   "choices"}],
 *       "arrays": [{"name", "role", "presence", "dtype", "axes", "broadcast", "own", "replaces",
 *                   "help"}]}]
 *
 * `arrays` are those that the backend has the feature for, in the order of their numbers. Writes at
 * most `size` bytes, the terminating zero included; `buffer` may be NULL when `size` is 0. Returns
 * the length of the whole text without the zero. [any thread]
 */
ATTN_API size_t attn_describe(const attn_context_t *context, char *buffer, size_t size);

/* ---- problem and tensors --------------------------------------------------------------------- */

/**
 * Fill a problem: f32, kv_heads = heads, not causal, default scale. Change fields afterwards.
 * [any thread]
 */
ATTN_API void attn_problem_init(attn_problem_t *problem, int64_t batch, int64_t heads,
                                int64_t queries, int64_t keys, int64_t dim, int64_t value_dim);

/**
 * Check a problem by itself: sizes of at least 1, products that fit in memory, heads a multiple of
 * kv_heads. [any thread]
 * Errors:
 * - ATTN_ERROR_SHAPE: a size or a product of sizes.
 * - ATTN_ERROR_DTYPE: an element type.
 * - ATTN_ERROR_RANGE, ATTN_ERROR_ARGUMENT: another field; the message names it.
 */
ATTN_API attn_status_t attn_problem_check(const attn_problem_t *problem, attn_error_t *error);

/**
 * Say that runs bring the input of this name, the library's or the backend's own. Sets its bit in
 * problem->inputs or own_inputs. [any thread]
 * Errors:
 * - ATTN_ERROR_NOT_FOUND: there is no such input.
 * - ATTN_ERROR_ARGUMENT: all runs have to bring it, or none.
 */
ATTN_API attn_status_t attn_problem_add_input(attn_problem_t *problem,
                                              const attn_backend_t *backend, const char *name,
                                              attn_error_t *error);

/**
 * Views of contiguous memory. "bhnd" has the order (batch, head, row, column), "bnhd" the order
 * (batch, row, head, column). `data` is const so that inputs need no cast; the memory of outputs
 * must be writable. An unknown dtype, or extents that fit in no memory, make a tensor that every
 * call refuses (ATTN_ERROR_DTYPE, ATTN_ERROR_SHAPE). [any thread]
 */
ATTN_API ATTN_UNREAD(1) attn_tensor_t
    attn_tensor_bhnd(const float *data, int64_t batch, int64_t heads, int64_t rows,
                     int64_t columns);
ATTN_API ATTN_UNREAD(1) attn_tensor_t
    attn_tensor_bnhd(const float *data, int64_t batch, int64_t heads, int64_t rows,
                     int64_t columns);

/**
 * The same for any element type, e.g. ATTN_F16. With key and value in i8, their scales are f32
 * tensors with one column: attn_tensor_bhnd(scales, batch, kv_heads, keys, 1). [any thread]
 */
ATTN_API ATTN_UNREAD(2) attn_tensor_t
    attn_tensor_bhnd_of(attn_dtype_t dtype, const void *data, int64_t batch, int64_t heads,
                        int64_t rows, int64_t columns);
ATTN_API ATTN_UNREAD(2) attn_tensor_t
    attn_tensor_bnhd_of(attn_dtype_t dtype, const void *data, int64_t batch, int64_t heads,
                        int64_t rows, int64_t columns);

/** One number for each batch: io->kv_lengths. [any thread] */
ATTN_API attn_tensor_t attn_tensor_lengths(const int64_t *lengths, int64_t batch);

/** One number for each query head: io->sinks, io->slopes. [any thread] */
ATTN_API attn_tensor_t attn_tensor_heads(const float *numbers, int64_t heads);

/**
 * ALiBi's slopes for `heads` query heads, for io->slopes (arXiv:2108.12409). For H heads, H a power
 * of two, slope i (from 0 on) is 2^(-8 (i + 1) / H). For another number, let P be the largest power
 * of two below it: the first P slopes are those of P heads, and every other slope of 2 P heads
 * follows, from the first on. The paper's code, BLOOM, MPT and Baichuan do the same. [any thread]
 *
 * Errors:
 * - ATTN_ERROR_RANGE: heads is below 1.
 */
ATTN_API attn_status_t attn_alibi_slopes(float *slopes, int64_t heads, attn_error_t *error);

/**
 * How many elements of a tensor are NaN or infinite. Runs compute with them as IEEE 754 says.
 * [any thread]
 */
ATTN_API int64_t attn_count_nonfinite(const attn_tensor_t *tensor);

/* ---- element types --------------------------------------------------------------------------- */

/**
 * Convert `count` numbers at `from` to f16, bf16 or f32 at `to`, rounded to nearest even. NaN stays
 * NaN (its payload may change), an infinity stays one. Numbers too large for the type become
 * infinities: from 65520 on in f16, from 2^128 (1 - 2^-9) on in bf16. f16 has its subnormals,
 * multiples of 2^-24. `to` and `from` do not overlap and have the alignment of their elements.
 * [any thread]
 *
 * Errors:
 * - ATTN_ERROR_DTYPE: any other type (attn_quantise_i8() makes i8).
 * - ATTN_ERROR_SHAPE: `count` is negative, or no memory has so many.
 */
ATTN_API attn_status_t attn_from_f32(void *to, attn_dtype_t dtype, const float *from, int64_t count,
                                     attn_error_t *error);

/**
 * Convert back, which is exact. [any thread]
 * Errors:
 * - ATTN_ERROR_DTYPE: `dtype` is not f16, bf16 or f32.
 * - ATTN_ERROR_SHAPE: as of attn_from_f32().
 */
ATTN_API attn_status_t attn_to_f32(float *to, const void *from, attn_dtype_t dtype, int64_t count,
                                   attn_error_t *error);

/**
 * Convert contiguous rows of f32 to i8, each row with a scale of its own: to[i] is from[i] / scale,
 * rounded to nearest even, in -127..127. So to[i] * scale is off by at most half a scale (beside
 * f32's rounding). A row's scale is its largest magnitude / 127, at least the smallest normal f32:
 * always positive and finite, as a run needs it. The rows are the tokens of heads, (B, Hkv, m) of
 * them; `columns` is d or dv. [any thread]
 *
 * Errors:
 * - ATTN_ERROR_RANGE: a row has NaN or an infinity. Nothing is written.
 * - ATTN_ERROR_SHAPE: no memory has so many rows.
 */
ATTN_API attn_status_t attn_quantise_i8(int8_t *to, float *scales, const float *from, int64_t rows,
                                        int64_t columns, attn_error_t *error);

/* ---- plan and run ---------------------------------------------------------------------------- */

/** A parameter as text, as a person writes it: {"method", "ams"}, {"eps", "0.1"}. Where a name
 *  stands twice, the last one counts. */
typedef struct attn_param {
    const char *name, *value;
} attn_param_t;

/**
 * Make a plan. The parameters are parsed and checked against the backend's declaration; the backend
 * says whether it can solve the problem, and prepares. A plan is immutable; threads may share it.
 * You destroy it, before the context. [any thread]
 * Errors:
 * - ATTN_ERROR_SHAPE, ATTN_ERROR_DTYPE: the problem.
 * - ATTN_ERROR_NOT_FOUND: there is no such backend or parameter.
 * - ATTN_ERROR_ARGUMENT: a parameter's text is no number, or a field has a wrong value.
 * - ATTN_ERROR_RANGE: a number is outside its range.
 * - ATTN_ERROR_UNSUPPORTED: the backend cannot do this; the message says why.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_plan_create(const attn_context_t *context, const char *backend,
                                        const attn_problem_t *problem, const attn_param_t *params,
                                        uint32_t param_count, attn_plan_t **plan,
                                        attn_error_t *error);

/** Destroy a plan; NULL is fine. No run may be under way. [one thread per plan] */
ATTN_API void attn_plan_destroy(attn_plan_t *plan);

/**
 * Bytes of workspace that attn_run(), attn_weights() and attn_backward() need, at an address that
 * is a multiple of ATTN_ALIGNMENT. The size is one, too, as aligned_alloc() wants it; 0: none is
 * needed. [any thread]
 */
ATTN_API uint64_t attn_plan_workspace_size(const attn_plan_t *plan);

/**
 * Which kernel runs, e.g. "avx512 12x32 prefill"; lives as long as the plan. For exact attention
 * the last word tells how keys and values are read: "decode" reads them in place, for few queries;
 * "prefill" packs them first. [any thread]
 */
ATTN_API const char *attn_plan_kernel(const attn_plan_t *plan);

/** The problem of the plan. [any thread] */
ATTN_API const attn_problem_t *attn_plan_problem(const attn_plan_t *plan);

/** The backend of the plan. [any thread] */
ATTN_API const attn_backend_t *attn_plan_backend(const attn_plan_t *plan);

/**
 * Array number `number` (attn_backend_array()) of this plan's runs: *tensor becomes a contiguous
 * tensor of its element type and shape, without data. Returns 0 past the last array. [any thread]
 */
ATTN_API int32_t attn_plan_array(const attn_plan_t *plan, uint32_t number, attn_tensor_t *tensor);

/**
 * What one run costs. You set cost->struct_size. [any thread]
 * Errors:
 * - ATTN_ERROR_UNSUPPORTED: the backend has no attn.cost/1.
 */
ATTN_API attn_status_t attn_plan_cost(const attn_plan_t *plan, attn_cost_t *cost,
                                      attn_error_t *error);

/**
 * Fact number `index` of the plan (attn/ext/facts.h). Returns 0 past the last. You set
 * fact->struct_size. [any thread]
 */
ATTN_API int32_t attn_plan_fact(const attn_plan_t *plan, uint32_t index, attn_fact_t *fact);

/**
 * Solve the plan's problem on these arrays. Every array is checked against the problem first; when
 * one is wrong, nothing is written. Does not allocate, lock or print. Several threads may run one
 * plan at once, each with a workspace of its own. [any thread]
 * Errors:
 * - ATTN_ERROR_SHAPE, ATTN_ERROR_DTYPE: an array's extents or element type.
 * - ATTN_ERROR_ARGUMENT: an array is missing, not expected, misaligned or overlaps another.
 * - ATTN_ERROR_RANGE: a KV length or a scale; the message says which element.
 * - ATTN_ERROR_WORKSPACE: the workspace is too small or misaligned.
 * - ATTN_ERROR_UNSUPPORTED: an output that the backend does not have, such as lse.
 */
ATTN_API attn_status_t attn_run(const attn_plan_t *plan, const attn_io_t *io, attn_error_t *error);

/**
 * Check these arrays as attn_run() does, and compute nothing. The workspace is not checked, nor are
 * the contents of a backend's lists (sparse's blocks, sketch's features), which are checked where
 * they are read. Errors as of attn_run(). [any thread]
 */
ATTN_API attn_status_t attn_check(const attn_plan_t *plan, const attn_io_t *io,
                                  attn_error_t *error);

/**
 * The effective attention weights of queries [first, first + count) of one batch and query head:
 * rows[r * row_stride + j] for 0 <= j < m, such that out = weights * value (beside what linear's
 * `state` adds). Uses io's query, key, own inputs and workspace; value, out and lse may be absent.
 * [any thread]
 *
 * Errors, beside those of attn_run():
 * - ATTN_ERROR_SHAPE: there is no such batch, head or query, or row_stride is below m.
 * - ATTN_ERROR_UNSUPPORTED: the backend has no attn.weights/1.
 */
ATTN_API attn_status_t attn_weights(const attn_plan_t *plan, const attn_io_t *io, int64_t batch,
                                    int64_t head, int64_t first, int64_t count, float *rows,
                                    int64_t row_stride, attn_error_t *error);

/**
 * Gradients of a loss through a run of this plan (attn/ext/backward.h). `io` are the run's arrays
 * after it, with out and, unless the backend has none, lse. In `gradients` each gradient stands at
 * the place of its array: out (dL/dout) is read; those of differentiable inputs that have data are
 * written. [any thread]
 *
 * Errors, beside those of attn_run():
 * - ATTN_ERROR_ARGUMENT: the plan's problem does not say `backward`.
 * - ATTN_ERROR_UNSUPPORTED: a gradient that the backend does not have.
 */
ATTN_API attn_status_t attn_backward(const attn_plan_t *plan, const attn_io_t *io,
                                     const attn_io_t *gradients, attn_error_t *error);

/**
 * Check these arrays as attn_backward() does, but for the workspace, and compute nothing. Errors as
 * of attn_backward(). [any thread]
 */
ATTN_API attn_status_t attn_check_backward(const attn_plan_t *plan, const attn_io_t *io,
                                           const attn_io_t *gradients, attn_error_t *error);

/* ---- streams: tokens that arrive one by one -------------------------------------------------- */

/**
 * What a backend keeps of tokens that come one by one or many at a time (attn/ext/stream.h), to
 * answer the queries of the last ones.
 */
typedef struct attn_stream attn_stream_t;

/**
 * Make an empty stream. You destroy it, before the context. [any thread]
 *
 * Of `problem` these fields count, which do not change: batch, heads, kv_heads, dim, value_dim,
 * dtypes, causal, scale, softcap, window (0 to the right unless causal), own_inputs, and of the
 * library's inputs sinks and slopes (with causal or a window), which come with queries. Other
 * inputs are refused: a bias or a mask is over the keys, which grow. `queries` and `keys` are
 * ignored; past and backward must be 0. Parameters are as for a plan. Where an automatic parameter
 * depends on the number of keys, that number is `max_keys`, the most tokens that the stream may
 * get.
 *
 * Memory. A backend that keeps all tokens doubles its memory as they come. Memory does not grow
 * with a window to the left, with a pattern that looks back only so far (sparse), and where sums
 * are kept (linear): there the stream has beside them the tokens of the last append.
 *
 * Errors, beside those of attn_plan_create():
 * - ATTN_ERROR_RANGE: max_keys is below 1.
 * - ATTN_ERROR_UNSUPPORTED: the backend, or this method of it, has no streams.
 */
ATTN_API attn_status_t attn_stream_create(const attn_context_t *context, const char *backend,
                                          const attn_problem_t *problem, const attn_param_t *params,
                                          uint32_t param_count, int64_t max_keys,
                                          attn_stream_t **stream, attn_error_t *error);

/** Destroy a stream; NULL is fine. [one thread per stream] */
ATTN_API void attn_stream_destroy(attn_stream_t *stream);

/** How many tokens came, including those no longer kept. [one thread per stream] */
ATTN_API int64_t attn_stream_length(const attn_stream_t *stream);

/** Bytes of its memory: the cache, the plan's workspace and all else. [one thread per stream] */
ATTN_API uint64_t attn_stream_memory(const attn_stream_t *stream);

/**
 * Array number `number` (attn_backend_array()) of an append of one token or of a query of one:
 * *tensor becomes a tensor as by attn_plan_array(). Returns 0 past the last array.
 * [one thread per stream]
 */
ATTN_API int32_t attn_stream_array(const attn_stream_t *stream, uint32_t number,
                                   attn_tensor_t *tensor);

/**
 * Append t tokens: io->key (B, Hkv, t, d) and io->value (B, Hkv, t, dv) of the problem's kv_dtype,
 * with any strides; for i8 also io->key_scales and value_scales (B, Hkv, t, 1); and those of the
 * backend's own inputs that have an axis of keys and none of queries. All other arrays are absent.
 * On an error the stream is what it was. [one thread per stream]
 *
 * Errors, beside those of attn_run():
 * - ATTN_ERROR_RANGE: more than max_keys tokens.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_stream_append(attn_stream_t *stream, const attn_io_t *io,
                                          attn_error_t *error);

/**
 * Answer the queries io->query (B, H, n, d) of the last n tokens, each at its token's position, in
 * io->out (B, H, n, dv). Also read and written where they are there: lse, sinks, slopes, those of
 * the backend's own inputs that do not come with tokens, its own outputs, and io->report. Needs no
 * workspace. Allocates only when n or the cache's capacity has changed since the last call.
 * [one thread per stream]
 *
 * With more queries than tokens the first queries stand before the first token. They see what their
 * rules let them see from there. With causal or a window that is nothing: zeros and lse = -inf,
 * which is no error. An empty stream gives that answer to all.
 *
 * Errors, beside those of attn_run():
 * - ATTN_ERROR_UNSUPPORTED: a query sees tokens that are gone. Where a stream does not keep all
 *   tokens, n may be up to that of the last append.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_stream_query(attn_stream_t *stream, const attn_io_t *io,
                                         attn_error_t *error);

/**
 * Forget all tokens from number `length` on. A stream that does not keep all tokens can go back to
 * 0, or as far as it still has what the next token sees; for linear that is the beginning of the
 * last append. [one thread per stream]
 * Errors:
 * - ATTN_ERROR_RANGE: there are fewer tokens than `length`.
 * - ATTN_ERROR_UNSUPPORTED: it cannot go back so far.
 */
ATTN_API attn_status_t attn_stream_truncate(attn_stream_t *stream, int64_t length,
                                            attn_error_t *error);

/**
 * Make an independent copy, which you destroy. [one thread per stream]
 * Errors:
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_stream_fork(const attn_stream_t *stream, attn_stream_t **copy,
                                        attn_error_t *error);

/**
 * Write what is kept to `buffer`, which may be NULL when `size` is 0. Returns the bytes that it
 * needs. They are the same on all tiers, and for machines of the same byte order.
 * [one thread per stream]
 */
ATTN_API uint64_t attn_stream_save(const attn_stream_t *stream, void *buffer, uint64_t size);

/**
 * Replace the stream's tokens by saved ones. On an error the stream is what it was. The saved
 * numbers are taken as they are: keep a checksum where storage may change bits.
 * [one thread per stream]
 * Errors:
 * - ATTN_ERROR_ARGUMENT: no stream saved these bytes, some are missing or too many, or another
 *   backend or method saved them.
 * - ATTN_ERROR_SHAPE: another shape or element type.
 * - ATTN_ERROR_RANGE: more than max_keys tokens.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_stream_restore(attn_stream_t *stream, const void *buffer, uint64_t size,
                                           attn_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
