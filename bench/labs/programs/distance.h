/*
 * labs/programs/distance.h: edit distance as a dynamic program, solved by a linear and by a sparse transformer with
 * explicit weights (Theorem 4.2; Theorems B.3 and B.4). Insertions and deletions cost 2, replacements 3.
 *
 * Tokens are (input, state, value, answer) as Eq. 10 has them: n letters of both words, a bar, one token for each cell
 * (x, y) of the table in rows, and the answer. A machine is made for words of `first` and `second` letters.
 */
#ifndef ATTN_LABS_PROGRAMS_DISTANCE_H
#define ATTN_LABS_PROGRAMS_DISTANCE_H

#include "labs/programs/machine.h"

/** Columns of a token: its input, the state, the value, the answer; then its number and 1. */
enum distance_column {
    DISTANCE_INPUT,
    DISTANCE_X,
    DISTANCE_Y,
    DISTANCE_VALUE,
    DISTANCE_ANSWER,
    DISTANCE_FIELDS, /**< those that are generated */
    DISTANCE_POSITION = DISTANCE_FIELDS,
    DISTANCE_ONE,
    DISTANCE_INPUTS
};

enum { DISTANCE_LETTERS = 26 }; /**< letters are 1 to 26, the bar is 27 */

enum distance_kind { DISTANCE_LINEAR, DISTANCE_SPARSE, DISTANCE_KINDS };

/** The task: words of so many letters. */
typedef struct distance {
    int32_t first, second;
    int32_t length; /**< L: tokens of it all, the answer's with it */
    int32_t block;  /**< W = ceil(sqrt L): AGG's blocks, and sparse attention's B */
    double bound;   /**< no letter and no value is larger */
    double eps;     /**< of each brick */
} distance_t;

distance_t distance_of(int32_t first, int32_t second);

/** The machine. Destroy it whatever the caller does next. */
void distance_build(const distance_t *task, enum distance_kind kind, machine_t *machine);

/** What came out of a pair of words. */
typedef struct distance_run {
    int32_t right;  /**< all tokens are those of the dynamic program */
    int32_t answer; /**< the generated one */
    double off;     /**< how far a number of an answer was from the nearest whole one, at most */
} distance_run_t;

/** Generate the chain of two words, `first + second` letters, one token at a time; from a restarted machine. */
attn_status_t distance_solve(const distance_t *task, machine_t *machine, const int32_t *letters,
                             distance_run_t *run, attn_error_t *error);

#endif
