/*
 * functions.h: every function that crosses the boundary between C and JavaScript, and what crosses
 * with it. The prototypes (bindings.h), the exports of each module (../exports.cmake), and what
 * the addon for Node checks before it calls (../native/functions.c) are made of this list.
 *
 *   FUNCTION(set, result, name, KIND(position, argument)...)
 *
 * Sets, by who has a function: every module and the addon (EVERY), every module (MODULE), the library
 * (SOFTMAX), unless it is softmax alone (FULL), has threads alone (THREADS), can load plugins (PLUGIN);
 * texts and files (DATA); the experiments (LABS); trained models (MODELS); models that learn (TRAINING).
 *
 * Kinds of arguments:
 *   SESSION, PLAN, STREAM, RUN, MODEL, STUDY   what a function with that result made
 *   PROBLEM, ARRAYS              lists of numbers (bindings.h)
 *   NUMBER, COUNT                a number
 *   TEXT                         ended by a zero
 *   PAIRS                        names and values by turns, each ended by a zero
 *   BYTES, ROOM, FLOATS, DOUBLES arrays; ROOM, FLOATS and DOUBLES may be written
 *   LENGTH                       how many elements, or pairs, the argument before it has
 *   ADDRESS                      memory of the module
 * Results: what they say, and
 *   STATUS                       not 0: it failed
 *   NUMBER                       below 0, where it can fail: it failed
 *   TEXT                         the caller's to free; NULL: it failed
 *   NAME                         a text that is not to be freed
 *   END                          nothing: the argument is no more, unless it was NULL
 *
 * Whoever includes this defines FUNCTION and the kinds of arguments, which are undefined behind it.
 */
/* One function, one line. */
/* clang-format off */

/* ---- session.c ------------------------------------------------------------------------------- */

FUNCTION(MODULE, SESSION, attnjs_open, NONE)
FUNCTION(EVERY, END, attnjs_close, SESSION(0))

/** {"version", "build", "tier"} as JSON. */
FUNCTION(SOFTMAX, TEXT, attnjs_about, SESSION(0))
/** The array of attn_describe(). */
FUNCTION(FULL, TEXT, attnjs_backends, SESSION(0))

/* ---- shared.c -------------------------------------------------------------------------------- */

FUNCTION(MODULE, NUMBER, attnjs_interface, NONE)

/** Of the last call that failed. */
FUNCTION(EVERY, NAME, attnjs_error_code, SESSION(0))
FUNCTION(EVERY, NAME, attnjs_error_message, SESSION(0))

/** Memory aligned to ATTN_ALIGNMENT, or NULL, also for more bytes than there are addresses. */
FUNCTION(MODULE, ADDRESS, attnjs_allocate, NUMBER(0, bytes))
FUNCTION(MODULE, END, attnjs_free, ADDRESS(0, memory))

/* ---- plan.c ---------------------------------------------------------------------------------- */

FUNCTION(SOFTMAX, PLAN, attnjs_plan_create, SESSION(0), TEXT(1, backend), PROBLEM(2, problem), PAIRS(3, params), LENGTH(4, count))
FUNCTION(SOFTMAX, END, attnjs_plan_destroy, PLAN(0))
/** {"kernel", "workspaceBytes", "cost", "facts", "own"} as JSON; cost is null where the backend has none,
 *  own has the shapes of its backend-specific tensors. */
FUNCTION(FULL, TEXT, attnjs_plan_describe, SESSION(0), PLAN(1))

/** Returns how many rows were degenerate. */
FUNCTION(SOFTMAX, NUMBER, attnjs_run, SESSION(0), PLAN(1), ARRAYS(2, arrays))

/** Writes count x keys weights to `rows`, which has room for so many. */
FUNCTION(FULL, STATUS, attnjs_weights, SESSION(0), PLAN(1), ARRAYS(2, arrays), NUMBER(3, batch), NUMBER(4, head), NUMBER(5, first), NUMBER(6, count), FLOATS(7, rows), LENGTH(8, room))

/** The relative error of `out` in the Frobenius norm (attn/oracle.h). */
FUNCTION(FULL, NUMBER, attnjs_oracle_error, SESSION(0), PLAN(1), ARRAYS(2, arrays), NUMBER(3, stride))

/** A plan that also does attnjs_backward(). */
FUNCTION(FULL, PLAN, attnjs_gradients_create, SESSION(0), TEXT(1, backend), PROBLEM(2, problem), PAIRS(3, params), LENGTH(4, count))
/** {"lse", "arrays"} as JSON: whether attnjs_backward() reads lse, and the numbers of arrays that can have gradients. */
FUNCTION(FULL, TEXT, attnjs_gradients_describe, SESSION(0), PLAN(1))
/** `arrays` are a run's, after it; `gradients` the loss's by out, and those to be written, each by its array's number. */
FUNCTION(FULL, STATUS, attnjs_backward, SESSION(0), PLAN(1), ARRAYS(2, arrays), ARRAYS(3, gradients))

