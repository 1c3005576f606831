/* abi.h: the parts of the test `abi`. */
#ifndef ATTN_TESTS_ABI_H
#define ATTN_TESTS_ABI_H

/** structs.c: a caller whose structs are those of the first version, or have fields of a later one. */
void structs_of_the_caller(void **state);

/** structs.c: the same of structs that are filled for the caller. */
void structs_that_are_filled(void **state);

/** structs.c: the same of a plugin's. */
void structs_of_a_plugin(void **state);

#endif
