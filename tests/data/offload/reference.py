#!/usr/bin/env python3
"""Makes stepwise.json: data of our own, and what stepwise regression as published by Ardalani et al.
2015 finds in them. Independent of the C++ code: every candidate is solved anew by NumPy's lstsq.

usage: reference.py > stepwise.json        (made with NumPy 2.4.6)
"""
import json

import numpy as np

MASK = (1 << 64) - 1


class Draws:
    """SplitMix64, as models/core/random.hpp has it."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, bound):
        threshold = (1 << 64) % bound
        while True:
            r = self.next()
            if r >= threshold:
                return r % bound


def solve(columns, y):
    design = np.column_stack([np.ones(len(y))] + columns)
    coefficients, _, rank, _ = np.linalg.lstsq(design, y, rcond=1e-10)
    errors = y - design @ coefficients
    n, p = len(y), len(columns)
    r2 = 1 - (errors @ errors) / np.sum((y - y.mean()) ** 2) * (n - 1) / (n - p - 1)
    return coefficients, r2, rank == p + 1


def stepwise(x, y, distinct, theta1=0.0095, theta2=0.0):
    deviations = x.std(axis=0)
    constant = deviations <= 1e-13 * np.abs(x).max(axis=0)
    z = np.where(constant, 0, (x - x.mean(axis=0)) / np.where(constant, 1, deviations))
    terms, columns, r2s, r2 = [], [], [], 0.0

    def best_of(candidates):
        best = None
        for term in candidates:
            column = z[:, term[0]] * (z[:, term[1]] if len(term) == 2 else 1)
            _, value, independent = solve(columns + [column], y)
            if independent and (best is None or value > best[0] + 1e-12):
                best = (value, term, column)
        return best

    def take(best):
        terms.append(best[1])
        columns.append(best[2])
        r2s.append(best[0])

    may_grow = lambda: len(terms) + 2 < distinct
    while may_grow():
        inside = [t[0] for t in terms if len(t) == 1]
        best = best_of([(j,) for j in range(x.shape[1]) if j not in inside and not constant[j]])
        if best is None or not best[0] - r2 > theta2:
            break
        take(best)
        r2, feature, others = best[0], best[1][0], list(inside)
        while may_grow() and others:
            best = best_of([(feature, k) for k in others])
            if best is None or not best[0] - r2 > theta1:
                break
            take(best)
            r2 = best[0]
            others.remove(best[1][1])
    coefficients = solve(columns, y)[0]
    return {"constant": coefficients[0], "terms": [list(t) for t in terms],
            "coefficients": list(coefficients[1:]), "adjusted_r2": r2s}


def predict(model, x, row):
    deviations = x.std(axis=0)
    z = np.where(deviations > 0, (row - x.mean(axis=0)) / np.where(deviations > 0, deviations, 1), 0)
    return model["constant"] + sum(c * np.prod(z[t]) for t, c in
                                   zip(model["terms"], model["coefficients"]))


def ensemble(x, y, probes, models, seed):
    draws, values, terms = Draws(seed), [], []
    for _ in range(models):
        rows = [draws.below(len(y)) for _ in range(len(y))]
        model = stepwise(x[rows], y[rows], len(set(rows)))
        values.append([predict(model, x[rows], probe) for probe in probes])
        terms.append(len(model["terms"]))
    ascending = np.sort(np.array(values), axis=0)
    means = {}
    for share in (0, 20, 40, 60, 80, 100):
        skip = int(models * (100 - share) / 200 + 0.5)
        middle = ascending[skip:models - skip]
        means[share] = list(middle.mean(axis=0) if len(middle) else np.median(ascending, axis=0))
    return {"models": models, "seed": seed, "terms": terms, "means": means}


def case(seed, rows, columns, noise, spoil=None):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (rows, columns))
    x[:, 1] = np.round(1000 * x[:, 1] ** 3)  # a count
    x = np.round(x, 6)
    if spoil:
        spoil(x)
    y = (2 + 3 * x[:, 0] - 0.004 * x[:, 1] + 2.5 * x[:, 0] * x[:, 2] - x[:, 3]
         + noise * rng.standard_normal(rows))
    y = np.round(y, 6)
    probes = np.round(rng.uniform(0, 1, (4, columns)), 6)
    return {"x": x.tolist(), "y": y.tolist(), "model": stepwise(x, y, rows),
            "probes": probes.tolist(), "ensemble": ensemble(x, y, probes, 20, seed)}


def spoil(x):
    x[:, 4] = 0.25             # constant
    x[:, 5] = 2 * x[:, 0] - 7  # collinear with the first


if __name__ == "__main__":
    cases = {"clean": case(1, 40, 5, 0.0), "noisy": case(2, 60, 8, 0.5),
             "spoiled": case(3, 30, 7, 0.2, spoil), "few rows": case(4, 9, 8, 0.3)}
    print(json.dumps(cases, separators=(",", ":")))
