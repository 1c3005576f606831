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
 *     attn_io_init(&io);                                  // then io.query = ..., io.workspace = ...
 *     attn_run(plan, &io, &error);
 *
 * Every function that can fail returns a status and writes one line of explanation into the
 * caller's attn_error_t (or nothing, for NULL); what it should have made is then NULL. There is no
 * global state: everything hangs on a context. Nothing is printed, nothing aborts.
 *
 * Structs that begin with struct_size may be older or newer than the library (attn/grow.h):
 * fields that the caller's lacks are zero, which is their default; a field that the library is
 * too old for, and that is not zero, is ATTN_ERROR_ARGUMENT, as is a struct_size below the first
 * version's. Of structs that are filled for the caller, who sets struct_size before, as much is
 * written as there is room for.
 *
 * Overlap, in all calls alike: inputs may share memory with each other (query, key and value may
 * be one array). What a call writes (outputs, gradients, rows of weights, and as much of the
 * workspace as it needs) shares no byte with an input, another output or the workspace. Arrays
 * may interleave, as in one buffer of packed q, k, v and out: elements count, not the memory
 * between them. Everything else is refused with ATTN_ERROR_ARGUMENT, and nothing is written; so
 * are strides so tangled that a bounded search cannot tell. Streams keep copies: what was
 * appended may be overwritten afterwards.
 *
 * NULL, in all functions alike: where it means something, their comments say so (`error`,
 * options, an array that is absent, what a destroy function gets). Any other pointer that is
 * NULL is ATTN_ERROR_ARGUMENT where a status is returned, and else what there is of nothing: 0,
 * NULL, the scalar tier, an empty text, or no effect.
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

/** The library's version, "major.minor.patch"; compare with ATTN_VERSION, the header's. */
ATTN_API const char *attn_version(void);

/** A status code's name, e.g. "ATTN_ERROR_SHAPE"; static text. */
ATTN_API const char *attn_status_name(attn_status_t status);

/** A tier's name, as ATTN_CPU spells it ("scalar", "sse4", "avx2", ...); static text. */
ATTN_API const char *attn_tier_name(attn_tier_t tier);

/* ---- context --------------------------------------------------------------------------------- */

/** All optional: zero means the default. */
typedef struct attn_context_options {
    uint32_t struct_size;
    int32_t threads;                /**< workers of the context's own pool; 0 and 1: none. One that
                                       has nothing to do looks some 50 us for work, then sleeps. A
                                       child of fork() has none: there a context's plans and
                                       streams work in the calling thread, and may be destroyed */
    const char *cpu;                /**< highest tier to use; NULL: the environment's ATTN_CPU */
    const attn_ext_threads_t *pool; /**< the embedder's threads instead; must outlive the context */
    const attn_ext_memory_t *memory; /**< the embedder's allocator; must outlive the context */
    void (*log)(void *user, const char *line); /**< what plugins have to say; NULL: unheard */
    void *log_user;
} attn_context_options_t;

/**
 * Make a context with the built-in backends registered. `options` may be NULL. The caller owns
 * *context and gives it back with attn_context_destroy(). Errors: an unknown tier name
 * (ATTN_ERROR_NOT_FOUND), a tier this machine or build does not have (ATTN_ERROR_UNSUPPORTED), a
 * number of threads below 0 or above 1024 (ATTN_ERROR_RANGE), no memory.
 */
ATTN_API attn_status_t attn_context_create(const attn_context_options_t *options,
                                           attn_context_t **context, attn_error_t *error);

/** Destroy a context and unload its plugins; NULL is fine. All its plans must be gone before. */
ATTN_API void attn_context_destroy(attn_context_t *context);

/** The tier that plans of this context use. */
ATTN_API attn_tier_t attn_context_tier(const attn_context_t *context);

/** Its threads, to be shared with other contexts (their options' `pool`); live as long as it. */
ATTN_API const attn_ext_threads_t *attn_context_threads(const attn_context_t *context);

/** The tiers this machine can run and this build contains, lowest first; returns how many. `tiers`
 *  (at most `capacity` of them are written) may be NULL. */
ATTN_API uint32_t attn_available_tiers(attn_tier_t *tiers, uint32_t capacity);

/* ---- registry (not to be changed while another thread uses the context) ----------------------- */

/** How many backends are registered. */
ATTN_API uint32_t attn_backend_count(const attn_context_t *context);

/** Backend number `index`, or NULL past the last. Owned by its plugin, lives with the context. */
ATTN_API const attn_backend_t *attn_backend_at(const attn_context_t *context, uint32_t index);

