#!/usr/bin/env python3
"""syntax.py BUILD: the compiler of BUILD reads every test, bench and fuzz target without a warning; it generates no
code.

Nobody runs the code of the second compiler, so only its warnings are of use.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

build = pathlib.Path(sys.argv[1])
root = pathlib.Path(__file__).resolve().parents[1]


def read(command):
    words = shlex.split(command["command"])
    out = words.index("-o")
    return subprocess.run(words[:out] + words[out + 2:] + ["-fsyntax-only"], cwd=command["directory"],
                          capture_output=True, text=True)


commands = [c for c in json.loads((build / "compile_commands.json").read_text())
            if (root / "tests") in pathlib.Path(c["file"]).parents]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(read, commands))
failed = [r for r in results if r.returncode != 0]
sys.stderr.write("".join(r.stderr for r in failed))
print(f"syntax: {len(commands)} files, {len(failed)} with warnings")
sys.exit(1 if failed or not commands else 0)
