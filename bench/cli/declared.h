/*
 * cli/declared.h: what is declared of a run's arrays (attn/arrays.h, attn/ext/inputs.h), in the words
 * of the command line.
 */
#ifndef ATTN_CLI_DECLARED_H
#define ATTN_CLI_DECLARED_H

#include "attn/attn.h"
#include "attn/ext/inputs.h"

/** No backend's runs have more arrays. */
enum { DECLARED_MOST = ATTN_ARRAY_OWN + ATTN_MOST_OWN_ARRAYS };

enum { DECLARED_TEXT = 64 };

/** What the command line alone has for an array of the library's; zero for all others. */
typedef struct declared_special {
    const char *flag; /**< where it is not the name with '-' for '_' */
    /** What "" and "auto" stand for: numbers for so many heads; NULL: nothing. */
    void (*fill)(float *numbers, int64_t count);
    const char *filled; /**< the same for people */
    const void
        *padding;    /**< the element of columns that no sequence has a key for, which a file may
                              leave out; NULL: it may not */
    int may_be_none; /**< whether -inf stands for a number that is not there */
} declared_special_t;

const declared_special_t *declared_special(uint32_t number);

/** The array's flag without "--"; returns `text`. */
const char *declared_flag(uint32_t number, const attn_array_info_t *info, char text[DECLARED_TEXT]);

/** Whether a run may have the array or not, as the command line says. */
int declared_is_choice(const attn_array_info_t *info);

/** The one axis longer than 1 of an array that may be a list: one number for each batch or head; or -1. */
int declared_list_axis(const attn_array_info_t *info);

/** The axis of heads of an array all of whose axes may be 1, so that a list may have one number for each head,
 *  or one for all; or -1. */
int declared_head_axis(const attn_array_info_t *info);

/** "batches", "heads" or "key/value heads", of `count`: what such a list has one number for each of. */
const char *declared_owners(const attn_array_info_t *info, int axis, int64_t count);

/** "(B|1, H, n, m)": the axes, with 1 where one may be the same for all; returns `text`. */
const char *declared_axes(const attn_array_info_t *info, char text[DECLARED_TEXT]);

/**
 * The rank of an output's file: without the axes of 1 in front that Q's file lacks, `lacking` of them, and without those at
 * its end that are always 1, which *left_out counts.
 */
int32_t declared_rank(const attn_array_info_t *info, const int64_t shape[4], int32_t lacking,
                      int32_t *left_out);

/** "f32 (B|1, H, n, m)"; returns `text`. */
const char *declared_kind(const attn_array_info_t *info, char text[DECLARED_TEXT]);

/** A backend-specific tensor for people: --input or --output, what it is, its help. Two lines. */
void declared_print(const attn_array_info_t *info);

#endif
