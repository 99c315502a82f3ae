#!/usr/bin/env python3
"""completion.py DIR - types the beginnings of commands and a tab into bash, zsh and fish, as far as they are installed.

DIR holds the scripts tandem.bash, _tandem and tandem.fish. The line must then hold the whole word.
"""
import os
import pty
import select
import shutil
import subprocess
import sys
import time

WAIT_S = 10 * float(os.environ.get("TANDEM_PATIENCE", "1"))
LINES = {"tandem sel": "selftest", "tandem identify --model us": "usv3", "tandem team ch": "check",
         "tandem serve --ch": "--check", "tandem team simulate --nom": "--nominal", "tandem robot --kind diff": "diffdrive",
         "tandem machines l0ma": "l0main", "tandem help iden": "identify"}


class Shell:
    """A shell at a terminal of its own."""

    def __init__(self, *words):
        self.seen = ""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.environ.update(TERM="dumb", HISTFILE="/dev/null")
            os.execvp(words[0], words)

    def types(self, text, wanted):
        """Does the terminal show what is wanted after this was typed?"""
        self.seen = ""
        os.write(self.terminal, text.encode())
        end = time.monotonic() + WAIT_S
        while wanted not in self.seen and time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.seen += os.read(self.terminal, 65536).decode(errors="replace")
        return wanted in self.seen

    def ends(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def check_terminal(name, words, setup):
    shell = Shell(*words)
    faults = [] if shell.types(f"{setup}; echo REA''DY\n", "READY") else [f"{name}: {shell.seen!r}"]
    for line, word in LINES.items() if not faults else ():
        if not shell.types(f"{line}\t", line.rsplit(" ", 1)[0] + f" {word} "):
            faults.append(f"{name}: {line!r} became {shell.seen!r}, {word} was expected")
        shell.types("\x15 echo DO''NE\n", "DONE")
    shell.ends()
    return faults


def check_fish(script):
    faults = []
    for line, word in LINES.items():
        command = ["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"]
        found = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
        if word not in [row.split("\t")[0] for row in found.splitlines()]:
            faults.append(f"fish: {line!r} offers {found!r}, {word} was expected")
    return faults


def main():
    folder = sys.argv[1]
    faults = []
    if shutil.which("bash"):
        faults += check_terminal("bash", ("bash", "--norc", "--noprofile", "-i"), f". {folder}/tandem.bash")
    if shutil.which("zsh"):
        faults += check_terminal("zsh", ("zsh", "-f", "-i"),
                                 f"autoload -Uz compinit; compinit -u -D; . {folder}/_tandem")
    if shutil.which("fish"):
        faults += check_fish(f"{folder}/tandem.fish")
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)


main()
