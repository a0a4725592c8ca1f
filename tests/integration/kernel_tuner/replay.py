"""Replays a cache of `make_cache.py` in Kernel Tuner's simulation mode; prints how many configurations worked and the
fastest one's time. usage: replay.py CACHE"""
import json
import sys
from collections import OrderedDict

import kernel_tuner
import numpy

cache = json.load(open(sys.argv[1]))
n = numpy.int32(640)
arguments = [numpy.zeros(n, numpy.float32), numpy.ones(n, numpy.float32), n]
parameters = OrderedDict((name, cache["tune_params"][name]) for name in cache["tune_params_keys"])
results, _ = kernel_tuner.tune_kernel(
    "add", "extern \"C\" float add(float *out, float *in, int n) { return 0; }", 640, arguments, parameters,
    lang="C", compiler="g++", cache=sys.argv[1], block_size_names=["BX", "BY", "BZ"], quiet=True,
    simulation_mode=True)
times = [r["time"] for r in results if isinstance(r.get("time"), float) and "__error__" not in r]
print(len(times), min(times))
