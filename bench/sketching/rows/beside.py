"""The same work by NumPy and SciPy, as rows of the table that attn_sketch_rows prints: one core, medians."""

import statistics
import sys
import time

import numpy
import scipy
import scipy.linalg
import scipy.sparse

BUDGET = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
random = numpy.random.default_rng(1)


def row(what, work):
    work()
    times, end = [], time.process_time() + BUDGET
    while not times or time.process_time() < end:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    print(f"| {what} | {statistics.median(times) * 1e3:.3g} ms | |", flush=True)


def scores_by_qr(a):
    q, _ = numpy.linalg.qr(a)
    return (q * q).sum(axis=1)


def scores_by_gram(a):
    lower = numpy.linalg.cholesky(a.T @ a)
    n = scipy.linalg.solve_triangular(lower, a.T, lower=True)
    return (n * n).sum(axis=0)


def sparse_rows(rows, columns, every):
    """CSR of one column in `every` on the average, by random steps."""
    rows_of_places = []
    for _ in range(rows):
        places = random.integers(1, 2 * every, 2 * columns // every).cumsum()
        rows_of_places.append(places[places < columns])
    starts = numpy.cumsum([0] + [len(places) for places in rows_of_places])
    places = numpy.concatenate(rows_of_places)
    values = random.standard_normal(len(places), dtype=numpy.float32)
    return scipy.sparse.csr_matrix((values, places, starts), shape=(rows, columns))


print(f"NumPy {numpy.__version__}, SciPy {scipy.__version__}\n\n| work | time | |\n|---|---|---|")
for columns in (64, 128):
    a = random.standard_normal((65536, columns), dtype=numpy.float32)
    if columns == 64:
        row(
            "SciPy: clarkson_woodruff_transform, 65536 x 64 to 512 rows",
            lambda a=a: scipy.linalg.clarkson_woodruff_transform(a, 512, seed=1),
        )
    row(f"NumPy: scores by Gram and Cholesky, 65536 x {columns}", lambda a=a: scores_by_gram(a))
    row(f"NumPy: scores by QR, 65536 x {columns}", lambda a=a: scores_by_qr(a))
for every in (800, 400, 200, 100):
    x = sparse_rows(512, 1000000, every)
    row(
        f"SciPy: clarkson_woodruff_transform, CSR 512 x 10^6, {x.nnz:.3g} elements, to 4096",
        lambda x=x: scipy.linalg.clarkson_woodruff_transform(x.T, 4096, seed=1),
    )
