#!/usr/bin/env python3
"""Synthetic run times over all 7,262 thread blocks X x Y of at most 1,024 threads.

Writes one Kernel Tuner cache per pattern into the given folder: what a memory-bound kernel would
roughly take, from coalescing (whole rows of 32), occupancy (2,048 threads, 32 blocks, 64 warps per
multiprocessor), partial warps, the reuse of neighbouring rows, the tail of a 1,000 x 1,000 grid,
and 2 % of noise. Not a model of any device; for trying searchers on spaces of papers/000's kind
where no measured one is at hand.

    make_thread_blocks.py FOLDER
"""

import json
import math
import random
import sys

WARP, THREADS, BLOCKS, WARPS, PROCESSORS, GRID = 32, 2048, 32, 64, 56, 1000

# name: weight of coalescing, of occupancy, of rows reused, registers-bound threads
PATTERNS = {
    "stencil": (0.6, 0.7, 0.5, 2048),
    "columns": (0.1, 0.6, -0.3, 2048),
    "product": (0.8, 1.0, 0.9, 1024),
    "vector": (0.9, 0.4, 0.0, 2048),
}


def time_of(x, y, pattern, noise):
    coalescing, occupancy, reuse, threads = PATTERNS[pattern]
    warps = math.ceil(x * y / WARP)
    resident = min(BLOCKS, threads // (warps * WARP), WARPS // warps) * warps
    busy = x * y / (warps * WARP)
    segments = math.ceil(x / WARP) * WARP / x
    blocks = math.ceil(GRID / x) * math.ceil(GRID / y)
    waves = blocks * warps / (PROCESSORS * max(resident, 1))
    tail = math.ceil(waves) / waves
    work = blocks * x * y / GRID ** 2
    return (work * segments ** coalescing / busy * (WARPS / max(resident, 1)) ** occupancy
            * tail ** 0.5 * (1 + 8 / y) ** reuse * math.exp(noise.gauss(0, 0.02)))


def main(folder):
    for pattern in PATTERNS:
        noise = random.Random(pattern)
        cache = {}
        for x in range(1, 1025):
            for y in range(1, 1024 // x + 1):
                cache[f"{x},{y}"] = {"block_size_x": x, "block_size_y": y,
                                     "time": time_of(x, y, pattern, noise)}
        with open(f"{folder}/thread_blocks_{pattern}.json", "w", encoding="utf-8") as out:
            json.dump({"device_name": "synthetic", "kernel_name": f"thread_blocks_{pattern}",
                       "problem_size": [GRID, GRID],
                       "tune_params_keys": ["block_size_x", "block_size_y"],
                       "tune_params": {"block_size_x": list(range(1, 1025)),
                                       "block_size_y": list(range(1, 1025))},
                       "cache": cache}, out)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make_thread_blocks.py FOLDER")
    main(sys.argv[1])
