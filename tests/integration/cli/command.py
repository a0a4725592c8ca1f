"""What the tests of the whole command share: calls of its verbs on small data, and their options."""

import json
import os
import re
import shutil
import subprocess
import sys


class Command:
    def __init__(self, idletune, source, folder):
        self.idletune = os.path.abspath(idletune)
        self.source = os.path.abspath(source)
        self.folder = folder
        self.failures = 0

    def complain(self, text):
        print("FAILED:", text)
        self.failures += 1

    def run(self, *words, **options):
        options.setdefault("timeout", 120)
        options.setdefault("cwd", self.folder)
        return subprocess.run(
            [self.idletune, *words], stdin=subprocess.DEVNULL, capture_output=True, **options)

    def must(self, *words):
        ended = self.run(*words)
        if ended.returncode != 0:
            self.complain(f"{' '.join(words)}: exit status {ended.returncode}: {ended.stderr[:400].decode()}")
        return ended

    def data(self, path):
        return os.path.join(self.source, path)

    def prepare(self):
        """Files that calls() reads, in the folder."""
        boards = [self.data(f"tests/data/insight/stencil-Board_{name}.json") for name in ("One", "Two", "Three")]
        for board, name in zip(boards, ("one", "two", "three")):
            self.must("import", board, "-o", ".")
            os.rename(os.path.join(self.folder, os.path.basename(board)[:-5] + ".ithistory"),
                      os.path.join(self.folder, name + ".ithistory"))
        histories = self.data("kernels/histories")
        for name in ("reduction", "sgemm_po2"):
            shutil.copy(f"{histories}/pocl/{name}.ithistory", self.folder)
        self.must("learn", "one.ithistory", "two.ithistory", "-o", "boards.itmodel")
        self.must("pack", self.data("tests/data/packages/product.xml"), "-o", "product.itkernel")
        self.must("key", "product")
        self.must("sign", "product.itkernel", "--product", "p", "--key", "product.key", "-o", "signed.itkernel")
        self.must("offload", "learn", self.data("tests/data/offload/kernels.csv"), "--models", "4", "-o",
                  "offload.itmodel")
        self.must("capture", self.data("kernels/histogram/histogram.xml"), "--shape", "3,3", "--array",
                  "values=" + self.values(), "-o", "real.itcapture")

    def values(self):
        path = os.path.join(self.folder, "values")
        with open(path, "wb") as file:
            file.write(bytes((1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0)))
        return path

    def options_of(self, verb):
        """The verb's options as its help names them: {name: takes a value}."""
        text = self.must(*verb.split(), "--help").stdout.decode()
        found = re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)( \S+)?", text, re.MULTILINE)
        return {name: bool(value) for name, value in found}


def finish(command, said):
    if command.failures:
        sys.exit(1)
    print(said)


def numbers_in(value):
    """All numbers of a JSON value."""
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from numbers_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers_in(item)


def texts_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


def parsed(ended):
    return json.loads(ended.stdout.decode())
