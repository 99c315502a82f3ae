"""power.py - what a power cut can leave of a directory: its changes are recorded, and states are made from the record.

    recorder = Recorder(folder / "io", folder / "disk", library)
    environment |= recorder.environment
    mark = recorder.mark()  # the process must stand still
    disk = recorder.replay(mark)
    disk.write(disk.cut(random.Random(7)), folder / "disk")

POSIX promises that synced data are on the disk, and nothing else. So each unsynced write may be there, be missing or
be torn, in any order. Each creation, renaming and removal may be there or not, unless the directory was synced after
it. A rename is on the disk as a whole or not at all. A file without an unsynced change is as it was.
"""
import mmap
import os
import pathlib
import shutil
import struct

# The order of tests/support/io_record.c.
CHANGES = ("write", "truncate", "create", "mkdir", "rename", "link", "remove", "sync")
HEAD = struct.Struct("=IIQqQq")
PAGE = struct.Struct("=iii116s")
SECTOR_BYTES = 512
DIRECTORY = -1  # instead of a file
UNSYNCED = ("none", "all", "first", "some")  # share of the unsynced changes that survive


class Recorder:
    """The record of a program's changes in one directory, run after run."""

    def __init__(self, path, directory, library):
        self.path, self.directory, self.begun = path, directory, (0, read_files(directory))
        path.write_bytes(b"")
        page = path.with_suffix(".page")
        page.write_bytes(bytes(PAGE.size))
        with open(page, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), PAGE.size)
        self.sync_us = 0
        self.disarm()
        self.environment = {"IO_RECORD": str(path), "IO_RECORD_PAGE": str(page), "IO_RECORD_DIR": str(directory),
                            "LD_PRELOAD": " ".join(filter(None, [library, os.environ.get("LD_PRELOAD")]))}

    def disarm(self):
        PAGE.pack_into(self.page, 0, -1, 0, self.sync_us, b"")

    def slow_down(self, sync_us):
        self.sync_us = sync_us
        self.disarm()

    def arm(self, change, name, count):
        """The process stops after the count-th change from now on of a path that contains this name."""
        PAGE.pack_into(self.page, 0, -1, count, self.sync_us, name.encode())
        struct.pack_into("=i", self.page, 0, CHANGES.index(change))

    def mark(self):
        return self.path.stat().st_size

    def begin_again(self):
        """Before a run on another program's files: all of them are on the disk."""
        self.begun = (self.mark(), read_files(self.directory))

    def replay(self, mark, unsynced=None):
        """The disk at a mark since the last beginning. unsynced: names of files whose syncs are ignored."""
        start, files = self.begun
        disk = Disk(self.directory, files)
        with open(self.path, "rb") as file:
            file.seek(start)
            data = file.read(mark - start)
        at = 0
        while at + HEAD.size <= len(data):
            change, path_bytes, number, where, size, t_us = HEAD.unpack_from(data, at)
            at += HEAD.size
            path, bytes_ = data[at:at + path_bytes].decode(), data[at + path_bytes:at + path_bytes + size]
            at += path_bytes + size
            if at > len(data):
                break  # the process stood still in the middle of this record
            if not (CHANGES[change] == "sync" and unsynced and unsynced in path):
                disk.apply(CHANGES[change], path, number, where, bytes_, t_us)
            disk.count += 1
        return disk


def read_files(directory):
    """{path: (inode, bytes)}, of directories (inode, None); SQLite's shared memory needs no disk."""
    found = {}
    for path in sorted(pathlib.Path(directory).rglob("*")):
        if not path.name.endswith("-shm"):
            found[str(path)] = (path.stat().st_ino, None if path.is_dir() else path.read_bytes())
    return found


class File:
    def __init__(self, content=b""):
        self.synced = bytearray(content)
        self.pending = []  # (count, path, offset or size, bytes or None: truncated, t_us)

    def sync(self, covered):
        while self.pending and self.pending[0][0] < covered:
            change(self.synced, *self.pending.pop(0)[2:4])

    def whole(self):
        content = bytearray(self.synced)
        for one in self.pending:
            change(content, *one[2:4])
        return content


def change(content, at, data):
    """Writes, or truncates without data. A gap between the end and a write reads as zeros."""
    if len(content) < at:
        content.extend(bytes(at - len(content)))
    if data is None:
        del content[at:]
    else:
        content[at:at + len(data)] = data


