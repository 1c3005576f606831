/*
 * attn.facts/1 (backend): what a plan chose by itself and what it guarantees: the block size that
 * "automatic" became, the sketch size and the bound that holds for it.
 */
#ifndef ATTN_EXT_FACTS_H
#define ATTN_EXT_FACTS_H

#include "attn/plugin.h"

#define ATTN_EXT_FACTS "attn.facts/1"

typedef struct attn_ext_facts {
    uint32_t struct_size;
    uint32_t reserved;
    /** Fill fact number `index` and return 1, or return 0 past the last. Does not block.
     *  [any thread] */
    int32_t (*fact)(const attn_backend_plan_t *plan, uint32_t index, attn_fact_t *fact);
} attn_ext_facts_t;

#endif
