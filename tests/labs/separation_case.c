/* See separation_case.h. */
#include "separation_case.h"

#include "support/fixture.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lab_run_t case_run(const char *panel, const char *settings) {
    const lab_t *lab = lab_find("separation");
    char text[200], *place = text;
    lab_run_t run;
    attn_error_t error;
    assert_non_null(lab_panel_find(lab, panel));
    lab_run_init(&run, lab, lab_panel_find(lab, panel), test_seed());
    snprintf(text, sizeof text, "%s", settings);
    while (*place) {
        char *equals = strchr(place, '='), *end = strchr(place, ' ');
        assert_non_null(equals);
        if (end) *end = 0;
        *equals = 0;
        if (lab_run_set(&run, place, equals + 1, &error)) test_fail("%s", error.message);
        place = end ? end + 1 : equals + 1 + strlen(equals + 1);
    }
    return run;
}

lab_point_t case_point(const lab_run_t *run, double x) {
    lab_point_t point = {.run = run, .x = x};
    memcpy(point.values, run->values, sizeof point.values);
    point.values[run->panel->x_param] = x;
    return point;
}

static float *floats(int64_t count) {
    float *numbers = calloc((size_t)count, sizeof *numbers);
    assert_non_null(numbers);
    return numbers;
}

separation_arrays_t case_draw(const separation_t *what, const lab_point_t *point, uint64_t trial) {
    const int64_t d = what->net == SEPARATION_REGRESSION ? 2 : what->d;
    const int64_t signs = (what->net == SEPARATION_REGRESSION ? what->n : d) * what->stride;
    const separation_arrays_t arrays = {.query = floats(2 * what->queries * d),
                                        .key = floats(2 * what->n * d),
                                        .signs = floats(signs)};
    separation_draw(what, point, trial, &arrays);
    return arrays;
}

void case_release(const separation_arrays_t *arrays) {
    free(arrays->query);
    free(arrays->key);
    free(arrays->signs);
}
