#!/usr/bin/env python3
"""Recorded values of tests/unit/search/portfolio_regression_test.cpp, with NumPy alone.

Not the algorithm of agent/search/portfolio_regression.cpp (one recursive step per measurement, in
single precision) but the same model as one Gaussian conditioning on all measurements at once, in
double precision. Prints the arrays that the test holds.
"""
from math import erf, exp, log, pi, sqrt

import numpy as np

WEIGHTS = np.array([0.5, 0.3, 0.2])
# Twelve entries: parameters (a: four values, b: three, c: always 7), q on three sources; -1: not
# measured there.
VALUES = [(1 << (i % 4), 10 * (i * 5 % 3), 7) for i in range(12)]
Q = np.array([[round(1 - 0.07 * ((i * (3 + 2 * d) + d) % 12), 2) for d in range(3)]
              for i in range(12)])
Q[4, 1] = -1
Q[7, 2] = 0
Q[9] = -1
SCORE = [0.5] * 12
TOLD = [(0, 1.0e6), (5, None), (3, 0.8e6), (7, 2.9e6), (9, 1.1e6)]  # entry, ns; None: failed
FLOOR, SOURCES, PARAMETERS, SCALE = 0.2, 1.5, 0.2, 2.0
NOISE, PER_DISTANCE, FURTHEST, MARGIN = 0.05, 0.2, -log(0.4), 0.03


def expected_and_features():
    q = np.maximum(Q, FLOOR)
    known = Q >= 0
    mean = np.empty(12)
    for e in range(12):
        w = WEIGHTS * known[e]
        mean[e] = log((w * q[e] ** 4).sum() / w.sum()) / 4 if w.sum() > 0 else log(SCORE[e])
    deviations = np.where(known, np.sqrt(WEIGHTS) * (mean[:, None] - np.log(q)), 0.0)
    return -mean, deviations


def parameter_kernel():
    """Sum over both varying parameters of an exponential kernel over ranks."""
    kernel = np.zeros((12, 12))
    for column in (0, 1):
        values = sorted({v[column] for v in VALUES})
        rank = np.array([values.index(v[column]) for v in VALUES])
        kernel += np.exp(-np.abs(rank[:, None] - rank[None]) / (len(values) - 1))
    return kernel * PARAMETERS ** 2 / 2


def main():
    expected, deviations = expected_and_features()
    prior = SCALE ** 2 + SOURCES ** 2 * deviations @ deviations.T + parameter_kernel()
    offset = log(TOLD[0][1])
    best, entries, targets, noises = 0.0, [], [], []
    for entry, time in TOLD:
        here = best + FURTHEST if time is None else log(time) - offset
        distance = min(max(here - best, 0), FURTHEST)
        entries.append(entry)
        targets.append(min(here, best + FURTHEST))
        noises.append(NOISE ** 2 + (PER_DISTANCE * distance) ** 2)
        best = min(best, here)
    k = prior[:, entries]
    inverse = np.linalg.inv(prior[np.ix_(entries, entries)] + np.diag(noises))
    mean = expected + k @ inverse @ (np.array(targets) - expected[entries])
    deviation = np.sqrt(np.diag(prior - k @ inverse @ k.T) + NOISE ** 2)
    values = []
    for m, s in zip(mean, deviation):
        ahead = best - MARGIN - m
        z = ahead / s
        values.append(ahead * 0.5 * (1 + erf(z / sqrt(2))) + s * exp(-z * z / 2) / sqrt(2 * pi))
    for name, row in (("expected", expected), ("mean", mean + offset), ("deviation", deviation),
                      ("value", values)):
        print(name, ", ".join(f"{x:.6f}" for x in row))


if __name__ == "__main__":
    main()
