/*
 * attention/products.h: the two products of attention, logits = Q K^T and out += weights V, of a tile and some keys. A
 * kernel file says by EXACT_PARTS what they are of: 0 for floats, else for floats as sums of so many bf16 numbers.
 */
#ifndef ATTN_ATTENTION_PRODUCTS_H
#define ATTN_ATTENTION_PRODUCTS_H

#ifndef EXACT_PARTS
#define EXACT_PARTS 0
#endif

#if EXACT_PARTS
#include "attention/bf16_products.h"
#else
#include "attention/f32_products.h"
#endif

#endif
