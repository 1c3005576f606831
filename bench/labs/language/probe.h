/*
 * language/probe.h: what the heads of a model of text do, by measurement.
 *
 * Of rows from PROBE_FIRST on, the mean of the weight that goes
 *
 *     previous    to the token before
 *     diagonal    to the token itself
 *     first       to the first token of the context (a sink)
 *     local       to the last PROBE_LOCAL tokens, itself among them
 *     induction   in random tokens that come twice: to the token behind the earlier place of the own one
 *
 * The first four are of pieces of a text.
 */
#ifndef ATTN_LANGUAGE_PROBE_H
#define ATTN_LANGUAGE_PROBE_H

#include "labs/language/corpus.h"
#include "labs/reasoning/model.h"

enum { PROBE_FIRST = 16, PROBE_LOCAL = 8, PROBE_REPEATED = 8 /**< sequences that come twice */ };

#define PROBE_NAMED 0.5   /**< a behaviour is named that has at least this share of the weight */
#define PROBE_NEEDED 0.05 /**< the model needs a head without which its loss rises by more */

typedef struct probe_head {
    double previous, diagonal, first, local, induction;
    double loss; /**< of the text, without the head: nothing of it is attended */
} probe_head_t;

typedef struct probe {
    double loss;         /**< of the text */
    double once, twice;  /**< of random tokens, and of the same ones again */
    probe_head_t *heads; /**< layers x heads: the caller's */
} probe_t;

/** Of `pieces` of the text, as language_loss() takes them. Errors: language_loss()'s, a context below 2 PROBE_FIRST. */
attn_status_t probe_model(const model_t *model, const corpus_part_t *text, int64_t pieces,
                          probe_t *probe, attn_error_t *error);

/** "previous token", "itself", "first token", "induction", "local", or "" where none has PROBE_NAMED of the weight. */
const char *probe_name(const probe_head_t *head);

#endif
