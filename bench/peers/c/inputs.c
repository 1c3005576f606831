/*
 * peers/inputs.c: the arrays everybody gets, as raw float32, the same on every machine: of independent standard
 * normal numbers x, for gates put where those of models are. usage: peers_inputs ARRAY COUNT FILE
 */
#include <attn/random.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double as_it_is(double x) { return x; }

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* arXiv:2312.06635, Section 4.4: with temperature 16 */
static double log_decay(double x) { return log(sigmoid(x)) / 16; }

/* Half of what the key finds is replaced: |k|^2 of 64 normal numbers is about that. */
static double share(double x) { return sigmoid(x) / 64; }

/* An array's place is the stream of its random numbers. */
static const struct {
    const char *name;
    double (*of)(double x);
} arrays[] = {{"query", as_it_is},
              {"key", as_it_is},
              {"value", as_it_is},
              {"decay", log_decay},
              {"beta", share}};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

int main(int count, char **arguments) {
    unsigned array = 0;
    while (count == 4 && array < ARRAYS && strcmp(arrays[array].name, arguments[1]) != 0) array++;
    if (count != 4 || array == ARRAYS)
        return fputs("usage: peers_inputs ARRAY COUNT FILE\n", stderr), 2;
    const uint64_t seed = 1, size = strtoull(arguments[2], NULL, 10);
    FILE *file = fopen(arguments[3], "wb");
    if (!file) return perror(arguments[3]), 1;
    size_t put = 0;
    for (uint64_t i = 0; i < size; i++) {
        const float x = (float)arrays[array].of(attn_random_normal(seed, array, i));
        put += fwrite(&x, sizeof x, 1, file);
    }
    if (fclose(file) == 0 && put == size) return 0;
    return perror(arguments[3]), 1;
}
