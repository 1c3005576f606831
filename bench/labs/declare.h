/*
 * labs/declare.h: parameters and columns of an experiment in one line each.
 */
#ifndef ATTN_LABS_DECLARE_H
#define ATTN_LABS_DECLARE_H

#include "labs/lab.h"

#define LAB_PARAM_(TYPE, NAME, LABEL, UNIT, MINIMUM, MAXIMUM, INITIAL, HELP)                       \
    {                                                                                              \
        .struct_size = sizeof(attn_param_info_t), .type = (TYPE), .name = (NAME),                  \
        .label = (LABEL), .help = (HELP), .unit = (UNIT), .minimum = (MINIMUM),                    \
        .maximum = (MAXIMUM), .initial = (INITIAL),                                                \
    }
#define LAB_INTEGER(...) LAB_PARAM_(ATTN_PARAM_INTEGER, __VA_ARGS__)
#define LAB_NUMBER(...) LAB_PARAM_(ATTN_PARAM_NUMBER, __VA_ARGS__)

#define LAB_COUNT(ARRAY) ((uint32_t)(sizeof(ARRAY) / sizeof((ARRAY)[0])))

/** The last two fields of a panel. */
#define LAB_COLUMNS_OF(ARRAY) .columns = (ARRAY), .column_count = LAB_COUNT(ARRAY)

/** A grid of these values. */
#define LAB_GRID(ARRAY)                                                                            \
    { .count = LAB_COUNT(ARRAY), .list = (ARRAY) }

#endif
