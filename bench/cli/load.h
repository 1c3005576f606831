/*
 * cli/load.h: the inputs that the command line gives, from lists and files to arrays of a plan's runs.
 */
#ifndef ATTN_CLI_LOAD_H
#define ATTN_CLI_LOAD_H

#include "cli/arguments.h"
#include "cli/arrays.h"
#include "cli/rows.h"

/** The queries and keys whose rows of a file are read, and no others. */
typedef struct load_rows {
    rows_range_t queries[ROWS_RANGES], keys[ROWS_RANGES];
} load_rows_t;

/**
 * Read the inputs with numbers in [first, end) that are given and that arrays[number - first] has not
 * yet, and fit them to the plan; an exit status. Masks and biases may lack columns that no sequence has
 * a key for. `rows`: of files of rows these; a row that is the same for all is read in any case. NULL: all.
 */
int load_inputs(const arguments_t *arguments, const attn_plan_t *plan, uint32_t first, uint32_t end,
                const load_rows_t *rows, array_t *arrays);

#endif
