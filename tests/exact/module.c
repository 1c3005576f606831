/* The same as functions of a WebAssembly module, for tests that run in a process of their own. */
#include "answer.h"

#include <stdlib.h>

double *exact_request(size_t count);
double *exact_solve(size_t count);
size_t exact_count(void);

static double *request, *answer;
static size_t answer_count;

/* Room for a request. */
__attribute__((export_name("request"))) double *exact_request(size_t count) {
    free(request);
    return request = malloc((count + 1) * sizeof *request);
}

/* The answer to what is there; NULL where it is no request. */
__attribute__((export_name("solve"))) double *exact_solve(size_t count) {
    free(answer);
    return answer = exact_answer(request, count, &answer_count);
}

__attribute__((export_name("count"))) size_t exact_count(void) { return answer_count; }
