"""The same work by NumPy and SciPy, as rows of the table that attn_sketch_rows prints: one core, medians.

usage: beside.py [SECONDS] [SUBJECT...]: those of its subjects that have rows here
"""

import ctypes
import re
import statistics
import sys
import time

import numpy
import scipy
import scipy.linalg
import scipy.sparse

WORDS = sys.argv[1:]
BUDGET = float(WORDS.pop(0)) if WORDS and re.fullmatch(r"[\d.]+", WORDS[0]) else 1.0
random = numpy.random.default_rng(1)


def is_wanted(subject):
    return not WORDS or subject in WORDS


def algebra():
    """What NumPy's products and factors come from: OpenBLAS in its own words, or the libraries' files."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        found = {re.search(r"/\S*/lib\w*(?:blas|lapack|mkl)[^/\s]*\.so\S*", line) for line in maps}
    paths = sorted({match[0] for match in found if match})
    for path in paths:
        library = ctypes.CDLL(path)
        if hasattr(library, "openblas_get_config"):
            library.openblas_get_config.restype = ctypes.c_char_p
            return library.openblas_get_config().decode()
    return f"{', '.join(paths) or 'an unknown BLAS'}: not OpenBLAS, so not NumPy at its best"


def row(what, work):
    work()
    times, end = [], time.process_time() + BUDGET
    while not times or time.process_time() < end:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    print(f"| {what} | {statistics.median(times) * 1e3:.3g} ms |", flush=True)


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


print(f"NumPy {numpy.__version__}, SciPy {scipy.__version__}, algebra by {algebra()}\n")
print("| work | time |\n|---|---|")
for columns in (64, 128):
    a = random.standard_normal((65536, columns), dtype=numpy.float32)
    if columns == 64 and is_wanted("embedding"):
        row(
            "SciPy: clarkson_woodruff_transform, 65536 x 64 to 512 rows",
            lambda a=a: scipy.linalg.clarkson_woodruff_transform(a, 512, seed=1),
        )
    if is_wanted("scores"):
        row(f"NumPy: scores by Gram and Cholesky, 65536 x {columns}", lambda a=a: scores_by_gram(a))
        row(f"NumPy: scores by QR, 65536 x {columns}", lambda a=a: scores_by_qr(a))
for every in (800, 400, 200, 100) if is_wanted("csr") else ():
    x = sparse_rows(512, 1000000, every)
    row(
        f"SciPy: clarkson_woodruff_transform, CSR 512 x 10^6, {x.nnz:.3g} elements, to 4096",
        lambda x=x: scipy.linalg.clarkson_woodruff_transform(x.T, 4096, seed=1),
    )
