/*
 * labs/sparsification/sketches.h: the methods of the sketch plugin side by side, as the sparsification experiment's
 * figures have them.
 */
#ifndef ATTN_LABS_SPARSIFICATION_SKETCHES_H
#define ATTN_LABS_SPARSIFICATION_SKETCHES_H

#include <stddef.h>
#include <stdint.h>

enum { SKETCHES = 5, SKETCH_LEVERAGE = 3 };

/** In the order of the figures' columns; a test compares with what the plugin declares. */
extern const char *const sketch_names[SKETCHES];

/** A seed for the plugin (below 2^53), for each trial of a run. */
uint64_t sketch_seed(uint64_t seed, uint64_t trial);

/**
 * "time ~ nnz(X)^p, p: gaussian 0.98 (0.95 to 1.02), ...", fitted over rows of `width` numbers, `seconds` being the
 * column of the first of so many `methods`.
 */
void sketch_note_exponents(const double *rows, uint32_t count, uint32_t width, uint32_t seconds,
                           uint32_t methods, uint32_t nonzero, char *text, size_t size);

#endif