class Disk:
    def __init__(self, directory, files):
        self.directory, self.count, self.t_us = directory, 0, 0
        self.files, self.inodes, self.names, self.renamed = [], {}, {}, []
        for path, (inode, content) in files.items():
            self.names[path] = self.add_file(inode, content) if content is not None else DIRECTORY
        self.live = dict(self.names)

    def add_file(self, inode, content=b""):
        self.files.append(File(content))
        self.inodes[inode] = len(self.files) - 1
        return self.inodes[inode]

    # ---- changes of the process ----

    def apply(self, what, path, inode, at, data, t_us):
        self.t_us = t_us
        if path.endswith("-shm") and what != "sync":
            return
        if what in ("write", "truncate"):
            pending = self.files[self.inodes[inode]].pending
            pending.append((self.count, path, at, data if what == "write" else None, t_us))
        elif what == "sync":
            self.sync(path, inode, at)
        else:
            self.rename(self.changed_names(what, path, inode, data.decode(errors="replace")))

    def changed_names(self, what, path, inode, target):
        if what == "create":
            return {path: self.add_file(inode)}
        if what == "mkdir":
            return {path: DIRECTORY}
        if what == "rename":
            return {path: None, target: self.live[path]}
        return {path: self.inodes[inode] if what == "link" else None}

    def rename(self, names):
        self.renamed.append((self.count, names))
        set_names(self.live, names)

    def sync(self, path, inode, covered):
        if self.live.get(path) == DIRECTORY or path == str(self.directory):
            for one in [one for one in self.renamed if one[0] < covered and path in map(os.path.dirname, one[1])]:
                set_names(self.names, one[1])
                self.renamed.remove(one)
        elif inode in self.inodes:
            self.files[self.inodes[inode]].sync(covered)

    # ---- states after a cut ----

    def whole(self):
        """The state without a cut."""
        return {path: None if file == DIRECTORY else bytes(self.files[file].whole())
                for path, file in self.live.items()}

    def cut(self, draw):
        """{path: bytes, or None: a directory}."""
        names = dict(self.names)
        for _, one in choose(draw, self.renamed):
            set_names(names, one)
        alike, way = draw.random() < 0.5, draw.choice(UNSYNCED)
        found = {}
        for path, file in names.items():
            if file == DIRECTORY:
                found[path] = None
            elif os.path.dirname(path) == str(self.directory) or names.get(os.path.dirname(path)) == DIRECTORY:
                found[path] = cut_file(draw, self.files[file], way if alike else draw.choice(UNSYNCED))
        return found

    def write(self, found):
        shutil.rmtree(self.directory)
        os.mkdir(self.directory)
        for path in sorted(found, key=len):  # directories before their contents
            if found[path] is None:
                os.mkdir(path)
            else:
                pathlib.Path(path).write_bytes(found[path])

    def unsynced_writes(self, part):
        """(t_us, text) of each write to files of this name that may be missing on the disk."""
        certain = set(self.names.values())
        for number, file in enumerate(self.files):
            for _, path, _, data, t_us in file.pending:
                if part in path and data:
                    yield t_us, data
            if number not in certain and number in self.live.values() and file.synced:
                yield self.t_us, bytes(file.synced)  # no name leads to it


def set_names(names, changed):
    for path, file in changed.items():
        if file is None:
            names.pop(path, None)
        else:
            names[path] = file


def choose(draw, changes, way=None):
    """Draws the unsynced changes that survive on the disk."""
    way = way or draw.choice(UNSYNCED)
    if way in ("none", "all"):
        return changes if way == "all" else []
    if way == "first":
        return changes[:draw.randint(0, len(changes))]
    chance = draw.choice((0.1, 0.5, 0.9))
    return [one for one in changes if draw.random() < chance]


def cut_file(draw, file, way):
    content = bytearray(file.synced)
    kept = choose(draw, file.pending, way)
    for i, (_, _, at, data, _) in enumerate(kept):
        if data is None or way == "all":
            change(content, at, data)
        elif way == "first":
            size = draw.randint(1, len(data)) if i == len(kept) - 1 else len(data)
            change(content, at, data[:size])
        else:
            for begin, sector in cut_sectors(at, data):
                if draw.random() < 0.9:
                    change(content, begin, sector)
    return bytes(content)


def cut_sectors(at, data):
    done = 0
    while done < len(data):
        size = min(SECTOR_BYTES - (at + done) % SECTOR_BYTES, len(data) - done)
        yield at + done, data[done:done + size]
        done += size
