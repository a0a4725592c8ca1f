"""Validates T4 files against the schema that Kernel Tuner ships. usage: validate.py FILE..."""
import json
import pathlib
import sys

import jsonschema
import kernel_tuner

schemas = pathlib.Path(kernel_tuner.__file__).parent / "schema" / "T4" / "1.0.0"
schema = json.load(open(schemas / "results-schema.json"))
for file in sys.argv[1:]:
    jsonschema.validate(json.load(open(file)), schema)
