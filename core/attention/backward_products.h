/*
 * attention/backward_products.h: the five products of the way back (backward_block.h), of what EXACT_PARTS says
 * (products.h).
 */
#ifndef ATTN_ATTENTION_BACKWARD_PRODUCTS_H
#define ATTN_ATTENTION_BACKWARD_PRODUCTS_H

#include "attention/products.h"

#if EXACT_PARTS
#include "attention/backward_bf16.h"
#else
#include "attention/backward_f32.h"
#endif

#endif
