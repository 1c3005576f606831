/* What plugins and programs write with the public headers, in any C and C++ since C99 and C++98. */
#include "attn/attn.h"
#include "attn/combine.h"
#include "attn/ext/cost.h"
#include "attn/ext/facts.h"
#include "attn/ext/log.h"
#include "attn/ext/weights.h"
#include "attn/oracle.h"
#include "attn/pairs.h"
#include "attn/random.h"
#include "attn/statistics.h"
#include "attn/support.h"

static const attn_backend_t *const backends[] = {NULL};
ATTN_PLUGIN(used, backends);

double use_headers(const attn_host_t *host, const attn_problem_t *problem);

double use_headers(const attn_host_t *host, const attn_problem_t *problem) {
    static const float numbers[1] = {1.0f};
    static const int64_t lengths[1] = {1};
    attn_error_t error;
    attn_io_t io;
    void *memory = attn_host_allocate(host, 100);
    double sum = attn_random_uniform(1, 2, 3) + attn_random_normal(1, 2, 3);
    attn_io_init(&io);
    io.query = attn_tensor_bhnd(numbers, 1, 1, 1, 1);
    io.kv_lengths = attn_tensor_lengths(lengths, 1);
    sum += attn_problem_pairs(problem) + (double)attn_problem_features(problem);
    if (!memory) sum += attn_fail(&error, ATTN_ERROR_MEMORY, "no memory for %d", 100);
    attn_host_release(host, memory);
    return sum + (double)attn_host_tier(host) + (double)attn_host_workers(host);
}
