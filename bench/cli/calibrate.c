/* cli/calibrate.c: see calibrate.h. */
#include "cli/calibrate.h"

#include "cli/cli.h"
#include "cli/host.h"
#include "measure/peak.h"
#include "measure/pieces.h"

#include "attn/attn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TIERS = 16, ROUNDS = 5 };

typedef struct calibration {
    enum table_format format;
    double share; /* of the usual effort */
    attn_context_t *context;
    attn_tier_t tier;
    selection_t selection;
    int tables; /* printed so far */
    int broken; /* there was no memory for one */
} calibration_t;

/* Prints and frees a table under its title, which is its name in JSON. */
static void show(calibration_t *c, table_t *table, const char *name, const char *title) {
    if (c->format == TABLE_JSON)
        printf(",\n\"%s\": ", name);
    else
        printf("%s%s\n\n", c->tables++ ? "\n" : "", title);
    if (table->broken)
        c->broken = 1;
    else
        table_print(table, c->format, stdout);
    table_free(table);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static const table_column_t arithmetic_columns[] = {
    {"tier", "tier", TABLE_WORD},
    {"tile", "tile", TABLE_WORD},
    {"gflops", "f32 GFLOP/s", TABLE_NUMBER},
    {"gflops_bf16", "bf16 GFLOP/s", TABLE_NUMBER},
    {"gops16", "16-bit GOP/s", TABLE_NUMBER},
    {"gops8", "8-bit GOP/s", TABLE_NUMBER},
    {"chosen", "chosen", TABLE_FLAG},
};

static void show_arithmetic(calibration_t *c) {
    attn_tier_t tiers[MOST_TIERS];
    const uint32_t count = attn_available_tiers(tiers, MOST_TIERS);
    table_t table = table_make(arithmetic_columns, 7);
    for (uint32_t t = 0; t < count && t < MOST_TIERS; t++) {
        table_add_text(&table, attn_tier_name(tiers[t]));
        table_add_text(&table, pieces_kernels(tiers[t])->tile);
        table_add_number(&table, peak_gflops(tiers[t], c->share));
        table_add_number(&table, peak_bf16_gflops(tiers[t], c->share));
        table_add_number(&table, peak_dot_gops(tiers[t], 2, c->share));
        table_add_number(&table, peak_dot_gops(tiers[t], 1, c->share));
        table_add_number(&table, tiers[t] == c->tier);
    }
    show(c, &table, "arithmetic",
         "Multiply-adds, of floats and whole numbers from registers, of bf16 from the nearest "
         "cache, one core, by instruction set");
}

/* ---- reading --------------------------------------------------------------------------------- */

static const table_column_t order_columns[] = {
    {"stretches", "stretches", TABLE_INTEGER}, {"ahead_bytes", "bytes ahead", TABLE_INTEGER},
    {"once", "non-temporal", TABLE_FLAG},      {"gbps", "GB/s", TABLE_NUMBER},
    {"share", "of the best", TABLE_PERCENT},
};

/* Nothing where there is no second thread for it. */
static void show_orders(calibration_t *c, int threads, const char *name, const char *title) {
    peak_read_t reads[PEAK_MOST_READS];
    const int count = peak_reads(c->tier, threads, ROUNDS, c->share, reads);
    double best = 0;
    if (threads > 1 && !count) return;
    table_t table = table_make(order_columns, 5);
    for (int i = 0; i < count; i++) best = fmax(best, reads[i].gbps);
    for (int i = 0; i < count; i++) {
        table_add_number(&table, reads[i].stretches);
        table_add_number(&table, reads[i].ahead);
        table_add_number(&table, reads[i].once);
        table_add_number(&table, reads[i].gbps);
        table_add_number(&table, reads[i].gbps / best);
    }
    show(c, &table, name, title);
}

static const table_column_t size_columns[] = {
    {"bytes", "array", TABLE_BYTES},
    {"gbps", "GB/s", TABLE_NUMBER},
    {"fits", "fits", TABLE_WORD},
};

/* The nearest cache that holds so many bytes. */
static const char *place_of(double bytes, const host_cache_t *caches, int count, char text[16]) {
    for (int i = 0; i < count; i++)
        if (bytes <= caches[i].bytes) {
            snprintf(text, 16, "L%d", caches[i].level);
            return text;
        }
    return count ? "memory" : NULL;
}

static void show_sizes(calibration_t *c, const host_cache_t *caches, int count) {
    table_t table = table_make(size_columns, 3);
    for (size_t bytes = (size_t)16 << 10; bytes <= (size_t)128 << 20; bytes *= 2) {
        char place[16];
        table_add_number(&table, (double)bytes);
        table_add_number(&table, peak_read_size_gbps(c->tier, bytes, c->share));
        table_add_text(&table, place_of((double)bytes, caches, count, place));
    }
    show(c, &table, "sizes", "Reading an array over and over, in order, one core");
}

static const table_column_t cache_columns[] = {
    {"level", "level", TABLE_INTEGER},
    {"kind", "kind", TABLE_WORD},
    {"bytes", "size", TABLE_BYTES},
    {"cores", "of cores", TABLE_WORD},
};

static void show_caches(calibration_t *c, const host_cache_t *caches, int count) {
    table_t table = table_make(cache_columns, 4);
    for (int i = 0; i < count; i++) {
        table_add_number(&table, caches[i].level);
        table_add_text(&table, caches[i].kind);
        table_add_number(&table, caches[i].bytes > 0 ? caches[i].bytes : NAN);
        table_add_text(&table, caches[i].sharing);
    }
    show(c, &table, "caches",
         count ? "Caches of the first core, as the system tells"
               : "Caches: the system does not tell");
}

/* ---- kernels --------------------------------------------------------------------------------- */

typedef struct usual {
    const char *name;
    int64_t queries, keys, dim;
    int causal;
    attn_dtype_t dtype;
    const char *precision; /* NULL: as it is without being asked */
} usual_t;

static const usual_t USUAL[] = {
    {"short", 128, 128, 64, 0, ATTN_F32, NULL},
    {"prefill", 4096, 4096, 64, 0, ATTN_F32, NULL},
    {"prefill, causal", 4096, 4096, 128, 1, ATTN_F32, NULL},
    {"prefill, int16", 4096, 4096, 128, 0, ATTN_F32, "int16"},
    {"prefill, int8", 4096, 4096, 128, 0, ATTN_F32, "int8"},
    {"decode", 1, 32768, 64, 0, ATTN_F32, NULL},
    {"decode, f16", 1, 32768, 64, 0, ATTN_F16, NULL},
    {"decode, bf16", 1, 32768, 64, 0, ATTN_BF16, NULL},
    {"decode, i8", 1, 32768, 64, 0, ATTN_I8, NULL},
    {"decode, i8, int8", 1, 32768, 64, 0, ATTN_I8, "int8"},
};

static const table_column_t kernel_columns[] = {
    {"backend", "backend", TABLE_WORD},
    {"problem", "problem", TABLE_WORD},
    {"n", "n", TABLE_INTEGER},
    {"m", "m", TABLE_INTEGER},
    {"d", "d", TABLE_INTEGER},
    {"kernel", "kernel", TABLE_WORD},
    {"workspace_bytes", "workspace", TABLE_BYTES},
};

/* A backend that cannot solve the problem has no kernel. */
static void add_kernel(table_t *table, const calibration_t *c, const char *backend,
                       const usual_t *usual) {
    const attn_param_t precision = {"precision", usual->precision};
    attn_problem_t problem;
    attn_plan_t *plan = NULL;
    attn_error_t error;
    attn_problem_init(&problem, 1, 8, usual->queries, usual->keys, usual->dim, usual->dim);
    problem.kv_dtype = usual->dtype;
    if (usual->causal) problem.causal = ATTN_CAUSAL_TOP_LEFT;
    if (attn_plan_create(c->context, backend, &problem, &precision, usual->precision != NULL, &plan,
                         &error))
        plan = NULL;
    table_add_text(table, backend);
    table_add_text(table, usual->name);
    table_add_number(table, (double)usual->queries);
    table_add_number(table, (double)usual->keys);
    table_add_number(table, (double)usual->dim);
    table_add_text(table, plan ? attn_plan_kernel(plan) : NULL);
    table_add_number(table, plan ? (double)attn_plan_workspace_size(plan) : NAN);
    attn_plan_destroy(plan);
}

static void add_kernels(table_t *table, const calibration_t *c, const attn_backend_t *backend) {
    for (size_t u = 0; u < sizeof USUAL / sizeof USUAL[0]; u++)
        if (!USUAL[u].precision || settings_declares(backend, "precision", strlen("precision")))
            add_kernel(table, c, backend->id, &USUAL[u]);
}

static void show_kernels(calibration_t *c) {
    table_t table = table_make(kernel_columns, 7);
    for (int i = 0; i < c->selection.count; i++)
        add_kernels(&table, c, attn_backend_at(c->context, c->selection.indices[i]));
    show(c, &table, "kernels", "Kernels that plans choose, 8 heads");
}

/* ---- few rows -------------------------------------------------------------------------------- */

static const table_column_t rows_columns[] = {
    {"dtype", "Q, K, V", TABLE_WORD},
    {"rows", "rows", TABLE_INTEGER},
    {"kernel", "kernel", TABLE_WORD},
};

/* What a plan of softmax runs for one query of so many heads to each of 8; 0 where there is none. */
static int kernel_of(const calibration_t *c, attn_dtype_t dtype, int64_t rows, char kernel[96]) {
    attn_problem_t problem;
    attn_plan_t *plan = NULL;
    attn_problem_init(&problem, 1, 8 * rows, 1, 4096, 128, 128);
    problem.kv_heads = 8;
    problem.dtype = problem.kv_dtype = dtype;
    if (attn_plan_create(c->context, "softmax", &problem, NULL, 0, &plan, NULL)) return 0;
    snprintf(kernel, 96, "%s", attn_plan_kernel(plan));
    attn_plan_destroy(plan);
    return 1;
}

/* From how many rows on plans run another kernel. */
static void add_changes(const calibration_t *c, attn_dtype_t dtype, table_t *table) {
    enum { MOST_ROWS = 192 };
    char last[96] = "", kernel[96];
    for (int64_t rows = 1; rows <= MOST_ROWS && kernel_of(c, dtype, rows, kernel); rows++) {
        if (strcmp(kernel, last) == 0) continue;
        table_add_text(table, attn_dtype_name(dtype));
        table_add_number(table, (double)rows);
        table_add_text(table, kernel);
        snprintf(last, sizeof last, "%s", kernel);
    }
}

static void show_rows(calibration_t *c) {
    static const attn_dtype_t types[] = {ATTN_F32, ATTN_F16, ATTN_BF16};
    table_t table = table_make(rows_columns, 3);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) add_changes(c, types[i], &table);
    show(c, &table, "rows",
         "Kernels of softmax by rows, queries times the heads that share keys, from so many on; 8 "
         "heads of keys");
}

