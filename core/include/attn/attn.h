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
 * Parts. context.h has contexts and backends, tensor.h problems and tensors, plan.h plans and runs,
 * streams.h tokens that come one by one, api.h the version. Include this header, not its parts.
 *
 * NULL. Where it means something, the comment says so: `error`, options, an array that is absent,
 * the argument of a destroy function. Any other NULL is ATTN_ERROR_ARGUMENT from a function that
 * returns a status. From other functions it gives an empty answer: 0, NULL, the scalar tier, an
 * empty text, or no effect.
 */
#ifndef ATTN_ATTN_H
#define ATTN_ATTN_H

#include "attn/api.h"
#include "attn/context.h"
#include "attn/plan.h"
#include "attn/streams.h"
#include "attn/tensor.h"

#include "attn/arrays.h"
#include "attn/ext/cpu.h"
#include "attn/ext/memory.h"
#include "attn/ext/params.h"
#include "attn/ext/threads.h"
#include "attn/plugin.h"
#include "attn/types.h"

#include <stddef.h>

#endif
