/*
 * attention/backward_products.h: the five products of the way back (backward_block.h).
 */
#ifndef ATTN_ATTENTION_BACKWARD_PRODUCTS_H
#define ATTN_ATTENTION_BACKWARD_PRODUCTS_H

#include "attention/backward_f32.h"

#endif
