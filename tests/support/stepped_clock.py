"""stepped_clock.py - the clock of a process that a test sets, or suspends (stepped_clock_preload.c).

    clock = SteppedClock(rig.folder)
    with clock.worn():      # processes started here have this clock
        rig.start_daemon()
    clock.set_by(30)        # its wall clock is set forwards
    clock.suspend(3600)     # its machine was suspended for an hour
"""
import contextlib
import mmap
import os
import pathlib
import struct
import subprocess

PRELOAD = pathlib.Path(os.environ["SOURCE"]) / "tests/support/stepped_clock_preload.c"


class SteppedClock:
    def __init__(self, folder):
        self.file, self.preload = pathlib.Path(folder) / "stepped_clock", pathlib.Path(folder) / "stepped_clock.so"
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", self.preload, PRELOAD], check=True)
        self.file.write_bytes(bytes(16))
        with open(self.file, "r+b") as opened:
            self.shift = mmap.mmap(opened.fileno(), 16)

    def add(self, at, seconds):
        """One write, because the process reads the page in one read."""
        struct.pack_into("=q", self.shift, at, struct.unpack_from("=q", self.shift, at)[0] + round(seconds * 1e9))

    def set_by(self, seconds):
        self.add(0, seconds)

    def suspend(self, seconds):
        self.add(8, seconds)

    @contextlib.contextmanager
    def worn(self):
        """The clock of the children that are started meanwhile."""
        before = dict(os.environ)
        sanitizer = ":".join(filter(None, [before.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        os.environ.update(LD_PRELOAD=str(self.preload), STEPPED_CLOCK=str(self.file), ASAN_OPTIONS=sanitizer)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
