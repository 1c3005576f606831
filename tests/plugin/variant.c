/*
 * Plugins that a host must refuse or take, one for each VARIANT:
 *   1 of the next ABI major version      2 of a later minor version (fine)
 *   3 with the id of a built-in backend  4 two backends, the second with a taken id
 *   5 a list without backends            6 a backend without plan()
 *   7 a shared object without entry
 */
#include "attn/plugin.h"

static attn_status_t no_plan(const attn_host_t *host, const attn_problem_t *problem,
                             const attn_value_t *values, attn_backend_plan_t **plan,
                             attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)plan;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "a variant solves nothing");
}

static const attn_backend_t fresh = {
    .struct_size = sizeof(attn_backend_t),
    .id = "org.example.fresh",
    .name = "Fresh",
    .version = "1",
    .plan = VARIANT == 6 ? NULL : no_plan,
};
static const attn_backend_t taken = {
    .struct_size = sizeof(attn_backend_t),
    .id = "softmax",
    .name = "Taken",
    .version = "1",
    .plan = no_plan,
};

static const attn_backend_t *const backends[] = {VARIANT == 3 ? &taken : &fresh, &taken};

#if VARIANT == 7
#define ENTRY some_other_symbol
#else
#define ENTRY attn_plugin_entry
#endif

extern __attribute__((visibility("default"))) const attn_plugin_entry_t ENTRY;
const attn_plugin_entry_t ENTRY = {
    .struct_size = sizeof(attn_plugin_entry_t),
    .abi_major = ATTN_ABI_MAJOR + (VARIANT == 1),
    .abi_minor = ATTN_ABI_MINOR + (VARIANT == 2),
    .backend_count = VARIANT == 5   ? 0
                     : VARIANT == 4 ? 2
                                    : 1,
    .backends = backends,
};