/* ---- command --------------------------------------------------------------------------------- */

static void show_all(calibration_t *c) {
    host_cache_t caches[HOST_MOST_CACHES];
    const int count = host_caches(caches);
    char host[192];
    host_cpu(host, sizeof host);
    if (c->format == TABLE_JSON) {
        printf("{\"host\": ");
        json_string(stdout, host);
        printf(", \"compiler\": ");
        json_string(stdout, host_compiler());
        printf(", \"commit\": ");
        json_string(stdout, host_commit());
    } else {
        printf("%s; %s; libattn %s\n\n", host, host_compiler(), host_commit());
    }
    show_arithmetic(c);
    show_orders(c, 1, "reading",
                "Reading memory, one core, in stretches side by side, lines asked for before they "
                "are read");
    show_orders(c, 2, "reading_by_two", "The same by two threads at once, an array each");
    show_caches(c, caches, count);
    show_sizes(c, caches, count);
    show_kernels(c);
    show_rows(c);
    if (c->format == TABLE_JSON) puts("}");
}

int calibrate_print(const settings_t *settings, const option_texts_t *backends,
                    enum table_format format, double seconds) {
    calibration_t c = {.format = format, .share = peak_share(seconds)};
    if (format == TABLE_CSV)
        return cli_complain(CLI_USAGE, "--calibrate has several tables: text, --md or --json");
    int status = settings_context(settings, &c.context);
    if (!status) status = settings_select(c.context, backends, &c.selection);
    if (!status) {
        c.tier = attn_context_tier(c.context);
        show_all(&c);
    }
    attn_context_destroy(c.context);
    return !status && c.broken ? cli_complain(CLI_USAGE, "no memory for the tables") : status;
}
