"""worker.h's protocol for contenders in PyTorch."""

import os
import sys
import time


def read_task():
    """Whole numbers as such."""
    words = (argument.split("=", 1) for argument in sys.argv[1:])
    return {name: int(word) if word.isdigit() else word for name, word in words}


# OpenBLAS has threads of its own, whose number it reads as it is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = str(read_task()["threads"])
import numpy  # noqa: E402
import torch  # noqa: E402


def floats(task, name, heads, rows, columns):
    data = numpy.fromfile(task[name], numpy.float32, heads * rows * columns)
    return torch.from_numpy(data.reshape(heads, rows, columns))


def timed(run, seconds):
    start = time.perf_counter()
    run()
    while time.perf_counter() - start < seconds / 10:
        run()
    times = []
    while not times or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return times


def answer(contender, about, write_out):
    task = read_task()
    torch.set_num_threads(task["threads"])
    run = contender(task)
    out = run()
    if "out" in task:
        write_out(task, out)
    print(f"ready PyTorch {torch.__version__}, {about}", flush=True)
    for line in sys.stdin:
        word, seconds = line.split()
        if word == "time":
            print("times", *(f"{t:.9f}" for t in timed(run, float(seconds))), flush=True)


def serve(contender, about, write_out=None):
    """`contender` makes of a task a function that computes it; `write_out` writes what this returns."""
    try:
        answer(contender, about, write_out)
    except Exception as error:
        print("fail", " ".join(str(error).split()), flush=True)
        sys.exit(1)
