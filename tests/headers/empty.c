/* Nothing: the shared library of the symbol test is made of the archive's objects alone. */
typedef int attn_empty_t;
