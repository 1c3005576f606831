/*
 * agree.h: all ranks come to the same status, or find in what they differ.
 */
#ifndef ATTN_MPI_AGREE_H
#define ATTN_MPI_AGREE_H

#include "attn/mpi.h"

/* A number that all ranks have the same of. */
typedef struct fact {
    const char *name;
    int64_t value;
    int is_hash; /* the number says nothing to people */
} fact_t;

enum { MOST_FACTS = 32 };

/** A hash of bytes, on from `hash`. */
uint64_t attn_mpi_hash(uint64_t hash, const void *bytes, size_t size);
#define HASH_BEGIN 14695981039346656037u

/** The same status on every rank: an error where ranks differ in a fact. Collective. */
attn_status_t attn_mpi_same(MPI_Comm comm, const fact_t *facts, int count, attn_error_t *error);

#endif