/** The backend with this id, or NULL. */
ATTN_API const attn_backend_t *attn_backend_find(const attn_context_t *context, const char *id);

/** Where backend number `index` came from: "built-in" or the path of its plugin. */
ATTN_API const char *attn_backend_origin(const attn_context_t *context, uint32_t index);

/**
 * Parameter number `index` that a backend declares (attn/ext/params.h), in the order of its
 * declaration; returns 0 past the last. The caller sets info->struct_size; texts are static.
 */
ATTN_API int32_t attn_backend_param(const attn_backend_t *backend, uint32_t index,
                                    attn_param_info_t *info);

/**
 * Array number `number` of a run with this backend (attn/arrays.h): members of attn_io_t, then
 * from ATTN_ARRAY_OWN on the backend's own; returns 0 past the last. A backend of NULL has no
 * own ones. The caller sets info->struct_size; texts are static.
 */
ATTN_API int32_t attn_backend_array(const attn_backend_t *backend, uint32_t number,
                                    attn_array_info_t *info);

/** The member of *io that is array number `number`; NULL past the last of them, ATTN_ARRAY_OWN. */
ATTN_API attn_tensor_t *attn_io_array(attn_io_t *io, uint32_t number);

/**
 * Load a plugin's shared object from its path and register its backends: all of them or, on an
 * error, none. Errors: no such file or not a plugin (ATTN_ERROR_PLUGIN), another ABI major version
 * (ATTN_ERROR_ABI), an id that is taken (ATTN_ERROR_PLUGIN), a build that cannot load
 * (ATTN_ERROR_UNSUPPORTED).
 */
ATTN_API attn_status_t attn_plugin_load(attn_context_t *context, const char *path,
                                        attn_error_t *error);

/**
 * Register a plugin linked into the program. `entry` must outlive the context; `origin` is
 * copied, NULL means "linked". Errors as above.
 */
ATTN_API attn_status_t attn_plugin_register(attn_context_t *context,
                                            const attn_plugin_entry_t *entry, const char *origin,
                                            attn_error_t *error);

/**
 * Take back attn_plugin_register(): the backends of `entry` are gone from the context, and
 * `entry` may go. All their plans and streams must be gone before. ATTN_ERROR_NOT_FOUND when it
 * is not registered.
 */
ATTN_API attn_status_t attn_plugin_unregister(attn_context_t *context,
                                              const attn_plugin_entry_t *entry,
                                              attn_error_t *error);

/**
 * All backends with their parameters as JSON: [{"id", "name", "version", "description",
 * "reference", "origin", "features": [...], "params": [{"name", "label", "help", "unit", "type",
 * "min", "max", "default", "automatic", "choices"}],
 * "arrays": [{"name", "role", "presence", "dtype", "axes", "broadcast", "own", "replaces", "help"}]}];
 * arrays are those that the backend has the feature for, in the order of their numbers. Writes
 * at most `size` bytes with the terminating zero (buffer may be NULL when size is 0); returns
 * the length it needs without it.
 */
ATTN_API size_t attn_describe(const attn_context_t *context, char *buffer, size_t size);

/* ---- problem and tensors --------------------------------------------------------------------- */

/** Fill a problem: f32, kv_heads = heads, not causal, default scale. Change fields afterwards. */
ATTN_API void attn_problem_init(attn_problem_t *problem, int64_t batch, int64_t heads,
                                int64_t queries, int64_t keys, int64_t dim, int64_t value_dim);

/** Check a problem by itself: sizes of at least 1, products that fit, heads % kv_heads == 0. */
ATTN_API attn_status_t attn_problem_check(const attn_problem_t *problem, attn_error_t *error);

/**
 * Say that runs bring the input of this name, the library's or the backend's own: sets its bit
 * in problem->inputs or own_inputs. Errors: no such input (ATTN_ERROR_NOT_FOUND), one that all
 * or no runs have to bring (ATTN_ERROR_ARGUMENT).
 */
ATTN_API attn_status_t attn_problem_add_input(attn_problem_t *problem,
                                              const attn_backend_t *backend, const char *name,
                                              attn_error_t *error);

/**
 * Views of contiguous memory. "bhnd": in the order (batch, head, row, column); "bnhd": in the
 * order (batch, row, head, column). `data` is const so that inputs need no cast; the memory of
 * outputs must be writable. A dtype that is none, and extents that fit in no memory, make a
 * tensor that every call refuses (ATTN_ERROR_DTYPE, _SHAPE).
 */
ATTN_API ATTN_UNREAD(1) attn_tensor_t
    attn_tensor_bhnd(const float *data, int64_t batch, int64_t heads, int64_t rows,
                     int64_t columns);
