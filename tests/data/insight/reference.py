#!/usr/bin/env python3
"""Fractions, mutual information and pruning of tuning results, computed without idletune.

Usage: reference.py FOLDER_OF_CACHES > own.json
       reference.py SHARED_FOLDER --recorded > recorded.json
Needs NumPy, SciPy and scikit-learn. Reads Kernel Tuner caches, T4 and KTT results (JSON and XML), plain or gzip.

fractions    q = best / time, failures 0, over all configurations but invalid ones; share with q >= r; formula 2 and
             the hypergeometric figure (exact integers) for probability 0.95
information  sklearn.metrics.mutual_info_score (converted to bits) between a parameter and bins of the run time:
             B bins, B the largest number with 16 B^2 <= n in [2, 32]; the i-th smallest of n is in bin
             floor(i B / n), equal times in the bin of the first of them; expected_mutual_information for its
             mean over permutations; mutual_info_score with failed-or-not for failures
pruning      Olha et al. 2020, section 4; see models/host/insight/README.md for medians and emptied spaces
"""
import glob
import gzip
import json
import math
import os
import sys
import xml.etree.ElementTree as xml
from fractions import Fraction

import numpy as np
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

BITS = 1 / math.log(2)


def text_of(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as f:
        return f.read()


def typed(key, values):
    for v in values:
        if str(v) == key:
            return v
    return key


def read_kernel_tuner(data):
    names = list(data["tune_params_keys"])
    rows = {}
    for key, entry in data["cache"].items():
        time = entry.get("time")
        if time == "InvalidConfig":
            continue
        fine = isinstance(time, (int, float)) and 0 < time < 1e9
        parts = key.split(",")
        values = tuple(entry[n] if n in entry else typed(p, data["tune_params"][n]) for n, p in zip(names, parts))
        rows[values] = float(time) if fine else math.inf
    return names, rows


def read_t4(data):
    names, rows = None, {}
    for result in data["results"]:
        names = names or list(result["configuration"])
        if result["invalidity"] == "constraints":
            continue
        value = next((m["value"] for m in result["measurements"] if m["name"] == "time"), None)
        fine = result["invalidity"] == "correct" and isinstance(value, (int, float)) and 0 < value
        rows[tuple(result["configuration"][n] for n in names)] = float(value) if fine else math.inf
    return names, rows


def read_ktt_json(data):
    names, rows = None, {}
    for result in data["Results"]:
        names = names or [p["Name"] for p in result["Configuration"]]
        values = {p["Name"]: p["Value"] for p in result["Configuration"]}
        fine = result["Status"] == "Ok"
        rows[tuple(values[n] for n in names)] = float(result["TotalDuration"]) if fine else math.inf
    return names, rows


def read_ktt_xml(text):
    names, rows = None, {}
    for result in xml.fromstring(text).iter("KernelResult"):
        pairs = {p.get("Name"): int(p.get("Value")) for p in result.iter("Pair")}
        names = names or list(pairs)
        fine = result.get("Status") == "Ok"
        rows[tuple(pairs[n] for n in names)] = float(result.get("TotalDuration")) if fine else math.inf
    return names, rows


def read(path):
    text = text_of(path)
    if text.lstrip().startswith("<"):
        return read_ktt_xml(text)
    for tail in ("", "}", "}}", "}}}"):  # some caches were never closed
        try:
            data = json.loads(text.rstrip().rstrip(",") + tail if tail else text)
            break
        except json.JSONDecodeError:
            continue
    if "Results" in data:
        return read_ktt_json(data)
    return read_t4(data) if "results" in data else read_kernel_tuner(data)


def without_repetition(valid, good, probability):
    if good == 0:
        return None
    missed, target = Fraction(1), 1 - Fraction(probability)
    for n in range(1, valid - good + 2):
        missed *= Fraction(valid - good - n + 1, valid - n + 1)
        if missed <= target:
            return n


def fractions_of(times):
    q = times.min() / times
    result = []
    for r in (0.8, 0.9, 0.95):
        good = int(np.count_nonzero(q >= r))
        p = good / len(q)
        steps = None if p == 0 else 1 if p == 1 else math.ceil(math.log1p(-0.95) / math.log1p(-p))
        result.append([r, p, steps, without_repetition(len(q), good, 0.95)])
    return result


def bins_of(times):
    n = len(times)
    bins = max(b for b in range(2, 33) if b == 2 or 16 * b * b <= n)
    ordered = np.sort(times)
    return np.searchsorted(ordered, times, side="left") * bins // n


def labels(column):
    index = {}
    return np.array([index.setdefault(v, len(index)) for v in column])


def information_of(names, rows, times):
    fine = np.isfinite(times)
    bins = bins_of(times[fine])
    result = {}
    for p, name in enumerate(names):
        column = labels([r[p] for r in rows])
        here = column[fine]
        plain = mutual_info_score(here, bins) * BITS if len(set(here)) > 1 else 0.0
        expected = 0.0
        if len(set(here)) > 1:
            expected = expected_mutual_information(contingency_matrix(here, bins, sparse=True), len(here)) * BITS
        failing = mutual_info_score(column, ~fine) * BITS if not fine.all() else 0.0
        result[name] = [float(max(0.0, plain)), float(max(0.0, plain - expected)), float(max(0.0, failing))]
    return result


def preference(values):
    """Distinct values in the order in which they are preferred for pinning."""
    distinct = list(dict.fromkeys(values))
    if all(isinstance(v, (int, float)) for v in distinct):
        distinct.sort()
        median = (len(distinct) - 1) // 2
        return sorted(distinct, key=lambda v: (abs(distinct.index(v) - median), v))
    return sorted(distinct, key=lambda v: (-values.count(v), str(v)))


def pruning_of(method, names, rows, times, information):
    best, left = times.min(), np.arange(len(rows))
    highest = max(i[0] for i in information.values())
    candidates = [p for p in range(len(names)) if len({r[p] for r in rows}) > 1]
    pins = {}
    for p in sorted(candidates, key=lambda p: information[names[p]][0]):
        low = information[names[p]][0] < 0.2 * highest
        if method != "aggressive" and not low:
            break
        for value in preference([r[p] for r in rows]):
            narrowed = np.array([i for i in left if rows[i][p] == value], dtype=int)
            if len(narrowed):
                break
        enough = best / times[narrowed].min() >= 0.9
        if not enough and method != "naive":
            break
        left = narrowed
        pins[names[p]] = value
    return pins, len(left)


def retention(pins, names, rows, times):
    where = {n: p for p, n in enumerate(names)}
    left = [i for i, r in enumerate(rows) if all(r[where[n]] == v for n, v in pins.items())]
    return float(times.min() / times[left].min()) if left and np.isfinite(times[left].min()) else 0.0


def family(path):
    """Results of one tuning space: the folder and the kernel in the file's name."""
    return os.path.dirname(path), os.path.basename(path).split("-")[0]


def describe_all(paths, root):
    tables = {}
    for path in paths:
        names, rows = read(path)
        tables[path] = names, list(rows), np.array(list(rows.values()))
    result = []
    for path, (names, rows, times) in tables.items():
        information = information_of(names, rows, times)
        entry = {"file": os.path.relpath(path, root), "valid": len(rows), "fractions": fractions_of(times),
                 "information": information, "pruning": {}}
        kin = [p for p in paths if p != path and family(p) == family(path) and "-run2" not in p and "-run3" not in p]
        if "-run2" in path or "-run3" in path:
            result.append(entry)
            continue
        for method in ("naive", "aggressive", "conservative"):
            pins, left = pruning_of(method, names, rows, times, information)
            entry["pruning"][method] = {"pins": pins, "remaining": left, "retention": {
                os.path.relpath(p, root): retention(pins, *tables[p]) for p in [path] + kin}}
        result.append(entry)
    return result


root = sys.argv[1]
if "--recorded" in sys.argv:
    found = [p for kind in ("kernel_tuner", "kernel_tuner_repeats", "t4", "ktt")
             for p in sorted(glob.glob(f"{root}/data/tuning/{kind}/*.gz"))]
    root += "/data/tuning"
else:
    found = sorted(glob.glob(f"{root}/*-*.json"))
described = describe_all(found, root)
print("[\n" + ",\n".join(json.dumps(d) for d in described) + "\n]")
