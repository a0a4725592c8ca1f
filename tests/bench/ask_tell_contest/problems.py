"""What the contest is about: spaces whose costs are known, where what may not run is only told as a failure."""
import collections
import csv
import gzip
import itertools
import json
import math
import pathlib
import random

DATA = pathlib.Path(__file__).resolve().parents[2] / "data" / "ask_tell"
KERNELS = ("convolution-RTX_3090", "dedispersion_milo-MI250X", "gemm-RTX_3090", "pnpoly-RTX_3090")
SECOND = 1e9  # costs are ns


class Problem:
    """`parameters`: name, whether its values have no order, values. `cost` takes the number of each value; None: failed."""

    def __init__(self, name, parameters, cost, best):
        self.name, self.parameters, self.cost, self.best = name, parameters, cost, best

    def size(self):
        return math.prod(len(values) for _, _, values in self.parameters)


def of_table(name, parameters, rows):
    """`rows`: costs by tuples of values; None where it failed. What is no row fails, too."""
    numbers = [{value: i for i, value in enumerate(values)} for _, _, values in parameters]
    costs = {tuple(n[value] for n, value in zip(numbers, row)): cost for row, cost in rows.items()}
    return Problem(name, parameters, costs.get, min(cost for cost in costs.values() if cost))


def kernel_tuner(file):
    """A cache of Kernel Tuner without its constraints: every combination may be asked for."""
    cache = json.loads(gzip.open(file).read())
    parameters = []
    for name, values in cache["tune_params"].items():
        numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
        if len(values) > 1:
            parameters.append((name, not numeric, sorted(values) if numeric else values))
    rows = {}
    for row in cache["cache"].values():
        time = row["time"]
        ran = isinstance(time, (int, float)) and 0 < time < 1e15
        rows[tuple(row[name] for name, _, _ in parameters)] = time * 1e6 if ran else None
    return of_table(pathlib.Path(file).name.split(".")[0], parameters, rows)


def recorded(name, categories, cost):
    with open(DATA / f"{name}.csv") as source:
        lines = list(csv.DictReader(source))
    parameters = []
    for key in list(lines[0])[:-2]:
        values = list(dict.fromkeys(line[key] for line in lines))
        parameters.append((key, key in categories, values if key in categories else sorted(values, key=int)))
    rows = {tuple(line[key] for key, _, _ in parameters): cost(line, int(line["instructions"]), int(line["bytes"]))
            for line in lines}
    return of_table(name, parameters, rows)


def deflate():
    """zlib on a made-up file of 32 KiB: instructions at 2 a ns, then a link of 4 MB/s; it has 64 KiB of memory."""
    def cost(line, instructions, size):
        memory = (1 << int(line["WINDOW"]) + 2) + (1 << int(line["MEMORY"]) + 9)
        return instructions / 2 + size * SECOND / 4e6 if instructions and memory <= 1 << 16 else None

    return recorded("deflate", {"STRATEGY"}, cost)


def flags():
    """gcc's flags: instructions of a small program, whose code must not be larger than 2 KiB, nor its results wrong."""
    return recorded("flags", {"OPTIMISE", "MACHINE", "MATH", "VECTORS"},
                    lambda line, instructions, size: float(instructions) if instructions and size <= 2048 else None)


def slambench(file):
    """Times of frames as a regression on the configurations that were recorded says, additive in the parameters (without
    the one left out it explains 96 % of the variance of ln t). The largest volume
    fails: it always did, and 22 of the 24 failures were its."""
    import numpy

    names = ("c", "r", "l", "m", "y1", "y2", "y3", "v")
    runs = collections.defaultdict(list)
    with gzip.open(file, "rt") as source:
        for line in csv.DictReader(source):
            if line["experiment"].endswith("failures-demo") and line["run_success"] == "yes":
                runs[tuple(float(line[name]) for name in names)].append(1 / float(line["fps"]))

    def terms(c, r, l, m, y1, y2, y3, v):
        c, v, r = math.log2(c), math.log2(v / 128), math.log2(r)
        return [1, c, v, c * c, v * v, r, r * r, 2 ** -r, math.log(l), m, y1, y2, y3, 1 / y1, 1 / y2, 1 / y3]

    logs = [math.log(sorted(times)[len(times) // 2]) for times in runs.values()]
    fit = numpy.linalg.lstsq(numpy.array([terms(*row) for row in runs]), numpy.array(logs), rcond=None)[0]
    values = [[1, 2, 4], range(1, 33), [1 + 4 * i for i in range(17)], [0.1 * i for i in range(1, 16)], range(1, 17),
              range(1, 9), range(1, 9), [64, 128, 256, 512]]
    parameters = [(name, False, list(of)) for name, of in zip(names, values)]

    def cost(chosen):
        row = [of[i] for (_, _, of), i in zip(parameters, chosen)]
        return None if row[-1] == 512 else SECOND * math.exp(float(numpy.dot(fit, terms(*row))))

    # Additive: the best value of each parameter is so beside any others.
    best = [min(range(len(of) - (name == "v")), key=lambda i: cost([0] * at + [i] + [0] * (len(names) - at - 1)))
            for at, (name, _, of) in enumerate(parameters)]
    return Problem("slambench", parameters, cost, cost(best))


def generated(seed=1):
    """1.2e9 configurations of categories and integers, of which 44 % fail; categories move where integers are
    best. The optimum is hidden, and known."""
    draw = random.Random(seed)
    sizes = [6, 5, 8, 4, 10, 12, 16, 16, 5, 8]
    categories = 4
    best = [draw.randrange(size) for size in sizes[:categories]] + [draw.randrange(1, size - 1) for size in sizes[categories:]]
    effects = [[0 if i == best[p] else draw.uniform(0.02, 0.6) for i in range(sizes[p])] for p in range(categories)]
    weights = [draw.uniform(0.2, 1.5) for _ in sizes]
    moved = {p: [best[p] if k == best[p % categories] else draw.randrange(sizes[p]) for k in range(sizes[p % categories])]
             for p in range(categories, len(sizes))}
    refused = {pair for pair in itertools.product(range(sizes[0]), range(sizes[2]))
               if pair != (best[0], best[2]) and draw.random() < 0.25}
    most = (best[5] + 1) * (best[6] + 1) + 40

    def cost(chosen):
        if (chosen[0], chosen[2]) in refused or (chosen[5] + 1) * (chosen[6] + 1) > most:
            return None
        if chosen[1] != best[1] and (chosen[7] + chosen[8]) % 3 == 0:
            return None
        log = sum(effects[p][chosen[p]] for p in range(categories))
        for p in range(categories, len(sizes)):
            log += weights[p] * (abs(chosen[p] - moved[p][chosen[p % categories]]) / sizes[p]) ** 1.5
        return 1e6 * math.exp(log)

    parameters = [(f"p{p}", p < categories, list(range(size))) for p, size in enumerate(sizes)]
    return Problem("generated", parameters, cost, cost(best))


def all_problems(shared):
    """Those whose data is here; `shared`: where the public measurements are."""
    made = [deflate(), flags(), generated()]
    for kernel in KERNELS:
        file = shared / "tuning" / "kernel_tuner" / f"{kernel}.json.gz"
        if file.exists():
            made.append(kernel_tuner(file))
    file = shared / "embedded" / "slambench_mali-t628.csv.gz"
    if file.exists():
        made.append(slambench(file))
    return made
