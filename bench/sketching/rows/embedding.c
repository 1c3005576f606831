/* rows/embedding.c: a sparse sketch of a tall matrix. */
#include "rows.h"

#include "attn/random.h"
#include "sketching/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* S A for A (rows x columns), row-major: generate and apply. */
typedef struct tall {
    int64_t rows, columns, size, sparsity;
    const float *a;
    float *out;
    attn_sketch_entry_t *entries;
} tall_t;

static void apply(const tall_t *tall) {
    memset(tall->out, 0, (size_t)(tall->size * tall->columns) * sizeof(float));
    for (int64_t j = 0; j < tall->rows; j++) {
        const float *restrict row = tall->a + j * tall->columns;
        for (int64_t i = j * tall->sparsity; i < (j + 1) * tall->sparsity; i++) {
            const float weight = tall->entries[i].weight;
            float *restrict out = tall->out + tall->entries[i].column * tall->columns;
            for (int64_t c = 0; c < tall->columns; c++) out[c] += weight * row[c];
        }
    }
}

static attn_status_t embed(void *data) {
    const tall_t *tall = data;
    const sketching_embedding_t s = {tall->size, tall->sparsity, 1, 0};
    return sketching_embed_rows(&s, tall->a, tall->rows, tall->columns, tall->out)
               ? ATTN_OK
               : ATTN_ERROR_MEMORY;
}

/* RandBLAS's fill_sparse: for each column Fisher and Yates on an index vector, undone after it. */
static attn_status_t embed_randblas(void *data) {
    const tall_t *tall = data;
    int64_t *index = rows_room(tall->size, sizeof *index), pivots[64];
    for (int64_t i = 0; i < tall->size; i++) index[i] = i;
    for (int64_t j = 0; j < tall->rows; j++) {
        for (int64_t i = 0; i < tall->sparsity; i++) {
            uint32_t bits[4];
            attn_random_bits(1, 0, (uint64_t)(j * tall->sparsity + i), bits);
            const int64_t other = i + (int64_t)(bits[0] % (uint64_t)(tall->size - i));
            const int64_t kept = index[other];
            index[other] = index[i];
            index[i] = kept;
            pivots[i] = other;
            tall->entries[j * tall->sparsity + i] =
                (attn_sketch_entry_t){(int32_t)kept, bits[1] & 1 ? 1.0f : -1.0f};
        }
        for (int64_t i = tall->sparsity - 1; i >= 0; i--) {
            const int64_t kept = index[pivots[i]];
            index[pivots[i]] = index[i];
            index[i] = kept;
        }
    }
    free(index);
    apply(tall);
    return ATTN_OK;
}

void rows_embedding(void) {
    tall_t tall = {.rows = 65536, .columns = 64, .size = 512};
    tall.a = rows_normals(tall.rows * tall.columns, 1);
    tall.out = rows_room(tall.size * tall.columns, sizeof(float));
    tall.entries = rows_room(tall.rows * 8, sizeof *tall.entries);
    for (tall.sparsity = 1; tall.sparsity <= 8; tall.sparsity *= 8) {
        char what[96], beside[96];
        snprintf(what, sizeof what, "sparse embedding s = %d, 65536 x 64 to 512 rows",
                 (int)tall.sparsity);
        const double own = rows_time(embed, &tall), other = rows_time(embed_randblas, &tall);
        snprintf(beside, sizeof beside, "RandBLAS's algorithm %.3g ms", other * 1e3);
        rows_say(what, own, tall.sparsity == 1 ? 2.2e-3 : 12e-3, beside);
    }
    free((void *)(uintptr_t)tall.a);
    free(tall.out);
    free(tall.entries);
}
