// The public headers in one C++ program that plans and runs.
#include "attn/attn.h"
#include "attn/ext/cost.h"
#include "attn/ext/facts.h"
#include "attn/ext/log.h"
#include "attn/ext/weights.h"
#include "attn/oracle.h"
#include "attn/random.h"
#include "attn/support.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
    attn_error_t error{};
    attn_context_t *context = nullptr;
    attn_plan_t *plan = nullptr;
    attn_problem_t problem;
    attn_problem_init(&problem, 1, 2, 3, 4, 5, 6);
    if (attn_context_create(nullptr, &context, &error) ||
        attn_plan_create(context, "softmax", &problem, nullptr, 0, &plan, &error)) {
        std::fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    std::vector<float> query(2 * 3 * 5), key(2 * 4 * 5), value(2 * 4 * 6), out(2 * 3 * 6, NAN);
    for (auto *data : {&query, &key, &value})
        for (std::size_t i = 0; i < data->size(); i++)
            (*data)[i] = static_cast<float>(attn_random_normal(1, data->size(), i));
    std::vector<char> memory(attn_plan_workspace_size(plan) + ATTN_ALIGNMENT);
    const auto misaligned = reinterpret_cast<std::uintptr_t>(memory.data()) % ATTN_ALIGNMENT;

    const std::vector<float> &constant_query = query, &constant_key = key;
    attn_io_t io;
    attn_io_init(&io);
    io.query = attn_tensor_bhnd(constant_query.data(), 1, 2, 3, 5);
    io.key = attn_tensor_bhnd_of(ATTN_F32, constant_key.data(), 1, 2, 4, 5);
    io.value = attn_tensor_bhnd(value.data(), 1, 2, 4, 6);
    io.out = attn_tensor_bhnd(out.data(), 1, 2, 3, 6);
    io.workspace = memory.data() + (ATTN_ALIGNMENT - misaligned) % ATTN_ALIGNMENT;
    io.workspace_size = attn_plan_workspace_size(plan);
    if (attn_run(plan, &io, &error)) {
        std::fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    std::vector<double> scratch(4 + 6);
    const double difference = attn_oracle_error(&problem, &io, 1, scratch.data());
    attn_plan_destroy(plan);
    attn_context_destroy(context);
    std::printf("relative error %.3g\n", difference);
    return difference < 1e-6 ? 0 : 1; // 4 keys of 5 numbers: a few dozen roundings of 6e-8
}
