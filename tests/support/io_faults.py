"""io_faults.py - I/O calls of a process that fail, or take longer (io_faults.c).

    library = build(folder / "io_faults.so")
    page = Page(folder / "io")
    environment = page.environment(library, folder / "journal")  # of the process whose calls are counted
    page.arm("write", "once", 12)  # its 12th write to a file below that folder fails
    page.delay("sync", 3600)       # from now on each sync takes an hour, or until page.release()
"""
import errno
import mmap
import os
import pathlib
import struct
import subprocess

SOURCE_FILE = pathlib.Path(__file__).with_suffix(".c")
# The order of io_faults.c; with the errno of a call that fails once, and of one that fails on and on.
KINDS = {"write": ("EIO", "ENOSPC"), "sync": ("EIO", "EIO"), "open": ("EMFILE", "EMFILE"), "rename": ("EIO", "ENOSPC"),
         "unlink": ("EIO", "EROFS"), "truncate": ("EIO", "ENOSPC"), "read": ("EIO", "EIO"), "map": ("ENOMEM", "ENOMEM"),
         "close": ("EIO", "EIO"), "accept": ("EMFILE", "EMFILE"), "send": ("ECONNRESET", "ENOBUFS")}
MODES = {"once": 1, "on": 2}
LATE = 3
PHASES = ("starting", "running", "killed", "stopping")  # killed: from just before the kill on
PHASE_AT, AT_AT, HITS_AT, CALLS_AT, FIRST_BYTES = 16, 24, 32, 40, 256  # of struct page
PAGE_BYTES = CALLS_AT + 8 * len(KINDS) + FIRST_BYTES


def build(path):
    """Compiles the library that is loaded before libc."""
    subprocess.run([os.environ.get("CC", "cc"), "-D_GNU_SOURCE", "-std=c17", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC",
                    "-o", path, SOURCE_FILE], check=True)
    return path


class Page:
    """The memory that the daemon's calls and this process share."""

    def __init__(self, path):
        self.path = path
        path.write_bytes(bytes(PAGE_BYTES))
        with open(path, "r+b") as file:
            self.bytes = mmap.mmap(file.fileno(), PAGE_BYTES)

    def environment(self, library, folder):
        """The environment of a process whose calls on files below the folder, and on sockets, count."""
        sanitizer = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        return {**os.environ, "IO_FAULTS": str(self.path), "IO_FAULTS_DIR": str(folder), "ASAN_OPTIONS": sanitizer,
                "LD_PRELOAD": " ".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))}

    def set(self, kind, mode, value, at):
        struct.pack_into("q", self.bytes, AT_AT, at)
        struct.pack_into("iii", self.bytes, 0, list(KINDS).index(kind), mode, value)

    def arm(self, kind, mode, at):
        self.set(kind, MODES[mode], getattr(errno, KINDS[kind][MODES[mode] - 1]), at)

    def delay(self, kind, seconds):
        self.set(kind, LATE, round(seconds * 1000), 1)

    def release(self):
        struct.pack_into("i", self.bytes, 4, 0)

    def enter(self, phase):
        struct.pack_into("i", self.bytes, PHASE_AT, PHASES.index(phase))

    def hits(self):
        return struct.unpack_from("q", self.bytes, HITS_AT)[0]

    def calls(self):
        return dict(zip(KINDS, struct.unpack_from(f"{len(KINDS)}q", self.bytes, CALLS_AT)))

    def first_phase(self):
        return PHASES[struct.unpack_from("i", self.bytes, PHASE_AT + 4)[0]]

    def first(self):
        return self.bytes[-FIRST_BYTES:].split(b"\0")[0].decode(errors="replace")
