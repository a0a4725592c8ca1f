#!/usr/bin/env python3
"""Makes the files of this folder: data sets, and what scikit-learn predicts for them.

usage: make_goldens.py FOLDER [KERNEL_TUNER_CACHE.json.gz]

The recorded files were made with scikit-learn 1.9.1 and numpy 2.4.6; gemm*.txt from
gemm-RTX_3090.json.gz of AutoTuningAssociation/benchmark_hub (MIT licence), at 8eeb99e.
"""
import gzip
import json
import sys
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

SEEDS = range(10)


def as_float32(a):
    return np.asarray(a, dtype=np.float32).astype(np.float64)


class Golden:
    def __init__(self, folder, name, note, x, y, classes, train, kinds=None):
        self.x, self.y, self.classes = as_float32(x), as_float32(y), classes
        self.train, self.test = slice(0, train), slice(train, len(x))
        self.path = f"{folder}/{name}.txt"
        self.lines = [f"# {note}", f"columns {x.shape[1]}", f"classes {classes}",
                      "kinds " + " ".join(kinds or ["n"] * x.shape[1])]
        for label, part in (("train", self.train), ("test", self.test)):
            rows = np.column_stack([self.x[part], self.y[part]])
            self.lines.append(f"{label} {len(rows)}")
            self.lines += [" ".join(f"{v:.9g}" for v in row) for row in rows]

    def fit(self, model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # perceptrons that have not converged
            model.fit(self.x[self.train], self.y[self.train])
        return model.predict(self.x[self.test]), model.score(self.x[self.test], self.y[self.test])

    def result(self, what, options, predictions=None, scores=None):
        line = f"result {what} " + " ".join(f"{k}={v!r}" for k, v in options.items())
        if scores is not None:
            line += f" low={min(scores):.6f} mean={np.mean(scores):.6f} high={max(scores):.6f}"
        self.lines.append(line)
        digits = ".17g" if what.startswith("sv") else ".9g"
        if predictions is not None:
            self.lines.append("predictions " + " ".join(f"{p:{digits}}" for p in predictions))

    def cart(self, **options):
        """Predictions are recorded where scikit-learn's seed, which breaks ties between splits,
        makes no difference; otherwise the range of scores over the seeds."""
        tree = DecisionTreeClassifier if self.classes else DecisionTreeRegressor
        runs = [self.fit(tree(random_state=s, max_depth=options.get("height"),
                              min_samples_leaf=options.get("leaf_share") or options.get("leaf_rows", 1)))
                for s in SEEDS]
        same = all(np.array_equal(np.float32(p), np.float32(runs[0][0])) for p, _ in runs)
        self.result("cart", options, runs[0][0] if same else None, [s for _, s in runs])

    def forest(self, features=None, **options):
        forest = RandomForestClassifier if self.classes else RandomForestRegressor
        scores = [self.fit(forest(n_estimators=options["trees"], random_state=s, max_features=features,
                                  min_samples_leaf=options.get("leaf_rows", 1)))[1] for s in SEEDS]
        self.result("forest", dict(options, candidate_features=features or 0), None, scores)

    def knn(self, k):
        """Computed here, since scikit-learn leaves open which of equally near rows count: the
        earlier. Checked against scikit-learn where there are no such rows."""
        train, targets = self.x[self.train], self.y[self.train]
        predictions, ties = [], False
        for row in self.x[self.test]:
            d = ((train - row) ** 2).sum(axis=1)
            order = np.argsort(d, kind="stable")
            near = order[:k]
            ties |= d[order[k]] == d[order[k - 1]]
            if self.classes:
                predictions.append(np.argmax(np.bincount(targets[near].astype(int))))
            else:
                predictions.append(targets[near].sum() / k)
        if not ties:
            model = KNeighborsClassifier if self.classes else KNeighborsRegressor
            theirs, _ = self.fit(model(n_neighbors=k, algorithm="brute"))
            assert np.allclose(theirs, predictions, rtol=1e-12, atol=0), "not scikit-learn's answer"
        self.result("knn", {"k": k, "ties": int(ties)}, predictions)

    def support_vectors(self, **options):
        gamma = options["gamma"] or "scale"
        if self.classes:
            model = SVC(C=options["c"], gamma=gamma, tol=options["tolerance"])
        else:
            model = SVR(C=options["c"], gamma=gamma, epsilon=options["epsilon"], tol=options["tolerance"])
        predictions, score = self.fit(model)
        self.result("svc" if self.classes else "svr", options, predictions, [score])

    def perceptron(self):
        model = MLPClassifier if self.classes else MLPRegressor
        scores = [self.fit(make_pipeline(StandardScaler(), model(max_iter=2000, random_state=s)))[1]
                  for s in SEEDS]
        self.result("mlp", {}, None, scores)

    def write(self):
        with open(self.path, "w") as f:
            f.write("\n".join(self.lines) + "\n")


def friedman(folder):
    rng = np.random.default_rng(1)
    x = as_float32(rng.uniform(size=(250, 6)))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    g = Golden(folder, "friedman", "Friedman's first function (1991), six uniform features, unit noise",
               x, y + rng.normal(size=250), 0, 150)
    for height in (1, 2, 4):
        g.cart(height=height)
    g.cart(height=4, leaf_rows=4)
    for share in (0.1, 0.2, 0.4, 0.5):
        g.cart(leaf_share=share)
    g.cart(height=8)
    g.cart(leaf_rows=2)
    g.cart()
    g.forest(trees=64)
    g.forest(trees=64, features=2)
    g.forest(trees=64, leaf_rows=4)
    for k in (1, 5):
        g.knn(k)
    g.support_vectors(c=1.0, gamma=0.0, epsilon=0.1, tolerance=1e-10)
    g.support_vectors(c=100.0, gamma=0.5, epsilon=0.5, tolerance=1e-10)
    g.support_vectors(c=1.0, gamma=0.0, epsilon=0.1, tolerance=1e-3)
    g.perceptron()
    g.write()


def wave(folder):
    rng = np.random.default_rng(2)
    x = as_float32(rng.normal(size=(160, 1)) * 100)
    y = np.sin(x[:, 0] / 50) + 0.2 * rng.normal(size=160)
    g = Golden(folder, "wave", "a noisy sine of one feature: no two splits are equal", x, y, 0, 100)
    for height in (1, 2, 4, 8):
        g.cart(height=height)
    for leaf in (1, 2, 4):
        g.cart(leaf_rows=leaf)
    g.write()


def blobs(folder):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, size=250)
    centres = np.array([[0, 0, 0], [2, 0, 1], [0, 2, 1], [2, 2, 0]])
    x = centres[y] + rng.normal(size=(250, 3))
    g = Golden(folder, "blobs", "four overlapping normal clouds in three dimensions", x, y, 4, 150)
    for height in (1, 2):
        g.cart(height=height)
    g.cart(height=4, leaf_rows=8)
    for share in (0.1, 0.2, 0.4):
        g.cart(leaf_share=share)
    g.cart()
    g.forest(trees=64)
    g.forest(trees=64, features=1)
    g.forest(trees=64, leaf_rows=8)
    for k in (1, 5):
        g.knn(k)
    g.support_vectors(c=1.0, gamma=0.0, tolerance=1e-10)
    g.support_vectors(c=10.0, gamma=0.5, tolerance=1e-10)
    g.support_vectors(c=1.0, gamma=0.0, tolerance=1e-3)
    g.perceptron()
    g.write()


