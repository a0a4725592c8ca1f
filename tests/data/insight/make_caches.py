#!/usr/bin/env python3
"""Writes three small Kernel Tuner caches of an invented kernel into the folder given. Needs NumPy (seeded)."""
import itertools
import json
import sys

import numpy as np

VALUES = {"block": [8, 16, 32, 64], "tile": [1, 2, 4, 8], "unroll": [0, 1], "layout": ["row", "column", "tiled"],
          "filter": [3]}
random = np.random.default_rng(7)
for device, block_best, tile_best, memory in (("Board_One", 16, 2, 200), ("Board_Two", 32, 4, 300),
                                               ("Board_Three", 16, 4, 256)):
    cache = {}
    for block, tile, unroll, layout, size in itertools.product(*VALUES.values()):
        if block * tile > 256:
            continue
        time = 4 + abs(np.log2(block / block_best)) * 2 + abs(np.log2(tile / tile_best)) + 0.3 * unroll
        time += {"row": 0, "column": 3, "tiled": 0.5}[layout] + random.normal(0, 0.1)
        failed = block * tile >= memory or (layout == "tiled" and tile == 1 and unroll)
        if failed and device == "Board_Three":
            continue  # this tool leaves out what failed
        key = f"{block},{tile},{unroll},{layout},{size}"
        cache[key] = {"time": "RuntimeFailedConfig" if failed else round(time, 1)}
    header = {"device_name": device.replace("_", " "), "kernel_name": "stencil", "tune_params_keys": list(VALUES),
              "tune_params": VALUES, "cache": cache}
    with open(f"{sys.argv[1]}/stencil-{device}.json", "w") as f:
        json.dump(header, f, indent=0, separators=(",", ":"))
        f.write("\n")
