/* cli/bench_rows.c: see bench_rows.h. */
#include "cli/bench_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const table_column_t columns[] = {
    {"backend", "backend", TABLE_WORD},
    {"batch", "batch", TABLE_INTEGER},
    {"n", "n", TABLE_INTEGER},
    {"m", "m", TABLE_INTEGER},
    {"d", "d", TABLE_INTEGER},
    {"dv", "dv", TABLE_INTEGER},
    {"heads", "heads", TABLE_INTEGER},
    {"kv_heads", "kv heads", TABLE_INTEGER},
    {"q_dtype", "Q dtype", TABLE_WORD},
    {"dtype", "dtype", TABLE_WORD},
    {"causal", "causal", TABLE_WORD},
    {"past", "past", TABLE_INTEGER},
    {"stream", "stream", TABLE_FLAG},
    {"backward", "backward", TABLE_FLAG},
    {"threads", "threads", TABLE_INTEGER},
    {"kernel", "kernel", TABLE_WORD},
    {"ms", "ms", TABLE_NUMBER},
    {"ms_low", "ms low", TABLE_NUMBER},
    {"ms_high", "ms high", TABLE_NUMBER},
    {"gflops", "GFLOP/s", TABLE_NUMBER},
    {"percent_of_peak", "% of peak", TABLE_NUMBER},
    {"peak_of", "peak of", TABLE_WORD},
    {"gbps", "GB/s", TABLE_NUMBER},
    {"intensity", "FLOP/B", TABLE_NUMBER},
    {"roofline_gflops", "roofline", TABLE_NUMBER},
    {"pairs", "pairs", TABLE_PERCENT},
    {"computed", "computed", TABLE_PERCENT},
    {"error", "error", TABLE_SCIENCE},
    {"cycles", "cycles", TABLE_SCIENCE},
    {"instructions", "instructions", TABLE_SCIENCE},
    {"cache_misses", "misses", TABLE_SCIENCE},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

bench_rows_t bench_rows_make(void) {
    return (bench_rows_t){.table = table_make(columns, COLUMNS - COUNTERS), .rounds = 1};
}

void bench_rows_show_counts(bench_rows_t *rows) { rows->table = table_make(columns, COLUMNS); }

void bench_rows_free(bench_rows_t *rows) {
    table_free(&rows->table);
    free(rows->seconds);
}

void bench_rows_measure_on(bench_rows_t *rows, attn_tier_t tier, double share) {
    rows->limits.tier = tier;
    rows->limits.share = share;
}

/* The row's seconds in all rounds; NULL where there is no memory for them. */
static double *seconds_of(bench_rows_t *rows, int64_t row) {
    if (row >= rows->count) {
        const size_t size = (size_t)((row + 1) * rows->rounds) * sizeof *rows->seconds;
        double *seconds = realloc(rows->seconds, size);
        if (!seconds) return NULL;
        rows->seconds = seconds;
        rows->count = row + 1;
    }
    return rows->seconds + row * rows->rounds;
}

/* Of all rounds. A row that could not be measured in one is not measured. */
static measure_t time_of(const bench_rows_t *rows, const double *seconds, measure_t last) {
    double times[BENCH_MOST_ROUNDS];
    if (rows->rounds == 1 || isnan(last.median)) return last;
    memcpy(times, seconds, (size_t)rows->rounds * sizeof *times);
    return measure_interval(times, rows->rounds);
}

/* Arithmetic, and what memory allows: GFLOP/s, the share of the peak, bytes. */
static void add_speeds(bench_rows_t *rows, const bench_row_t *row, const measure_t *time) {
    const runner_t *runner = row->runner;
    const double threads = (double)row->threads;
    const double flops = row->backward ? runner->cost.gradient_flops : runner->cost.flops;
    const double bytes = row->backward ? NAN : runner->cost.bytes;
    const double gflops = flops > 0 ? 1e-9 * flops / time->median : NAN;
    const double intensity = flops > 0 && bytes > 0 ? flops / bytes : NAN;
    limit_t peak = {.gflops = NAN};
    double roofline = NAN;
    if (runner->plan) {
        peak = limits_of(&rows->limits, runner_kernel(runner));
        limits_of(&rows->limits, ""); /* of floats: the file's peak */
        roofline = threads * fmin(peak.gflops, intensity * limits_read(&rows->limits));
    }
    table_add_number(&rows->table, gflops);
    table_add_number(&rows->table, 100 * gflops / (threads * peak.gflops));
    table_add_text(&rows->table, runner->plan ? peak.of : NULL);
    table_add_number(&rows->table, 1e-9 * bytes / time->median);
    table_add_number(&rows->table, intensity);
    table_add_number(&rows->table, isnan(intensity) ? NAN : roofline);
}

static void add_row(bench_rows_t *rows, const bench_row_t *row, const measure_t *time) {
    const attn_problem_t *problem = row->problem;
    const runner_t *runner = row->runner;
    table_t *table = &rows->table;
    table_add_text(table, runner->backend->id);
    table_add_number(table, (double)problem->batch);
    table_add_number(table, (double)problem->queries);
    table_add_number(table, (double)problem->keys);
    table_add_number(table, (double)problem->dim);
    table_add_number(table, (double)problem->value_dim);
    table_add_number(table, (double)problem->heads);
    table_add_number(table, (double)problem->kv_heads);
    table_add_text(table, attn_dtype_name(problem->dtype));
    table_add_text(table, attn_dtype_name(problem->kv_dtype));
    table_add_text(table, rules_corner(problem->causal));
    table_add_number(table, (double)problem->past);
    table_add_number(table, row->stream);
    table_add_number(table, row->backward);
    table_add_number(table, (double)row->threads);
    table_add_text(table, runner->plan ? runner_kernel(runner) : NULL);
    table_add_number(table, 1e3 * time->median);
    table_add_number(table, time->samples > 1 ? 1e3 * time->low : NAN);
    table_add_number(table, time->samples > 1 ? 1e3 * time->high : NAN);
    add_speeds(rows, row, time);
    table_add_number(table, runner_pairs(runner, problem));
    table_add_number(table, runner_computed(runner, problem));
    table_add_number(table, row->error);
    for (int i = 0; table->column_count == COLUMNS && i < COUNTERS; i++)
        table_add_number(table, row->counts[i]);
}

void bench_rows_add(bench_rows_t *rows, const bench_row_t *row) {
    double *seconds = seconds_of(rows, rows->row++);
    if (!seconds) {
        rows->table.broken = 1;
        return;
    }
    seconds[rows->round] = row->time.median;
    if (rows->round + 1 < rows->rounds) return;
    const measure_t time = time_of(rows, seconds, row->time);
    add_row(rows, row, &time);
}

void bench_rows_end_round(bench_rows_t *rows) {
    rows->round++;
    rows->row = 0;
}

void bench_rows_print_rounds(const bench_rows_t *rows, FILE *out) {
    if (rows->rounds == 1) return;
    fputs(",\n\"rounds_ms\": [", out);
    for (int64_t row = 0; row < rows->count; row++) {
        fputs(row ? ",\n[" : "\n[", out);
        for (int64_t r = 0; r < rows->rounds; r++) {
            if (r) fputs(", ", out);
            json_number(out, 1e3 * rows->seconds[row * rows->rounds + r]);
        }
        fputc(']', out);
    }
    fputs("\n]", out);
}
