/*
 * algebra/solver.h: the factorisations that sparsifying takes, from LAPACK or from plain C, behind one interface.
 * Both agree within rounding, a small multiple of n 2^-52 of the matrix's norm.
 *
 * Matrices are row-major, without gaps, in double precision. Any thread.
 */
#ifndef ATTN_ALGEBRA_SOLVER_H
#define ATTN_ALGEBRA_SOLVER_H

#include <stdint.h>

/** Functions return 1, or 0 for no memory or, as one says, for a matrix that has no such factors. */
typedef struct algebra_solver {
    const char *name;
    const char *library; /**< what it comes from, in that library's words, or its file */
    /**
     * R of a = Q R, `rows` >= `columns` >= 1: upper triangular with a diagonal of no number below 0, zeros
     * below; r is columns x columns. Destroys a. By Householder's reflections, for any rank.
     */
    int (*triangle)(double *a, int64_t rows, int64_t columns, double *r);
    /**
     * Eigenvalues of the symmetric a (n x n), ascending; row k of a becomes the eigenvector of values[k], of
     * length 1. 0 too where a has a NaN.
     */
    int (*eigen)(double *a, int64_t n, double *values);
} algebra_solver_t;

/** Plain C, everywhere: Householder's QR, Jacobi's rotations. */
extern const algebra_solver_t algebra_plain;

/**
 * The LAPACK that CMake found, with 32-bit integers (dgelqf, dsyevd); NULL where there is none, it
 * cannot be loaded, or there are no 256 MB for it. It is loaded by the first call, which no other thread may make at that time.
 */
const algebra_solver_t *algebra_lapack(void);

/** LAPACK where there is one. */
const algebra_solver_t *algebra_best(void);

#endif
