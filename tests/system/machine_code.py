#!/usr/bin/env python3
"""Generated programs against the engine: each machine, in each language, on random inputs, compared to the byte.

TANDEM_RUNS: random runs of 200 cycles for each machine (4); Lua and Python execute the first three of them. Where
Lua is not installed the test skips it and says so.
"""
import glob
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TANDEM, RUNS = os.environ["TANDEM"], int(os.environ.get("TANDEM_RUNS", "4"))
SOURCE = pathlib.Path(os.environ["SOURCE"])
ENGINE = [SOURCE / "twin/efsm/efsm.c", SOURCE / "twin/efsm/efsm_describe.c",
          *(path for room in ("errors", "numbers", "text") for path in (SOURCE / "base" / room).glob("*.c"))]
WARNINGS = ["-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-DEFSM_TEST"]
LUAS = [lua for lua in ("lua5.1", "lua5.4", "luajit") if shutil.which(lua)]
# Names that are reserved words of the languages, an output that is a variable, several starts, ends and dots.
ODD = """
machine: double
purpose: names that are none of the languages' own
inputs: {until: truth, int: number, "end": truth, "True": number, M: truth}
variables: {for: number, self: truth, e: number}
outputs: {e: number, "local": 1.5, "class": false, lambda: number}
initial: init
start: ["for+ = -0.5", "e+ = for*2", "self+ = false"]
states:
  init:
    outputs: ["lambda = if(self, for, -for)"]
    arcs:
    - {when: until && !(end && int > 5), do: ["for+ = -int", "self+ = M"], to: while}
    - {when: "!until && !(end && int > 5)", to: init,
       do: ["for+ = for + True % 1.5", "e+ = ceil(for) + round(for) - floor(-for)"]}
    - {when: end && int > 5, to: return}
  while:
    outputs: ["class = self == (for > 1e300) || elapsed > 0.1", "lambda = 1/for"]
    arcs:
    - {when: "!self", push: [init, init], to: while,
       do: ["e+ = log(for) + sqrt(for) + for^-1 + exp(for*400) + tan(for) - wrap(for/0)", "local = for^3"]}
    - {when: self && int < 0.5, to: top, pop: 1}
    - {when: self && !(int < 0.5), do: ["for+ = sign(for)*min(for, 2)", "self+ = after(0.05) && t >= 0"], to: init}
  return: {final: true, outputs: ["class = true"]}
"""


def fail(words):
    sys.exit(f"machine_code: {words}")


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))[:300]}: exit {done.returncode}\n{done.stdout[-600:]}{done.stderr[-2000:]}")
    return done.stdout


def compile_programs(work, name):
    run(["cc", "-std=c99", *WARNINGS, work / f"{name}.c", "-lm", "-o", work / "program"])
    run(["cc", "-std=c17", *WARNINGS, f"-I{SOURCE}", work / f"{name}_table.c", work / "engine.a", "-lm", "-o",
         work / "table"])
    if shutil.which("clang"):
        run(["clang", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", work / f"{name}.c"])
    scripts = [[lua, work / f"{name}.lua", "--test"] for lua in LUAS]
    return [[work / "program"], [work / "table"]], [*scripts, [sys.executable, work / f"{name}.py", "--test"]]


def check_machine(work, path, seed):
    folder = work / f"{pathlib.Path(path).stem}"
    folder.mkdir()
    shutil.copy(work / "engine.a", folder)
    command = [TANDEM, "machines", "generate", path, "--out", folder]
    run([*command, "--lang", "c", "--test", RUNS, "--seed", seed])
    for language in ("lua", "python", "table"):
        run([*command, "--lang", language])
    names = [found.stem for found in folder.glob("*.py")]
    cycles = differ = 0
    for name in names:
        compiled, scripts = compile_programs(folder, name)
        for number in range(1, RUNS + 1):
            inputs = (folder / f"{name}_{number}.inputs.csv").read_text()
            want = (folder / f"{name}_{number}.trace.csv").read_text()
            for program in compiled + (scripts if number <= 3 else []):
                got = run(program, input=inputs)
                cycles += want.count("\n") - 1
                if got != want:
                    differ += 1
                    rows = list(itertools.zip_longest(got.split("\n"), want.split("\n")))
                    at = next(i for i, (a, b) in enumerate(rows) if a != b)
                    print(f"{name}, {program[0]}, run {number}, line {at}:", *map(str, rows[at]), sep="\n  ")
    return len(names), cycles, differ


def main():
    if not LUAS:
        print("no Lua here: its programs are not run")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for i, source in enumerate(ENGINE):
            run(["cc", "-std=c17", "-O1", f"-I{SOURCE}", "-c", source, "-o", work / f"{i}.o"])
        run(["ar", "rc", work / "engine.a", *sorted(work.glob("*.o"))])
        (work / "odd.yaml").write_text(ODD)
        shipped = [path for path in sorted(glob.glob(f"{SOURCE}/config/machines/*.yaml")) if "handshake_" not in path]
        # Machines with errors: each error is reported, and no program is generated.
        golden = [path for path in sorted(glob.glob(f"{SOURCE}/tests/golden/machines/*.yaml"))
                  if not any(bad in path for bad in ("f01", "f02", "f06_undefined.F", "f09", "f11"))]
        machines = cycles = differ = 0
        for seed, path in enumerate([*shipped, *golden, work / "odd.yaml"], 1):
            found = check_machine(work, path, seed)
            machines, cycles, differ = machines + found[0], cycles + found[1], differ + found[2]
        print(f"{machines} machines, {cycles} cycles of programs, {differ} runs differ")
        if differ > 0 or cycles == 0:
            fail("programs and engine differ")


main()
