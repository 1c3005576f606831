/*
 * support/exact.h for tests in other languages: a problem with its arrays as one array of numbers,
 * answered by another. exact.mjs writes the one and reads the other.
 */
#ifndef ATTN_TESTS_ANSWER_H
#define ATTN_TESTS_ANSWER_H

#include <stddef.h>

/**
 * The request, one after the other: the HEADER numbers that problem_of() reads; query, key and value; bias,
 * mask, kv_lengths, sinks and slopes where the problem's inputs name them; for i8 the scales of keys
 * and of values. All arrays are contiguous and whole, in the order batch, head, row, column.
 *
 * The answer: out, lse, weights and the raw, capped and masked scores, each followed by the bounds on
 * its errors. NULL where the request has not as many numbers as its sizes say. free() it.
 */
double *exact_answer(const double *request, size_t count, size_t *answer_count);

#endif
