/*
 * One point of the separation experiments, by name: settings, and the data of a trial drawn again.
 */
#ifndef ATTN_TESTS_SEPARATION_CASE_H
#define ATTN_TESTS_SEPARATION_CASE_H

#include "labs/separation/lab.h"
#include "labs/separation/separation.h"

/** A run of the panel with test_seed(); settings "name=value name=value". Failures end the test. */
lab_run_t case_run(const char *panel, const char *settings);

/** The point at x; `run` must outlive it. */
lab_point_t case_point(const lab_run_t *run, double x);

/** The data of a trial, in arrays of their own. */
separation_arrays_t case_draw(const separation_t *what, const lab_point_t *point, uint64_t trial);

void case_release(const separation_arrays_t *arrays);

#endif
