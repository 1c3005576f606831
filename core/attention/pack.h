/* attention/pack.h: what packs operands for the products of products.h. */
#ifndef ATTN_ATTENTION_PACK_H
#define ATTN_ATTENTION_PACK_H

#include "attention/products.h"

#if EXACT_PARTS
#include "attention/bf16_pack.h"
#else
#include "attention/f32_pack.h"
#endif

#endif
