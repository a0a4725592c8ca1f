#!/usr/bin/env python3
"""What scikit-learn and NumPy make of one table of times: trees and what their choices are worth.

Needs scikit-learn. Writes `problems.txt`: "problems P methods C training T", a line per problem (three
sizes, then the time of each method; the first T are learned from; methods below C / 2 are of member 0), the
default's line ("default" small method, large method, threshold, and the mean of its time over the best), and a line
for each tree ("tree" H L accuracy DTPR DTTR 10th-percentile, and the choice at each problem of the test). Trees of which
scikit-learn grows several, because splits are equally good, are left out.
"""
import numpy as np
from sklearn.tree import DecisionTreeClassifier

rng = np.random.default_rng(20180301)
problems, methods, training = 150, 6, 120
sizes = np.round(np.exp(rng.uniform(np.log(20), np.log(3000), (problems, 3))), 2)
log = np.log2(sizes)
liked = rng.uniform(np.log2(20), np.log2(3000), (methods, 3))
far = ((log[:, None, :] - liked[None]) ** 2).sum(2)
times = np.exp2(log.sum(1))[:, None] * (1 + 0.05 * far)
times = np.round(times * rng.uniform(1, 1.05, times.shape), 1)
train, test = np.arange(training), np.arange(training, problems)
best = times.argmin(1)
member = np.arange(methods) >= methods // 2


def tuned(side, which):
    at = ((log - np.log2(side)) ** 2).sum(1).argmin()
    return np.where(member == which, times[at], np.inf).argmin()


small, large = tuned(256, 0), tuned(1024, 1)
volume = sizes.prod(1)


def default(threshold):
    return np.where(volume > threshold, times[:, large], times[:, small])


cuts = np.unique(np.concatenate([[0], volume[train]]))
threshold = cuts[np.argmax([(times.min(1) / default(c))[train].mean() for c in cuts])]
usual = default(threshold)
with open("problems.txt", "w") as out:
    print("problems", problems, "methods", methods, "training", training, file=out)
    for p in range(problems):
        print(*(repr(float(v)) for v in [*sizes[p], *times[p]]), file=out)
    print("default", small, large, repr(float(threshold)),
          repr(float((usual / times.min(1))[test].mean())), file=out)
    for height in [1, 2, 4, 8, 0]:
        for leaf in [1, 2, 4, 0.1, 0.2, 0.3, 0.4, 0.5]:
            choices = []
            for seed in range(20):
                tree = DecisionTreeClassifier(max_depth=height or None, min_samples_leaf=leaf,
                                              random_state=seed)
                tree.fit(sizes[train].astype(np.float32), best[train])
                choices.append(tree.predict(sizes[test].astype(np.float32)))
            choice = choices[0]
            if any((other != choice).any() for other in choices):
                continue
            ratio = (times.min(1) / times[np.arange(problems), np.r_[best[train], choice]])[test]
            gain = (usual / times[np.arange(problems), np.r_[best[train], choice]])[test]
            print("tree", height, leaf, repr(float((choice == best[test]).mean())),
                  repr(float(ratio.mean())), repr(float(gain.mean())),
                  repr(float(np.percentile(ratio, 10))), *choice, file=out)
