"""vda_schemas.py - the official JSON schemas of VDA 5050 (2.0.0, 2.1.0, 3.0.0), if the data are present: in
$TANDEM_DATA, else next to the source tree. They are not ours to ship.

    schemas = vda_schemas.load()  # None: absent
    schemas.check("2.1.0", "order", message)
"""
import json
import os
import pathlib
import re

import jsonschema

VERSIONS = ("2.0.0", "2.1.0", "3.0.0")
# The official files that are no JSON: they have commas before a closing bracket.
TRAILING_COMMAS = {("2.0.0", "state"), ("3.0.0", "factsheet"), ("3.0.0", "order"), ("3.0.0", "visualization")}
COMMA = re.compile(r",(?=\s*[}\]])")
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z")  # of the standard's text; the schemas do not check it


def read_file(path):
    text = path.read_text()
    try:
        return json.loads(text), False
    except ValueError:
        return json.loads(COMMA.sub("", text)), True


class Schemas:
    def __init__(self, folder):
        self.validators, repaired = {}, set()
        for version in VERSIONS:
            for path in sorted((folder / version).glob("*.schema")):
                schema, was_repaired = read_file(path)
                jsonschema.Draft202012Validator.check_schema(schema)
                self.validators[version, path.stem] = jsonschema.Draft202012Validator(schema)
                repaired |= {(version, path.stem)} if was_repaired else set()
        assert repaired == TRAILING_COMMAS, f"the official files with trailing commas are {sorted(repaired)}"

    def errors(self, version, kind, message):
        validator = self.validators[version, kind]
        found = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(message)]
        stamps = [message.get("timestamp", "")] + [r["leaseExpiry"] for r in message.get("responses", []) if "leaseExpiry" in r]
        return found + [f"stamp {stamp}" for stamp in stamps if not STAMP.fullmatch(stamp)]

    def check(self, version, kind, message):
        found = self.errors(version, kind, message)
        assert not found, (version, kind, found, message)


def load():
    data = pathlib.Path(os.environ.get("TANDEM_DATA") or pathlib.Path(os.environ["SOURCE"]) / "../shared/data")
    folder = data / "vda5050" / "schemas"
    return Schemas(folder) if folder.is_dir() else None