ATTN_API ATTN_UNREAD(1) attn_tensor_t
    attn_tensor_bnhd(const float *data, int64_t batch, int64_t heads, int64_t rows,
                     int64_t columns);

/**
 * The same of any element type, e.g. ATTN_F16. With key and value in i8, their scales are f32
 * tensors with one column: attn_tensor_bhnd(scales, batch, kv_heads, keys, 1).
 */
ATTN_API ATTN_UNREAD(2) attn_tensor_t
    attn_tensor_bhnd_of(attn_dtype_t dtype, const void *data, int64_t batch, int64_t heads,
                        int64_t rows, int64_t columns);
ATTN_API ATTN_UNREAD(2) attn_tensor_t
    attn_tensor_bnhd_of(attn_dtype_t dtype, const void *data, int64_t batch, int64_t heads,
                        int64_t rows, int64_t columns);

/** One number for each batch: io->kv_lengths. */
ATTN_API attn_tensor_t attn_tensor_lengths(const int64_t *lengths, int64_t batch);

/** One number for each query head: io->sinks, io->slopes. */
ATTN_API attn_tensor_t attn_tensor_heads(const float *numbers, int64_t heads);

/**
 * ALiBi's slopes for so many query heads, for io->slopes (arXiv:2108.12409). Of a power of two
 * H, slope i (from 0 on) is 2^(-8 (i + 1) / H). Of other numbers the first P are those of the
 * largest power of two P below it, and behind them stands every other slope of 2 P heads, from
 * the first on: as the paper's code, BLOOM, MPT and Baichuan do.
 */
ATTN_API attn_status_t attn_alibi_slopes(float *slopes, int64_t heads, attn_error_t *error);

/** How many elements of a tensor are NaN or infinite. They are computed with as IEEE 754 says. */
ATTN_API int64_t attn_count_nonfinite(const attn_tensor_t *tensor);

/* ---- element types --------------------------------------------------------------------------- */

/**
 * Write `count` numbers at `from` as f16, bf16 or f32 to `to`, rounded to nearest even. NaN
 * stays NaN (its payload may change), an infinity stays one. Numbers that are too large for the
 * type become infinities: from 65520 on in f16, from 2^128 (1 - 2^-9) on in bf16. f16 has its
 * subnormals, multiples of 2^-24. `to` and `from` may not overlap, and need the alignment of
 * their elements. ATTN_ERROR_DTYPE for any other type: attn_quantise_i8() makes i8.
 */
ATTN_API attn_status_t attn_from_f32(void *to, attn_dtype_t dtype, const float *from, int64_t count,
                                     attn_error_t *error);

/** The way back, which is exact. */
ATTN_API attn_status_t attn_to_f32(float *to, const void *from, attn_dtype_t dtype, int64_t count,
                                   attn_error_t *error);

/**
 * Rows of f32 side by side as i8, each row with a scale of its own: to[i] is from[i] / scale,
 * rounded to nearest even, in -127..127, so that to[i] * scale is off by half a scale at most
 * (beside f32's rounding). A row's scale is its largest magnitude / 127, or the smallest normal
 * f32 where that is below it (a row of zeros): always positive and finite, as a run needs it. A
 * row with NaN or an infinity has no scale: ATTN_ERROR_RANGE, and nothing is written. Rows are
 * tokens of a head: (B, Hkv, m) of them, `columns` = d or dv.
 */
ATTN_API attn_status_t attn_quantise_i8(int8_t *to, float *scales, const float *from, int64_t rows,
                                        int64_t columns, attn_error_t *error);

/* ---- plan and run ---------------------------------------------------------------------------- */

/** A parameter as text, as a person writes it: {"method", "ams"}, {"eps", "0.1"}. Of several of one
 *  name the last counts. */
typedef struct attn_param {
    const char *name, *value;
} attn_param_t;

/**
 * Make a plan: parse and check the parameters against the backend's declaration, ask the backend
 * whether it can solve the problem, and let it prepare. The plan is immutable and may be shared by
 * threads; the caller destroys it, before the context. Errors: ATTN_ERROR_SHAPE, _DTYPE,
 * _NOT_FOUND (backend or parameter), _ARGUMENT (text that is no number), _RANGE, _UNSUPPORTED (the
 * message says why), _MEMORY.
 */
ATTN_API attn_status_t attn_plan_create(const attn_context_t *context, const char *backend,
                                        const attn_problem_t *problem, const attn_param_t *params,
                                        uint32_t param_count, attn_plan_t **plan,
                                        attn_error_t *error);

