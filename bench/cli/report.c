/* cli/report.c: see report.h. */
#include "cli/report.h"

#include "cli/lemmas.h"
#include "cli/rules.h"
#include "cli/table.h"

#include <math.h>
#include <stdio.h>

/* The cost knows of sizes, rules and key lengths, not of what is in other arrays. */
static const char *narrowing(uint32_t inputs) {
    return inputs & ATTN_INPUT_MASK ? ", before mask" : "";
}

static void print_sizes(const inputs_t *inputs) {
    char shapes[INPUT_COUNT][96];
    inputs_shape(inputs, INPUT_VALUE, shapes[INPUT_VALUE]);
    if (inputs_are_csr(inputs))
        printf("sizes            X (%lld, %lld), %lld elements, V %s\n", (long long)inputs->x.rows,
               (long long)inputs->x.columns, (long long)inputs->x.stored, shapes[INPUT_VALUE]);
    else
        printf("sizes            Q %s, K %s, V %s\n", inputs_shape(inputs, INPUT_QUERY, shapes[0]),
               inputs_shape(inputs, INPUT_KEY, shapes[1]), shapes[INPUT_VALUE]);
}

enum { LEMMAS = 256 };

/* What papers' lemmas say of the weights; "" for nothing. */
static const char *lemmas(const report_t *report, char text[LEMMAS]) {
    const double longest = inputs_longest(report->inputs);
    return lemmas_describe(report->runner->plan, longest, text, LEMMAS);
}

static int64_t nonfinite_gradients(const report_t *report) {
    return array_nonfinite(&report->gradients->arrays[ATTN_ARRAY_OUT]);
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_times(const report_t *report) {
    const attn_cost_t *cost = &report->runner->cost;
    printf("time             %.4g ms, first call\n", 1e3 * report->seconds);
    if (!isnan(cost->flops))
        printf("speed            %.4g GFLOP/s\n", 1e-9 * cost->flops / report->seconds);
    if (report->inputs->backward)
        printf("gradients        %.4g ms, %lld non-finite in that of out\n",
               1e3 * report->gradient_seconds, (long long)nonfinite_gradients(report));
}

static void print_pairs(const report_t *report) {
    const attn_problem_t *problem = &report->inputs->problem;
    const double kept = runner_pairs(report->runner, problem);
    const double computed = runner_computed(report->runner, problem);
    if (!isnan(kept))
        printf("pairs            %.4g%% of n m%s\n", 100 * kept, narrowing(problem->inputs));
    if (!isnan(computed))
        printf("computed         %.4g%% of n m, %.4g%% of it kept\n", 100 * computed,
               100 * kept / computed);
}

static void print_facts(const report_t *report) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    char text[LEMMAS];
    for (uint32_t i = 0; attn_plan_fact(report->runner->plan, i, &fact); i++)
        if (fact.text)
            printf("%-16s %s\n", fact.label, fact.text);
        else
            printf("%-16s %.9g\n", fact.label, fact.number);
    if (lemmas(report, text)[0]) printf("%-16s %s\n", "weights", text);
}

