/*
 * peers/inputs.c: the arrays everybody gets: independent standard normal numbers as raw float32,
 * the same on every machine. usage: peers_inputs STREAM COUNT FILE
 */
#include <attn/random.h>

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    if (count != 4) return fputs("usage: peers_inputs STREAM COUNT FILE\n", stderr), 2;
    const uint64_t seed = 1, stream = strtoull(arguments[1], NULL, 10);
    const uint64_t size = strtoull(arguments[2], NULL, 10);
    FILE *file = fopen(arguments[3], "wb");
    if (!file) return perror(arguments[3]), 1;
    size_t put = 0;
    for (uint64_t i = 0; i < size; i++) {
        const float x = (float)attn_random_normal(seed, stream, i);
        put += fwrite(&x, sizeof x, 1, file);
    }
    if (fclose(file) == 0 && put == size) return 0;
    return perror(arguments[3]), 1;
}