/** Destroy a plan; NULL is fine. */
ATTN_API void attn_plan_destroy(attn_plan_t *plan);

/** Bytes of workspace that attn_run() and attn_weights() need; aligned to ATTN_ALIGNMENT. */
ATTN_API uint64_t attn_plan_workspace_size(const attn_plan_t *plan);

/**
 * Which kernel runs, e.g. "avx512 12x32 prefill"; lives with the plan. Of exact attention it
 * ends with the way: "decode" reads keys and values in place, for few queries; "prefill" packs
 * them first.
 */
ATTN_API const char *attn_plan_kernel(const attn_plan_t *plan);

/** The problem the plan was made for. */
ATTN_API const attn_problem_t *attn_plan_problem(const attn_plan_t *plan);

/** The backend it was made with. */
ATTN_API const attn_backend_t *attn_plan_backend(const attn_plan_t *plan);

/**
 * What array number `number` (attn_backend_array()) is in this plan's runs: *tensor becomes a
 * tensor without data, of the right element type and shape, contiguous; returns 0 past the last
 * array.
 */
ATTN_API int32_t attn_plan_array(const attn_plan_t *plan, uint32_t number, attn_tensor_t *tensor);

/**
 * The plan's cost for one run; ATTN_ERROR_UNSUPPORTED when its backend has no attn.cost/1. The
 * caller sets cost->struct_size.
 */
ATTN_API attn_status_t attn_plan_cost(const attn_plan_t *plan, attn_cost_t *cost,
                                      attn_error_t *error);

/**
 * Fact number `index` of the plan (attn/ext/facts.h); returns 0 past the last. The caller sets
 * fact->struct_size.
 */
ATTN_API int32_t attn_plan_fact(const attn_plan_t *plan, uint32_t index, attn_fact_t *fact);

/**
 * Solve the plan's problem on these arrays. Checks every array against the problem first
 * (ATTN_ERROR_SHAPE, _DTYPE, _ARGUMENT, _WORKSPACE, _UNSUPPORTED for an lse the backend has not)
 * and writes nothing when one is wrong. Any thread; several may run one plan at a time with
 * workspaces of their own. Does not allocate, lock or print.
 */
ATTN_API attn_status_t attn_run(const attn_plan_t *plan, const attn_io_t *io, attn_error_t *error);

/** Check these arrays as attn_run() does, but for the workspace and what a backend's lists say
 *  (sparse's of blocks, sketch's of features: the calls that read them check them), and compute
 *  nothing. Errors as there. */
ATTN_API attn_status_t attn_check(const attn_plan_t *plan, const attn_io_t *io,
                                  attn_error_t *error);

/**
 * The effective attention weights of queries [first, first + count) of one batch and query head:
 * rows[r*row_stride + j] for 0 <= j < m, such that out = weights * value (beside what linear's
 * `state` adds). Uses io's query, key, own inputs and workspace; value, out and lse may be
 * absent. ATTN_ERROR_UNSUPPORTED when the backend has no attn.weights/1.
 */
ATTN_API attn_status_t attn_weights(const attn_plan_t *plan, const attn_io_t *io, int64_t batch,
                                    int64_t head, int64_t first, int64_t count, float *rows,
                                    int64_t row_stride, attn_error_t *error);

/**
 * Gradients of a loss through a run of this plan (attn/ext/backward.h): `io` are the run's
 * arrays after it, with out and, unless the backend has none, lse; `gradients` stand each at the
 * place of its array: out (dL/dout) is read, those of differentiable inputs that have data are
 * written. Errors as attn_run(), and ATTN_ERROR_UNSUPPORTED for a gradient that the backend has
 * not; a plan whose problem does not say `backward` is ATTN_ERROR_ARGUMENT. Any thread, like
 * attn_run().
 */
ATTN_API attn_status_t attn_backward(const attn_plan_t *plan, const attn_io_t *io,
                                     const attn_io_t *gradients, attn_error_t *error);

/* ---- streams: tokens that arrive one by one --------------------------------------------------- */

/**
 * What a backend keeps of tokens that come one by one or many at a time (attn/ext/stream.h), to
 * answer the queries of the last ones. One thread at a time per stream.
 */
typedef struct attn_stream attn_stream_t;

