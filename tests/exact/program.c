/* A request on standard input, its answer on standard output; numbers in this machine's order. */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>

/* All of standard input. */
static double *read_request(size_t *count) {
    size_t room = 1 << 16;
    double *request = malloc(room * sizeof *request);
    *count = 0;
    while (request) {
        const size_t got = fread(request + *count, sizeof *request, room - *count, stdin);
        *count += got;
        if (*count < room) return request;
        double *more = realloc(request, 2 * room * sizeof *request);
        if (!more) free(request);
        request = more;
        room *= 2;
    }
    return NULL;
}

int main(void) {
    size_t count, answer_count = 0;
    double *request = read_request(&count);
    double *answer = request ? exact_answer(request, count, &answer_count) : NULL;
    const int good = answer &&
                     fwrite(answer, sizeof *answer, answer_count, stdout) == answer_count &&
                     fflush(stdout) == 0;
    if (!good) fprintf(stderr, "attn_exact: %zu numbers make no request\n", count);
    free(request);
    free(answer);
    return good ? 0 : 1;
}
