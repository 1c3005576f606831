/* softmax.h: what other plugins of the library use of this one. */
#ifndef ATTN_SOFTMAX_H
#define ATTN_SOFTMAX_H

#include "attn/plugin.h"

/** Exact attention, id "softmax". */
extern const attn_backend_t attn_softmax_backend;

#endif
