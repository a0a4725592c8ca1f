#!/usr/bin/env python3
"""Well-performing fractions of Kernel Tuner caches, computed without idletune.

Usage: reference_fractions.py SHARED_FOLDER > fractions.json
Needs NumPy. For every cache with compile times under SHARED_FOLDER/data/tuning/kernel_tuner: q = best / time,
failed configurations 0, over all configurations of the file (none there is "InvalidConfig"); the
share with q >= r for r = 0.8, 0.9, 0.95; steps of random search for probability 0.95, with replacement
(formula 2) and without (hypergeometric, in exact integers); quantiles (inverse of the empirical distribution).
"""
import glob, gzip, json, math, os, sys
from fractions import Fraction
import numpy as np


def without_repetition(valid, good, probability):
    if good == 0:
        return None
    missed, target = Fraction(1), 1 - Fraction(probability)
    for n in range(1, valid - good + 2):
        missed *= Fraction(valid - good - n + 1, valid - n + 1)
        if missed <= target:
            return n


def describe(path):
    with gzip.open(path, "rt") as f:
        cache = json.load(f)["cache"].values()
    times = np.array([np.inf if isinstance(c["time"], str) else c["time"] for c in cache])
    assert not any(c["time"] == "InvalidConfig" for c in cache)
    q = np.sort(times.min() / times)
    result = {"file": os.path.basename(path), "valid": len(q), "fractions": [], "quantiles": {}}
    for r in (0.8, 0.9, 0.95):
        good = int(np.count_nonzero(q >= r))
        p = good / len(q)
        steps = None if p == 0 else 1 if p == 1 else math.ceil(math.log(0.05) / math.log(1 - p))
        result["fractions"].append({"threshold": r, "fraction": p, "steps": steps,
                                    "without_repetition": without_repetition(len(q), good, 0.95)})
    for u in (0.25, 0.5, 0.9375, 1 - 2**-8):
        result["quantiles"][str(u)] = float(np.quantile(q, u, method="inverted_cdf"))
    return result


paths = sorted(glob.glob(sys.argv[1] + "/data/tuning/kernel_tuner/*.json.gz"))
json.dump([describe(p) for p in paths], sys.stdout, indent=1)
print()
