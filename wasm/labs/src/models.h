/* models.h: a trained model as JavaScript holds it: models.c has what it says, training.c one that learns. */
#ifndef ATTNJS_MODELS_H
#define ATTNJS_MODELS_H

#include "bindings.h"
#include "labs/language/writer.h"

struct attnmodel {
    model_t model;
    reasoning_sample_t asked, said; /**< of the last question */
    uint64_t state[REASONING_MOST_TOKENS];
    writer_t writer; /**< of a model of text, once it has begun one */
};

#endif