/**
 * Make an empty stream. Of `problem` counts what does not change: batch, heads, kv_heads, dim,
 * value_dim, dtypes, causal or not, scale, softcap, window (without causal: one with 0 to the
 * right), own_inputs, and of the library's inputs sinks and slopes (with causal or a window),
 * which come with queries; others are refused, as a bias or a mask is over the keys, which grow.
 * `queries` and `keys` are ignored, past and backward must be 0. Parameters as for a plan; where
 * an automatic one depends on the number of keys, that is `max_keys`, which is the most tokens
 * that the stream may get. Memory grows with the tokens, by doubling, where the backend keeps
 * them all; with a window to the left, a pattern that looks back only so far (sparse), and where
 * it keeps sums (linear), it does not: beside those it has the last append's tokens. The caller
 * destroys the stream, before the context. Errors as attn_plan_create(); ATTN_ERROR_UNSUPPORTED
 * for a backend, or a method of it, that has no streams.
 */
ATTN_API attn_status_t attn_stream_create(const attn_context_t *context, const char *backend,
                                          const attn_problem_t *problem, const attn_param_t *params,
                                          uint32_t param_count, int64_t max_keys,
                                          attn_stream_t **stream, attn_error_t *error);

/** Destroy a stream; NULL is fine. */
ATTN_API void attn_stream_destroy(attn_stream_t *stream);

/** How many tokens came, those that are no longer kept counted. */
ATTN_API int64_t attn_stream_length(const attn_stream_t *stream);

/** Bytes of its memory: cache, plan's workspace and all. */
ATTN_API uint64_t attn_stream_memory(const attn_stream_t *stream);

/**
 * What array number `number` (attn_backend_array()) is in an append of one token or a query of
 * one: *tensor becomes a tensor as by attn_plan_array(); returns 0 past the last array.
 */
ATTN_API int32_t attn_stream_array(const attn_stream_t *stream, uint32_t number,
                                   attn_tensor_t *tensor);

/**
 * Append tokens: io->key (B, Hkv, t, d) and io->value (B, Hkv, t, dv) of the problem's kv_dtype,
 * any strides; for i8 with io->key_scales and value_scales (B, Hkv, t, 1); and the backend's own
 * inputs that have an axis of keys (and none of queries). All others are absent. All or nothing:
 * on an error (as attn_run(); more than max_keys: ATTN_ERROR_RANGE; no memory) the stream is
 * what it was.
 */
ATTN_API attn_status_t attn_stream_append(attn_stream_t *stream, const attn_io_t *io,
                                          attn_error_t *error);

/**
 * Answer the queries io->query (B, H, n, d) of the last n tokens, each standing at its token's
 * position: io->out (B, H, n, dv), io->lse where it is there, sinks, slopes and the backend's
 * own inputs that do not come with tokens, its own outputs where they are there, and io->report.
 * Needs no workspace; allocates only when n or the cache's capacity is not that of the call
 * before. Where tokens are no longer kept (see above) n may be that of the last append or less;
 * ATTN_ERROR_UNSUPPORTED when a query sees tokens that are gone. A query before the first token,
 * which the first have when there are more queries than tokens, sees what its rules let it see
 * from there: with causal or a window nothing, that is zeros and lse = -inf, which is no error.
 * An empty stream gives the same to all.
 */
ATTN_API attn_status_t attn_stream_query(attn_stream_t *stream, const attn_io_t *io,
                                         attn_error_t *error);

/**
 * Forget all tokens from number `length` on (ATTN_ERROR_RANGE when there are fewer). Where
 * tokens are no longer kept: to 0, or as far back as what the next token sees is kept, which for
 * linear is the beginning of the last append; else ATTN_ERROR_UNSUPPORTED.
 */
ATTN_API attn_status_t attn_stream_truncate(attn_stream_t *stream, int64_t length,
                                            attn_error_t *error);

/** An independent copy, which the caller destroys. */
ATTN_API attn_status_t attn_stream_fork(const attn_stream_t *stream, attn_stream_t **copy,
                                        attn_error_t *error);

/**
 * Write what is kept to `buffer` (may be NULL when size is 0); returns the bytes that takes. The
 * same on all tiers; for machines of the same byte order.
 */
ATTN_API uint64_t attn_stream_save(const attn_stream_t *stream, void *buffer, uint64_t size);

/**
 * Replace the stream's tokens by saved ones. Errors, which change nothing: bytes that no stream
 * saved, more or fewer than it saved, or of another backend or method (ATTN_ERROR_ARGUMENT),
 * another shape or dtype (ATTN_ERROR_SHAPE), more than max_keys, no memory. The tokens' own
 * numbers are taken as they are: keep a checksum beside them where storage may change bits.
 */
ATTN_API attn_status_t attn_stream_restore(attn_stream_t *stream, const void *buffer, uint64_t size,
                                           attn_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
