#!/usr/bin/python3
"""What numpy takes to find the rows of a table with the largest dot products, for nearest_benchmark to compare with.

    numpy_top_rows.py serve [--rows N] [--dim D]

Says "ready VERSION", or "not run: WHY" and ends. Each line "QUERIES K SECONDS" that it then reads is answered by the
seconds that one search took, over as many searches as SECONDS allow, at least three.
"""

import argparse
import sys
import time


def top_rows(numpy, table, queries, k):
    """The K rows of each query, in no order, as people write it."""
    if len(queries) == 1:
        return [numpy.argpartition(table @ queries[0], -k)[-k:]]
    return list(numpy.argpartition(queries @ table.T, -k, axis=1)[:, -k:])


def check(numpy, table, queries, k):
    for found, query in zip(top_rows(numpy, table, queries, k), queries):
        if set(found) != set(numpy.argsort(table @ query)[-k:]):
            raise SystemExit("the rows found are not the nearest")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("serve",))
    parser.add_argument("--rows", type=int, default=341_479)
    parser.add_argument("--dim", type=int, default=100)
    arguments = parser.parse_args()
    try:
        import numpy
    except ImportError as error:
        print(f"not run: {error}", flush=True)
        return
    random = numpy.random.default_rng(11)
    table = random.standard_normal((arguments.rows, arguments.dim), dtype=numpy.float32)
    check(numpy, table, table[:1], 10)
    print(f"ready {numpy.__version__}", flush=True)
    for line in sys.stdin:
        queries, k, seconds = line.split()
        asked = table[7 : 7 + int(queries)].copy()
        calls, elapsed, begin = 0, 0.0, time.perf_counter()
        while calls < 3 or elapsed < float(seconds):
            top_rows(numpy, table, asked, int(k))
            calls += 1
            elapsed = time.perf_counter() - begin
        print(elapsed / calls, flush=True)


if __name__ == "__main__":
    main()
