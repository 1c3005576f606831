/* linear.h: a head of linear attention in double: what its rows, its weights and its gradients begin with. */
#ifndef ATTN_ORACLE_LINEAR_WORK_H
#define ATTN_ORACLE_LINEAR_WORK_H

#include "attn/oracle_linear.h"

typedef struct attn_oracle_work {
    const attn_oracle_linear_t *form;
    const attn_problem_t *problem;
    const attn_io_t *io;
    int64_t batch, kv_head, features, dv;
    int has_decay, has_delta;
    double beta;
    double *w;             /* [features][dim]: favor's directions */
    double *x;             /* [dim] */
    double *key, *key_err; /* [features]; errors in units of U */
    double *query, *query_err;
    double *a;            /* [features] */
    double *s, *t, *e;    /* [features][dv]; of delta rules t and e are [dv], norms of columns */
    double *z, *zt, *ze;  /* [features] */
    double *value, *leak; /* [dv] */
    /* Of delta rules: errors of columns at some token, [dv], errors since then, [dv], and what the tokens
     * since then make of a state, [features][features], with a bound of its norm */
    double *old, *since, *maps, growth;
} attn_oracle_work_t;

/** A head before its first key. */
attn_oracle_work_t attn_oracle_work_begin(const attn_oracle_linear_t *form,
                                          const attn_problem_t *problem, const attn_io_t *io,
                                          int64_t batch, int64_t head, double *scratch);

/** phi of a query, or of a key with its gates; x is then what it is of, times the factor that is returned. */
double attn_oracle_work_query(const attn_oracle_work_t *w, int64_t head, int64_t query);
double attn_oracle_work_key(attn_oracle_work_t *w, int64_t key);

/** How many keys count. */
int64_t attn_oracle_work_keys(const attn_problem_t *problem, const attn_io_t *io, int64_t batch);

#endif
