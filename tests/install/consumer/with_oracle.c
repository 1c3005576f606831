/* The oracle by itself, from an installed copy. */
#include <attn/oracle.h>

#include <stddef.h>

int main(void) {
    attn_problem_t problem = {0};
    attn_io_t io = {0};
    return attn_oracle_error(&problem, &io, 1, NULL) == -1 ? 0 : 1;
}