/* ---- stream.c -------------------------------------------------------------------------------- */

/** Of `problem` counts what attn_stream_create() says. */
FUNCTION(FULL, STREAM, attnjs_stream_create, SESSION(0), TEXT(1, backend), PROBLEM(2, problem), PAIRS(3, params), LENGTH(4, count), NUMBER(5, max_keys))
FUNCTION(FULL, END, attnjs_stream_destroy, STREAM(0))
/** {"own"} as JSON: the shapes of its backend-specific tensors (attn_stream_array()). */
FUNCTION(FULL, TEXT, attnjs_stream_describe, SESSION(0), STREAM(1))
FUNCTION(FULL, NUMBER, attnjs_stream_length, SESSION(0), STREAM(1))
FUNCTION(FULL, NUMBER, attnjs_stream_memory, SESSION(0), STREAM(1))
FUNCTION(FULL, STATUS, attnjs_stream_append, SESSION(0), STREAM(1), ARRAYS(2, arrays))
/** Returns how many rows were degenerate. */
FUNCTION(FULL, NUMBER, attnjs_stream_query, SESSION(0), STREAM(1), ARRAYS(2, arrays))
FUNCTION(FULL, STREAM, attnjs_stream_fork, SESSION(0), STREAM(1))
FUNCTION(FULL, STATUS, attnjs_stream_truncate, SESSION(0), STREAM(1), NUMBER(2, length))
/** Returns the bytes it takes; writes them where there is room for them. */
FUNCTION(FULL, NUMBER, attnjs_stream_save, SESSION(0), STREAM(1), ROOM(2, bytes), LENGTH(3, size))
FUNCTION(FULL, STATUS, attnjs_stream_restore, SESSION(0), STREAM(1), BYTES(2, bytes), LENGTH(3, size))

/* ---- plugin.c: plugins that js/engine/link.js has linked into this instance ------------------------- */

FUNCTION(PLUGIN, STATUS, attnjs_plugin_register, SESSION(0), ADDRESS(1, entry), TEXT(2, origin))
FUNCTION(PLUGIN, STATUS, attnjs_plugin_unregister, SESSION(0), ADDRESS(1, entry))

/* ---- threads.c ------------------------------------------------------------------------------- */

/** With so many workers, of which the caller is the first; in a browser's window it may not sleep. js/
 *  starts the others, in attnjs_work(attnjs_pool()). */
FUNCTION(THREADS, SESSION, attnjs_open_threads, NUMBER(0, workers), NUMBER(1, may_sleep))
FUNCTION(THREADS, ADDRESS, attnjs_pool, SESSION(0))
/** What a worker does until the pool stops; `number` is from 1 to workers - 1. */
FUNCTION(THREADS, NOTHING, attnjs_work, ADDRESS(0, pool), NUMBER(1, number))
/** The address behind a new stack, which grows downwards; and thread-local memory. */
FUNCTION(THREADS, ADDRESS, attnjs_worker_stack, NONE)
FUNCTION(THREADS, ADDRESS, attnjs_worker_local, NONE)

/* ---- data.c ---------------------------------------------------------------------------------- */

/** The tokens of a UTF-8 text as JSON: start and end of each in bytes, one after the other. */
FUNCTION(DATA, TEXT, attnjs_tokens, SESSION(0), BYTES(1, text), LENGTH(2, size))
/** Their vectors: tokens x dim elements to `out`, which has room for so many; dim is at least 2. */
FUNCTION(DATA, STATUS, attnjs_embed, SESSION(0), BYTES(1, text), LENGTH(2, size), NUMBER(3, dim), FLOATS(4, out), LENGTH(5, room))

/**
 * Read the .npy file bytes[size], which becomes elements in C order, in place: float32, or float16 where the
 * file has these. Says where they are and how many: {"offset" in bytes, "half", "shape"} as JSON.
 */
FUNCTION(DATA, TEXT, attnjs_read_npy, SESSION(0), ROOM(1, bytes), LENGTH(2, size))

/* ---- labs.c ---------------------------------------------------------------------------------- */

/** The array of lab_describe(). */
FUNCTION(LABS, TEXT, attnlabs_describe, SESSION(0))

/** An empty name of a panel is the first one; a seed has two halves of 32 bits. */
FUNCTION(LABS, RUN, attnlabs_create, SESSION(0), TEXT(1, lab), TEXT(2, panel), COUNT(3, high), COUNT(4, low))
FUNCTION(LABS, END, attnlabs_destroy, RUN(0))

