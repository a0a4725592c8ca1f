"""Tunes a C function so that every kind of failure occurs that Kernel Tuner has: of eight configurations
four ask for too many threads, one does not compile, one does not run and two work.
usage: make_cache.py CACHE [T4_FILE (Kernel Tuner 1)]"""
import sys
from collections import OrderedDict

import kernel_tuner
import numpy
from kernel_tuner.core import DeviceInterface

SOURCE = """
#if WAYS == 3
#error uses too much shared data
#endif
extern "C" float add(float *out, float *in, int n) {
  for (int i = 0; i < n; ++i) out[i] = in[i] * WAYS;
  return 1.5f * WAYS + 0.25f * BX;
}
"""
benchmark = DeviceInterface.benchmark_default


def benchmark_default(self, func, gpu_args, threads, grid, result):
    measured = {}
    benchmark(self, func, gpu_args, threads, grid, measured)
    if measured["time"] > 6:
        raise RuntimeError("OUT_OF_RESOURCES")  # what a driver says that has too few registers
    result.update(measured)


DeviceInterface.benchmark_default = benchmark_default
n = numpy.int32(640)
arguments = [numpy.zeros(n, numpy.float32), numpy.ones(n, numpy.float32), n]
# What does not compile comes last: Kernel Tuner 0.4.5 closes its library once more then.
threads = [1, 2048] if len(sys.argv) > 2 else [1]  # 0.4.5 fails itself where there are too many
parameters = OrderedDict([("WAYS", [1, 2, 4, 3]), ("BX", threads)])
results, _ = kernel_tuner.tune_kernel(
    "add", SOURCE, 640, arguments, parameters, lang="C", compiler="g++", cache=sys.argv[1],
    block_size_names=["BX", "BY", "BZ"], quiet=True,
    # What does not compile raises, unless the message (1.5) or the command (0.4.5) has these words.
    compiler_options=["-DREASON='uses too much shared data'"])
if len(sys.argv) > 2:
    from kernel_tuner.file_utils import store_output_file
    store_output_file(sys.argv[2], results, parameters)
