/*
 * algebra/lapack.c: solver.h by LAPACK, whose matrices are column-major: R of A is L^T of the transposed A = L Q.
 */
#include "algebra/solver.h"

#include <stdlib.h>

#ifdef ATTN_LAPACK_LIBRARY

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

typedef void gelqf_t(const int *m, const int *n, double *a, const int *lda, double *tau,
                     double *work, const int *lwork, int *info);
typedef void syevd_t(const char *job, const char *uplo, const int *n, double *a, const int *lda,
                     double *values, double *work, const int *lwork, int *iwork, const int *liwork,
                     int *info);

static struct {
    gelqf_t *gelqf;
    syevd_t *syevd;
} lapack;

static int triangle(double *a, int64_t rows, int64_t columns, double *r) {
    const int m = (int)columns, n = (int)rows, query = -1;
    double wanted;
    int info = -1;
    if (rows > INT_MAX || columns > INT_MAX) return 0;
    lapack.gelqf(&m, &n, a, &m, &wanted, &wanted, &query, &info);
    double *work = info == 0 ? malloc(((size_t)wanted + (size_t)m) * sizeof *work) : NULL;
    if (!work) return 0;
    const int size = (int)wanted;
    lapack.gelqf(&m, &n, a, &m, work + size, work, &size, &info);
    free(work);
    for (int64_t i = 0; i < columns && info == 0; i++) {
        const double sign = a[i * columns + i] < 0 ? -1 : 1;
        for (int64_t j = 0; j < columns; j++)
            r[i * columns + j] = j < i ? 0 : sign * a[i * columns + j];
    }
    return info == 0;
}

static int eigen(double *a, int64_t n, double *values) {
    const int order = (int)n, query = -1;
    double wanted;
    int integers, info = -1;
    if (n > INT_MAX) return 0;
    for (int64_t i = 0; i < n * n; i++)
        if (!(a[i] - a[i] == 0)) return 0; /* on a NaN its iterations need not end */
    lapack.syevd("V", "U", &order, a, &order, values, &wanted, &query, &integers, &query, &info);
    if (info != 0) return 0;
    const int size = (int)wanted;
    double *work = malloc((size_t)size * sizeof *work);
    int *more = malloc((size_t)integers * sizeof *more);
    info = -1;
    if (work && more)
        lapack.syevd("V", "U", &order, a, &order, values, work, &size, more, &integers, &info);
    free(work);
    free(more);
    return info == 0;
}

/* A pointer to data that POSIX lets be one to a function. */
static int find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

typedef char *config_t(void);

static algebra_solver_t solver = {
    .name = "lapack", .library = ATTN_LAPACK_LIBRARY, .triangle = triangle, .eigen = eigen};

/* OpenBLAS asks for a buffer of 128 MB when it multiplies: for ever, where it gets none. */
static int has_room(void) {
    void *volatile room = malloc((size_t)256 << 20);
    const int is_there = room != NULL;
    free(room);
    return is_there;
}

/*
 * OpenBLAS tells its version and the processor that it takes this one for; others are known by their file.
 *
 * Threads of OpenBLAS wait for each other at the program's end, for ever where a limit of memory has let some of them not
 * start; and sums are in the order of their number. What is asked for here is small, and one core's.
 */
static int load(void) {
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    void *library = has_room() ? dlopen(ATTN_LAPACK_LIBRARY, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library || !find(library, "dgelqf_", &lapack.gelqf) ||
        !find(library, "dsyevd_", &lapack.syevd))
        return 0;
    config_t *config;
    if (find(library, "openblas_get_config", &config)) solver.library = config();
    return 1;
}

const algebra_solver_t *algebra_lapack(void) {
    static int loaded = -1;
    if (loaded < 0) loaded = load();
    return loaded ? &solver : NULL;
}

#else

const algebra_solver_t *algebra_lapack(void) { return NULL; }

#endif

const algebra_solver_t *algebra_best(void) {
    const algebra_solver_t *lapack_solver = algebra_lapack();
    return lapack_solver ? lapack_solver : &algebra_plain;
}