FUNCTION(LABS, STATUS, attnlabs_set, SESSION(0), RUN(1), TEXT(2, name), TEXT(3, value))
/** Points elsewhere than the panel has them; copied. */
FUNCTION(LABS, STATUS, attnlabs_grid, SESSION(0), RUN(1), DOUBLES(2, xs), LENGTH(3, count))
FUNCTION(LABS, STATUS, attnlabs_begin, SESSION(0), RUN(1))

/** {"panel", "serial", "columns", "params": {name: value}, "xs", "costs"} as JSON, once it has begun. */
FUNCTION(LABS, TEXT, attnlabs_settings, SESSION(0), RUN(1))

/** Writes as many numbers to `row` as the panel has columns. */
FUNCTION(LABS, STATUS, attnlabs_point, SESSION(0), RUN(1), COUNT(2, index), DOUBLES(3, row))

/**
 * What all rows say, {"note", "verdict", "sure", "found", "within": [...]} as JSON; `rows` has `count`
 * rows in the order of x.
 */
FUNCTION(LABS, TEXT, attnlabs_conclude, SESSION(0), RUN(1), DOUBLES(2, rows), COUNT(3, count))

/* ---- models.c -------------------------------------------------------------------------------- */

/** The model in a file (bench/labs/reasoning/model.h). */
FUNCTION(MODELS, MODEL, attnmodel_load, SESSION(0), BYTES(1, bytes), LENGTH(2, size))
FUNCTION(MODELS, END, attnmodel_destroy, MODEL(0))

/** What it is of, as JSON: {"task", "size", ..., "command"}. */
FUNCTION(MODELS, TEXT, attnmodel_describe, SESSION(0), MODEL(1))

/** {"tokens", "question", "expected", "answer", "right"} as JSON: what it says to a question. */
FUNCTION(MODELS, TEXT, attnmodel_solve, SESSION(0), MODEL(1), TEXT(2, question))

/** Queries, keys and values of all tokens but the last of what it said before: 3 x layers x heads x tokens x dim. */
FUNCTION(MODELS, STATUS, attnmodel_heads, SESSION(0), MODEL(1), FLOATS(2, parts), LENGTH(3, room))

/**
 * A model of text begins with these bytes; whatever it wrote before is forgotten. As JSON: {"count", "known": [token]},
 * how many tokens they are and the last ones, which it knows. attnmodel_heads() then has the heads of these.
 */
FUNCTION(MODELS, TEXT, attnmodel_begin, SESSION(0), MODEL(1), BYTES(2, text), LENGTH(3, size))

/** The token that it writes next (bench/labs/language/sample.h). */
FUNCTION(MODELS, NUMBER, attnmodel_next, SESSION(0), MODEL(1), NUMBER(2, temperature), NUMBER(3, top_p), NUMBER(4, seed))

/** The bytes of a token of text, at most 16, for which there is room; how many. */
FUNCTION(MODELS, NUMBER, attnmodel_bytes, SESSION(0), COUNT(1, token), ROOM(2, bytes), LENGTH(3, size))

/* ---- training.c ------------------------------------------------------------------------------ */

/** A model that learns a task (bench/labs/reasoning/study.h); the settings are as labs/js/model/training.js has them. */
FUNCTION(TRAINING, STUDY, attnstudy_create, SESSION(0), TEXT(1, task), TEXT(2, attention), DOUBLES(3, settings), LENGTH(4, count))
FUNCTION(TRAINING, END, attnstudy_destroy, STUDY(0))

/** As JSON: {"task", "attention", ..., "steps"}. */
FUNCTION(TRAINING, TEXT, attnstudy_describe, SESSION(0), STUDY(1))

/** Up to so many steps, fewer where it has finished: how many, and each one's loss. */
FUNCTION(TRAINING, NUMBER, attnstudy_train, SESSION(0), STUDY(1), DOUBLES(2, losses), LENGTH(3, count))

/** On so many test samples, as JSON: {"samples", "answers", "whole", "done"}. */
FUNCTION(TRAINING, TEXT, attnstudy_score, SESSION(0), STUDY(1), COUNT(2, samples))

/** The model as it is now; it ends with the study. */
FUNCTION(TRAINING, MODEL, attnstudy_model, SESSION(0), STUDY(1))

/* clang-format on */

#undef FUNCTION
#undef NONE
#undef SESSION
#undef PLAN
#undef STREAM
#undef RUN
#undef MODEL
#undef STUDY
#undef PROBLEM
#undef ARRAYS
#undef NUMBER
#undef COUNT
#undef LENGTH
#undef TEXT
#undef PAIRS
#undef BYTES
#undef ROOM
#undef FLOATS
#undef DOUBLES
#undef ADDRESS
