#!/usr/bin/env python3
"""Features of sparse matrices by NumPy and SciPy, for tests/unit/krylov/features_test.cpp.

usage: make_features.py MATRIX.mtx[.gz]... > features.txt

A line per matrix: its file's name and the twelve features of section 3.1 of Li and Suda 2012, in the
order of kernels/krylov/features.hpp. Entries that are stored as zeros count. The recorded file was made
with SciPy 1.17.1 of the matrices in this folder and of 47 of the SuiteSparse collection.
"""
import sys
from pathlib import Path

import numpy as np
from scipy.io import mmread

for path in sys.argv[1:]:
    matrix = mmread(path).tocoo()
    # Places, once each: what stands in several lines is one entry.
    places = np.unique(np.stack([matrix.row, matrix.col], axis=1).astype(np.int64), axis=0)
    rows = matrix.shape[0]
    counts = np.bincount(places[:, 0], minlength=rows)
    distance = np.abs(places[:, 0] - places[:, 1])
    sums = np.bincount(places[:, 0], weights=distance, minlength=rows)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), 0)
    low = np.zeros(rows)
    high = np.zeros(rows)
    below = places[:, 0] > places[:, 1]
    above = places[:, 0] < places[:, 1]
    np.maximum.at(low, places[below, 0], distance[below])
    np.maximum.at(high, places[above, 0], distance[above])
    features = [rows, len(places), counts.mean(), counts.std(), counts.max(), counts.min(),
                means.mean(), means.std(), low.mean(), high.mean(), low.std(), high.std()]
    name = Path(path).name.removesuffix(".gz")
    print(name, *("%.12g" % value for value in features))