def one_hot(folder):
    """Unordered categories, where a set of them is what parts the rows."""
    rng = np.random.default_rng(4)
    colour = rng.integers(0, 8, size=250)
    size = as_float32(rng.uniform(size=250))
    y = np.array([3, -1, 2, -2, 0.5, 1, -3, 0])[colour] + size + 0.1 * rng.normal(size=250)
    g = Golden(folder, "categories", "eight categories without order, and a number", np.column_stack([colour, size]),
               y, 0, 150, ["c", "n"])
    # The best order of categories is that of their mean target (Breiman et al. 1984): with the
    # category replaced by its rank in that order, a numeric tree of height 1 makes the same split.
    t = g.train
    means = [g.y[t][colour[t] == c].mean() for c in range(8)]
    rank = np.argsort(np.argsort(means))
    model = DecisionTreeRegressor(max_depth=1).fit(np.column_stack([rank[colour], size])[t], g.y[t])
    g.result("cart", {"height": 1}, model.predict(np.column_stack([rank[colour], size])[g.test]))
    g.write()


def gemm(folder, cache):
    with gzip.open(cache) as f:
        data = json.load(f)
    names = [k for k in data["tune_params_keys"] if len(data["tune_params"][k]) > 1]
    rows = [r for r in data["cache"].values() if isinstance(r["time"], (int, float))]
    rng = np.random.default_rng(5)
    rows = [rows[i] for i in rng.permutation(len(rows))[:350]]
    x = np.array([[r[n] for n in names] for r in rows], dtype=float)
    time = np.array([r["time"] for r in rows])
    origin = (f"{len(rows)} random configurations of CLBlast's Xgemm on an RTX 3090; from "
              "AutoTuningAssociation/benchmark_hub, MIT licence; columns " + " ".join(names))
    g = Golden(folder, "gemm", origin + "; target ln(ms)", x, np.log(time), 0, 200)
    g.cart(height=1)
    g.cart(height=2)
    g.cart(height=4)
    g.cart()
    g.cart(leaf_rows=4)
    g.forest(trees=64)
    g.forest(trees=64, features=len(names) // 3)
    for k in (1, 5):
        g.knn(k)
    g.support_vectors(c=1.0, gamma=0.0, epsilon=0.01, tolerance=1e-10)
    g.perceptron()
    g.write()

    quartile = np.searchsorted(np.quantile(time, [0.25, 0.5, 0.75]), time)
    g = Golden(folder, "gemm_quartiles", origin + "; target: quartile of the time", x, quartile, 4, 200)
    g.cart(height=1)
    g.cart(leaf_share=0.1)
    g.cart()
    g.forest(trees=64)
    g.forest(trees=64, leaf_rows=4)
    g.knn(5)
    g.support_vectors(c=10.0, gamma=0.0, tolerance=1e-10)
    g.perceptron()
    g.write()


def main():
    folder = sys.argv[1]
    friedman(folder)
    wave(folder)
    blobs(folder)
    one_hot(folder)
    if len(sys.argv) > 2:
        gemm(folder, sys.argv[2])


if __name__ == "__main__":
    main()
