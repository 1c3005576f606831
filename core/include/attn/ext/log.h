/*
 * attn.log/1 (host): the only way a plugin may say something that is not an error.
 */
#ifndef ATTN_EXT_LOG_H
#define ATTN_EXT_LOG_H

#include <stdint.h>

#define ATTN_EXT_LOG "attn.log/1"

typedef struct attn_ext_log {
    uint32_t struct_size;
    uint32_t reserved;
    void *user; /**< handed back to write */
    /** One line of UTF-8 text without newline, which the host copies. Never called in a run.
     *  [any thread] */
    void (*write)(void *user, const char *line);
} attn_ext_log_t;

#endif
