/* labs/labs.c: the list of experiments. */
#include "labs/lab.h"

#include <string.h>

extern const lab_t lab_separation, lab_softmax_regression, lab_sparsification, lab_constructions,
    lab_programs, lab_complexity, lab_reasoning;

/* Those whose backends are in this build; CMakeLists.txt says which are. */
static const lab_t *const LABS[] = {
#if ATTN_HAS_SOFTMAX && ATTN_HAS_LINEAR
    &lab_separation,
    &lab_softmax_regression,
#endif
#if ATTN_HAS_SOFTMAX && ATTN_HAS_SKETCH
    &lab_sparsification,
#endif
#if ATTN_HAS_SOFTMAX && ATTN_HAS_LINEAR && ATTN_HAS_SPARSE
    &lab_constructions,
    &lab_programs,
#endif
#if ATTN_HAS_SOFTMAX && ATTN_HAS_LINEAR && ATTN_HAS_SPARSE && ATTN_HAS_SKETCH
    &lab_complexity,
#endif
#if ATTN_HAS_SOFTMAX && ATTN_HAS_LINEAR && ATTN_HAS_SPARSE && !defined(__EMSCRIPTEN__)
    &lab_reasoning, /* takes hours: the command line's alone */
#endif
    NULL,
};

uint32_t lab_count(void) { return sizeof LABS / sizeof LABS[0] - 1; }

const lab_t *lab_at(uint32_t index) { return index < lab_count() ? LABS[index] : NULL; }

const lab_t *lab_find(const char *name) {
    for (uint32_t i = 0; LABS[i]; i++)
        if (strcmp(LABS[i]->name, name) == 0) return LABS[i];
    return NULL;
}

const lab_panel_t *lab_panel_find(const lab_t *lab, const char *id) {
    for (uint32_t i = 0; i < lab->panel_count; i++)
        if (strcmp(lab->panels[i].id, id) == 0) return &lab->panels[i];
    return NULL;
}
