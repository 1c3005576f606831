/*
 * attn.cost/1 (backend): how much work one run of a plan is. Benchmarks divide by it.
 */
#ifndef ATTN_EXT_COST_H
#define ATTN_EXT_COST_H

#include "attn/plugin.h"

#define ATTN_EXT_COST "attn.cost/1"

typedef struct attn_ext_cost {
    uint32_t struct_size;
    uint32_t reserved;
    /** Fill `cost`, from the plan alone. Does not allocate or block. [any thread] */
    void (*cost)(const attn_backend_plan_t *plan, attn_cost_t *cost);
} attn_ext_cost_t;

#endif