void report_text(const report_t *report) {
    const inputs_t *inputs = report->inputs;
    const attn_problem_t *problem = &inputs->problem;
    const runner_t *runner = report->runner;
    const attn_backend_t *backend = runner->backend;
    char bytes[24], rules[256];
    printf("backend          %s %s\n", backend->id, backend->version ? backend->version : "");
    printf("kernel           %s\n", runner_kernel(runner));
    print_sizes(inputs);
    printf("causal           %s\n", rules_corner(problem->causal));
    if (!isnan(problem->scale)) printf("scale            %.9g\n", (double)problem->scale);
    if (rules_describe(problem, rules)[0]) printf("rules            %s\n", rules);
    print_times(report);
    print_pairs(report);
    if (report->is_stream)
        printf("stream           %s\n", table_bytes(bytes, (double)report->stream_memory));
    else
        printf("workspace        %s\n",
               table_bytes(bytes, (double)attn_plan_workspace_size(runner->plan)));
    printf("non-finite       %lld in Q, %lld in K, %lld in V\n",
           (long long)inputs->nonfinite[INPUT_QUERY], (long long)inputs->nonfinite[INPUT_KEY],
           (long long)inputs->nonfinite[INPUT_VALUE]);
    printf("degenerate rows  %lld\n", (long long)runner->report.degenerate_rows);
    if (!isnan(report->error)) printf("error            %.2g\n", report->error);
    print_facts(report);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_text(const char *name, const char *text) {
    printf(",\n\"%s\": ", name);
    json_string(stdout, text);
}

static void put_number(const char *name, double number) {
    printf(",\n\"%s\": ", name);
    json_number(stdout, number);
}

static void put_sizes(const attn_problem_t *problem) {
    printf(",\n\"sizes\": {\"batch\": %lld, \"heads\": %lld, \"kv_heads\": %lld, \"n\": %lld, "
           "\"m\": %lld, \"d\": %lld, \"dv\": %lld}",
           (long long)problem->batch, (long long)problem->heads, (long long)problem->kv_heads,
           (long long)problem->queries, (long long)problem->keys, (long long)problem->dim,
           (long long)problem->value_dim);
}

static void put_rules(const attn_problem_t *problem) {
    attn_array_info_t info = {.struct_size = sizeof info};
    const char *before = "";
    put_text("causal", rules_corner(problem->causal));
    put_number("scale", (double)problem->scale);
    put_number("softcap", problem->softcap != 0 ? (double)problem->softcap : NAN);
    put_number("past", (double)problem->past);
    printf(",\n\"window\": [%lld, %lld]", (long long)problem->window_left,
           (long long)problem->window_right);
    printf(",\n\"inputs\": [");
    for (uint32_t number = 0; attn_backend_array(NULL, number, &info); number++)
        if (problem->inputs & info.bit) {
            fputs(before, stdout);
            json_string(stdout, info.name);
            before = ", ";
        }
    printf("]");
}

static void put_times(const report_t *report) {
    const double flops = report->runner->cost.flops;
    put_number("first_call_ms", 1e3 * report->seconds);
    put_number("gflops", 1e-9 * flops / report->seconds);
    put_number("gradients_first_call_ms",
               report->inputs->backward ? 1e3 * report->gradient_seconds : NAN);
}

static void put_nonfinite(const report_t *report) {
    const int64_t *count = report->inputs->nonfinite;
    printf(",\n\"nonfinite\": {\"q\": %lld, \"k\": %lld, \"v\": %lld, \"out_gradient\": ",
           (long long)count[INPUT_QUERY], (long long)count[INPUT_KEY],
           (long long)count[INPUT_VALUE]);
    json_number(stdout, report->inputs->backward ? (double)nonfinite_gradients(report) : NAN);
    printf("}");
}

static void put_facts(const report_t *report) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    printf(",\n\"facts\": [");
    for (uint32_t i = 0; attn_plan_fact(report->runner->plan, i, &fact); i++) {
        printf("%s{\"name\": ", i ? ", " : "");
        json_string(stdout, fact.name);
        printf(", \"label\": ");
        json_string(stdout, fact.label);
        printf(", \"text\": ");
        json_string(stdout, fact.text);
        printf(", \"number\": ");
        json_number(stdout, fact.number);
        printf("}");
    }
    printf("]");
}

void report_json(const report_t *report) {
    const runner_t *runner = report->runner;
    const attn_problem_t *problem = &report->inputs->problem;
    char text[LEMMAS];
    printf("{\"backend\": ");
    json_string(stdout, runner->backend->id);
    put_text("version", runner->backend->version);
    put_text("kernel", runner_kernel(runner));
    put_sizes(problem);
    put_text("dtype", attn_dtype_name(problem->dtype));
    put_text("kv_dtype", attn_dtype_name(problem->kv_dtype));
    put_number("x_elements",
               inputs_are_csr(report->inputs) ? (double)report->inputs->x.stored : NAN);
    put_rules(problem);
    put_times(report);
    put_number("pairs", runner_pairs(runner, problem));
    put_number("computed", runner_computed(runner, problem));
    put_number("workspace_bytes",
               report->is_stream ? NAN : (double)attn_plan_workspace_size(runner->plan));
    put_number("stream_bytes", report->is_stream ? (double)report->stream_memory : NAN);
    put_nonfinite(report);
    put_number("degenerate_rows", (double)runner->report.degenerate_rows);
    put_number("error", report->error);
    put_facts(report);
    put_text("weights", lemmas(report, text)[0] ? text : NULL);
    puts("}");
}
