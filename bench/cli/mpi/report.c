/* cli/mpi/report.c: see report.h. */
#include "cli/mpi/report.h"

#include "cli/mpi/settle.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>

over_times_t over_times(const over_t *over, double start) {
    const double seconds = measure_clock() - start;
    attn_mpi_times_t times = {.struct_size = sizeof times};
    attn_mpi_plan_times(over->plan, &times);
    double most[3] = {seconds, times.computing, times.waiting};
    MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return (over_times_t){.seconds = most[0], .computing = most[1], .waiting = most[2]};
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void put_times(const over_times_t *times) {
    printf("\"seconds\": %.17g,\n\"computing\": %.17g,\n\"waiting\": %.17g", times->seconds,
           times->computing, times->waiting);
}

static void put_gradients(const over_t *over) {
    printf(",\n\"gradients\": ");
    if (!over->run->inputs->backward) {
        printf("null");
        return;
    }
    printf("{");
    put_times(&over->back_times);
    printf("}");
}

static void put_report(const over_t *over, const char *layout, const char *way) {
    const attn_problem_t *p = &over->run->inputs->problem;
    printf("{\"backend\": \"%s\",\n\"ranks\": %d,\n\"layout\": \"%s\",\n\"way\": \"%s\",\n"
           "\"sizes\": {\"batch\": %lld, \"heads\": %lld, \"kv_heads\": %lld, \"n\": %lld, "
           "\"m\": %lld, \"d\": %lld, \"dv\": %lld},\n",
           over->run->backend->id, settle_size(), layout, way, (long long)p->batch,
           (long long)p->heads, (long long)p->kv_heads, (long long)p->queries, (long long)p->keys,
           (long long)p->dim, (long long)p->value_dim);
    put_times(&over->run_times);
    put_gradients(over);
    printf("}\n");
}

/* ---- for people ------------------------------------------------------------------------------------------ */

static void print_times(const char *name, const over_times_t *times) {
    printf("%-16s %.4g ms; the longest of a rank: computing %.4g ms, waiting %.4g ms\n", name,
           1e3 * times->seconds, 1e3 * times->computing, 1e3 * times->waiting);
}

static void print_lines(const over_t *over, const char *layout, const char *way) {
    const attn_problem_t *p = &over->run->inputs->problem;
    printf("backend          %s over %d ranks, %s, %s\n", over->run->backend->id, settle_size(),
           way, layout);
    printf("sizes            batch %lld, heads %lld/%lld, n %lld, m %lld, d %lld, dv %lld\n",
           (long long)p->batch, (long long)p->heads, (long long)p->kv_heads, (long long)p->queries,
           (long long)p->keys, (long long)p->dim, (long long)p->value_dim);
    print_times("time", &over->run_times);
    if (!isnan(over->runner.cost.flops))
        printf("speed            %.4g GFLOP/s, all ranks\n",
               1e-9 * over->runner.cost.flops / over->run_times.seconds);
    if (over->run->inputs->backward) print_times("gradients", &over->back_times);
}

void report_print(const over_t *over) {
    attn_mpi_options_t options = {.struct_size = sizeof options};
    attn_mpi_plan_options(over->plan, &options);
    const char *layout = options.layout == ATTN_MPI_LAYOUT_ZIGZAG ? "zigzag" : "contiguous";
    const char *way = options.way == ATTN_MPI_WAY_TREE     ? "tree"
                      : options.way == ATTN_MPI_WAY_STATES ? "states"
                                                           : "ring";
    if (settle_rank()) return;
    if (over->run->json)
        put_report(over, layout, way);
    else
        print_lines(over, layout, way);
}
