/* softmax.h: what other plugins of the library use of this one. */
#ifndef ATTN_SOFTMAX_H
#define ATTN_SOFTMAX_H

#include "attn/plugin.h"

/** Exact attention, id "softmax". */
extern const attn_backend_t attn_softmax_backend;

/** Bytes of memory that one of its plans takes. */
uint64_t attn_softmax_plan_bytes(const attn_backend_plan_t *plan);

#endif
