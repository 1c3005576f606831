/* cli/pieces.c: see pieces.h. */
#include "cli/pieces.h"

#include "cli/cli.h"
#include "measure/measure.h"
#include "measure/peak.h"
#include "measure/pieces.h"

#include "attn/attn.h"
#include "attn/random.h"

#include <math.h>
#include <stdlib.h>

static const table_column_t columns[] = {
    {"tier", "tier", TABLE_WORD},
    {"tile", "tile", TABLE_WORD},
    {"piece", "piece", TABLE_WORD},
    {"rows", "rows", TABLE_INTEGER},
    {"ns", "ns", TABLE_NUMBER},
    {"gflops", "GFLOP/s", TABLE_NUMBER},
    {"percent_of_peak", "% of peak", TABLE_NUMBER},
    {"gbps", "GB/s", TABLE_NUMBER},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], MOST_TIERS = 16 };

/* One piece and what it works on. */
typedef struct timed {
    const piece_t *piece;
    pieces_arrays_t *arrays;
} timed_t;

static attn_status_t run_piece(void *data) {
    const timed_t *timed = data;
    timed->piece->run(timed->arrays);
    return ATTN_OK;
}

static void fill(float *numbers, int64_t count, uint64_t stream) {
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (float)attn_random_normal(1, stream, (uint64_t)i);
}

static pieces_arrays_t *make_arrays(void) {
    pieces_arrays_t *arrays = aligned_alloc(64, (sizeof *arrays + 63) / 64 * 64);
    if (!arrays) return NULL;
    *arrays = (pieces_arrays_t){.keys_count = PIECES_KEYS, .dim = PIECES_DIM};
    fill(arrays->query, PIECES_MOST_ROWS * PIECES_DIM, 0);
    fill(arrays->keys, PIECES_KEYS * PIECES_DIM, 1);
    fill(arrays->values, PIECES_KEYS * PIECES_DIM, 2);
    return arrays;
}

static void add_piece(table_t *table, attn_tier_t tier, double peak, const timed_t *timed,
                      double seconds) {
    const piece_t *piece = timed->piece;
    measure_t time;
    measure_repeat(run_piece, (void *)timed, seconds, &time);
    const double gflops = piece->flops > 0 ? 1e-9 * piece->flops / time.median : NAN;
    table_add_text(table, attn_tier_name(tier));
    table_add_text(table, pieces_kernels(tier)->tile);
    table_add_text(table, piece->name);
    table_add_number(table, piece->rows > 0 ? (double)piece->rows : NAN);
    table_add_number(table, 1e9 * time.median);
    table_add_number(table, gflops);
    table_add_number(table, 100 * gflops / peak);
    table_add_number(table, piece->bytes > 0 ? 1e-9 * piece->bytes / time.median : NAN);
}

/* The tiers up to the one that the context has, or a status. */
static int tiers_of(const settings_t *settings, attn_tier_t tiers[MOST_TIERS], uint32_t *count) {
    attn_context_t *context;
    const int status = settings_context(settings, &context);
    if (status) return status;
    const attn_tier_t highest = attn_context_tier(context);
    const uint32_t all = attn_available_tiers(tiers, MOST_TIERS);
    attn_context_destroy(context);
    *count = 0;
    while (*count < all && *count < MOST_TIERS && tiers[(*count)++] != highest) continue;
    return CLI_OK;
}

int pieces_print(const settings_t *settings, enum table_format format, double seconds) {
    attn_tier_t tiers[MOST_TIERS];
    uint32_t count;
    if (tiers_of(settings, tiers, &count)) return CLI_USAGE;
    pieces_arrays_t *arrays = make_arrays();
    if (!arrays) return cli_complain(CLI_USAGE, "no memory for the arrays of the pieces");
    table_t table = table_make(columns, COLUMNS);
    for (uint32_t t = 0; t < count; t++) {
        const double peak = peak_gflops(tiers[t], peak_share(seconds));
        for (int i = 0; i < PIECES_COUNT; i++) {
            const timed_t timed = {&pieces_kernels(tiers[t])->pieces[i], arrays};
            add_piece(&table, tiers[t], peak, &timed, seconds);
        }
    }
    const int broken = table.broken;
    if (!broken) table_print(&table, format, stdout);
    table_free(&table);
    free(arrays);
    return broken ? cli_complain(CLI_USAGE, "no memory for the table") : CLI_OK;
}
