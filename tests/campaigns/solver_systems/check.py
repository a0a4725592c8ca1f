#!/usr/bin/env python3
"""Whether each solve that was recorded says what SciPy finds of its x in extended precision.

usage: check.py SEED RECORDS
Prints a line: seed, solves, those of each end, and the least and greatest share of the tolerance
that the residual of a converged one is. Exit status 1: a verdict is untrue, or x is worse than the
one given; names the line."""

import collections
import json
import sys

import numpy
import scipy.sparse

EXTENDED = numpy.longdouble


def residual(matrix, b, x):
    """||b - A x|| / ||b||, and how far doubles may be off it."""
    coo = matrix.tocoo()
    terms = coo.data.astype(EXTENDED) * x.astype(EXTENDED)[coo.col]
    rest = b.astype(EXTENDED)
    numpy.subtract.at(rest, coo.row, terms)
    norm = numpy.sqrt(numpy.sum(b.astype(EXTENDED) ** 2))
    return numpy.sqrt(numpy.sum(rest ** 2)) / norm, 2.0 ** -50 * numpy.sum(abs(terms)) / norm


def fault(solve):
    ints = [numpy.array(solve[name], dtype=int) for name in ("column", "row_start")]
    b, given, x = (numpy.array(solve[name]) for name in ("b", "given", "x"))
    matrix = scipy.sparse.csr_matrix((numpy.array(solve["values"], dtype=float), *ints), shape=(len(b), len(b)))
    found, rounding = residual(matrix, b, x)
    before, _ = residual(matrix, b, given)
    share = found / solve["tolerance"]
    if not numpy.all(numpy.isfinite(x)):
        return "x is not finite", share
    if not found <= before * (1 + EXTENDED(1e-6)) + rounding:
        return f"x is worse than the one given: {found} and {before}", share
    if abs(found - solve["true_residual"][0]) > 1e-9 * found + rounding:
        return f"the residual is {found}, said was {solve['true_residual'][0]}", share
    if solve["ended"] == "converged" and not found <= 1.05 * solve["tolerance"] + rounding:
        return f"converged with a residual of {found}", share
    return None, share


def main():
    seed, path = sys.argv[1:]
    ends = collections.Counter()
    shares = []
    wrong = 0
    with open(path) as records:
        for number, line in enumerate(records, 1):
            solve = json.loads(line)
            ends[solve["ended"]] += 1
            what, share = fault(solve)
            if solve["ended"] == "converged":
                shares.append(share)
            if what is not None:
                print(f"{path}:{number}: {what}", file=sys.stderr)
                wrong += 1
    counts = " ".join(f"{end}={count}" for end, count in sorted(ends.items()))
    print(f"{seed} solves={sum(ends.values())} {counts} converged_at={max(shares):.3g} untrue={wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
