/* stop.h: runs that can be stopped. */
#ifndef ATTNJS_STOP_H
#define ATTNJS_STOP_H

#include "attn/ext/threads.h"

/** A flag that any thread may set: not 0 means stop. */
typedef _Atomic int32_t addon_stop_t;

/** Tasks that this thread starts from here on are left out once `stop` is set; NULL: never. */
void addon_stop_watch(const addon_stop_t *stop);

/** `inner`, with an eye on the flag. */
attn_ext_threads_t addon_stop_threads(const attn_ext_threads_t *inner);

#endif
