#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fault.py CAROM PRELOAD [KIND...]: runs the command while its surroundings fail, and checks what it says and leaves.

Kinds: signals (SIGINT, SIGTERM, SIGKILL at random instants), disk (a full one), places (that cannot be written), pipes (closed), writers (two of
one file), memory (limits of the address space), allocations (that fail one by one; PRELOAD is the library of fail_allocation.c).
After each: exit status and stderr are right, files are whole or not there, no finished sample is lost, and the process ends within 10 s.
Kinds take turns for FAULT_SECONDS (default 60) in all; FAULT_SEED repeats a series.
"""
import ctypes
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import hdf5
from bases import BLOCK, bases, prepare, scene_of
from runs import Folder, Report, broken_rules, leftovers, run, signal_name

CAROM, PRELOAD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

# Commands that take long enough to be stopped, with the file that they write (or None) and its dataset.
LONG = [
    (["sample", "ramone.yaml", "--selection", "random", "--samples", "10000000", "-o", "out.h5", "--json"], "out.h5"),
    (["sample", "cube-k4.yaml", "--samples", "10000000", "-o", "out.h5", "--keep", "hull", "--json"], "out.h5"),
    (["sample", "compass.yaml", "--sampler", "walk", "--samples", "10000000", "-o", "out.h5", "--json"], "out.h5"),
    (["sample", "ramone.yaml", "--samples", "100000000", "--json"], None),
    (["exact", "ramone.yaml", "-o", "out.h5", "--export", "out.txt", "--json"], "out.h5"),
    (["bound", "compass.yaml", "--max", "Jn.A", "--walks", "100000000", "--json"], None),
    (["compare", "ramone.yaml", "--samples", "1000000", "--selection", "random", "-o", "page", "--json"], "page/compare.h5"),
    (["simulate", "box-of-spheres.yaml", "--duration", "100", "-o", "out.h5", "--json"], "out.h5"),
    (["simulate", "swinging-cradle.yaml", "--step", "1e-5", "--duration", "100", "-o", "out.h5", "--json"], "out.h5"),
    (["resolve", "ramone.yaml", "--law", "halm-posa", "--selection", "random", "--samples", "100000", "-o", "out.h5", "--json"], "out.h5"),
    (["simulate", scene_of("stepping"), "--integrator", "stepping", "--step", "1e-6", "--duration", "1000", "-o", "out.h5", "--json"], "out.h5"),
    (["worst", "compass.yaml", "--max", "Jn.A", "--evaluations", "100000000", "--bound-seconds", "0", "-o", "out.json", "--json"], "out.json"),
    (["sweep", "compass.yaml", "--vary", "mu=0:1:0.001", "-o", "out.h5", "--json"], "out.h5"),
    (["measure", "impacts.json", "--null-points", "20", "--draws", "1000000", "--fit", "mu,e", "-o", "page", "--json"], None),
    (["compliant", "block-compliant.yaml", "--points", "500", "-o", "out.h5", "--json"], "out.h5"),
    (["bench", "block-matrices.yaml", "-o", "out.md", "--json"], "out.md"),
    (["plot", "set.h5", "-o", "picture", "--json"], None),
]
# Commands that are done at once: every command, and what writes other files.
SHORT = [words for command, several in bases(CAROM).items() if command != "bench" for words in several] + [
    ["info", BLOCK, "--fclib-out", "out.hdf5", "--json"],
    ["sample", BLOCK, "--samples", "200", "-o", "out.h5", "--json"],
    ["resolve", BLOCK, "--law", "propagative", "-o", "out.h5", "--json"],
    ["exact", BLOCK, "-o", "out.h5", "--export", "out.txt", "--json"],
    ["worst", BLOCK, "--max", "Jn.A", "--evaluations", "50", "--bound-seconds", "0", "-o", "out.json", "--json"],
    ["query", "set.h5", "--hull", "Jn.A,Jn.B", "--json"],
    ["lcp", "lcp.json", "--all", "--json"],
    ["simulate", "bouncing-box.yaml", "--duration", "0.5", "-o", "out.h5", "--json"],
    ["simulate", scene_of("stepping"), "--integrator", "stepping", "--duration", "0.1", "--resume", "state.json", "--json"],
    ["simulate", scene_of("stepping"), "--integrator", "stepping", "--duration", "0.05", "--save-state", "out.json", "--json"],
    ["compare", BLOCK, "--samples", "200", "-o", "page", "--json"],
    ["measure", "impacts.json", "--null-points", "20", "--draws", "3", "--samples", "20", "-o", "page", "--json"],
    ["sweep", BLOCK, "--vary", "mu=0:1:0.5", "-o", "out.h5", "--json"],
    ["draw", "block.yaml", "-o", "out.png", "--json"],
    ["plot", "set.h5", "-o", "picture", "--json"],
    ["design", "billiards-design.yaml", "-o", "out.json", "--json"],
]

report = Report()
seed = int(os.environ.get("FAULT_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
chance = random.Random(seed)


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def broken_files(folder, target, r, old=None, killed=False):
    """Rules about files: whole or not there (or as before), nothing temporary, no finished sample lost."""
    found = []
    if not killed and leftovers(folder):
        found.append("a temporary file is left")
    path = os.path.join(folder, target) if target else None
    bytes_now = read(path) if path else None
    if bytes_now is None:
        if old is not None:
            found.append("the older file is gone")
        return found
    if bytes_now == old or not path.endswith(".h5") or not hdf5.available():
        return found
    try:
        complete, rows = hdf5.look(path, "/halm-posa/v_plus")
    except OSError:
        return found + ["a half file"]
    document = r.document()
    if complete is None:
        found.append("the file does not say whether it is complete")
    elif document and "complete" in document:
        # A comparison is incomplete without its page; the file is that of one of its laws.
        stated = document["laws"]["halm-posa"] if document["schema"] == "carom.compare/1" else document
        # Where memory ends after the file, what was computed is complete, and the answer is not.
        if bool(complete) != stated["complete"] and not (complete and document.get("verdict") == "out-of-memory"):
            found.append(f"the file says complete {complete}, the answer {stated['complete']}")
    if document and document["schema"] == "carom.sample/1" and "hull" not in r.words and rows != document["terminated"]:
        found.append(f"{rows} rows for {document['terminated']} terminated samples")
    return found


# ------------------------------------------------------------------------------------------------------------- signals

def try_signals():
    words, target = chance.choice(LONG)
    number = chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    delay = chance.choice([chance.uniform(0, 0.05), chance.uniform(0, 0.5), chance.uniform(0, 2)])
    with Folder(MADE) as folder:
        old = None
        if target and target.endswith(".h5") and "/" not in target and chance.random() < 0.5:
            shutil.copy(SET, os.path.join(folder, target))
            old = read(SET)

        def stop(process):
            time.sleep(delay)
            if process.poll() is None:
                process.send_signal(number)

        r = run(CAROM, words, folder, fault=stop)
        # Before the command catches a signal, and where it computes nothing long, the signal has its usual effect.
        rules = broken_rules(r, allowed=(0, 1, -number))
        killed = r.status == -number
        rules += broken_files(folder, target, r, old, killed)
        # What a killed run left is removed or named by the next one that writes the same file.
        if killed and leftovers(folder) and words[0] in ("sample", "simulate", "exact", "resolve", "plot"):
            again = {"plot": ["plot", "set.h5", "-o", "picture"],
                     "exact": ["exact", BLOCK, "-o", "out.h5", "--export", "out.txt"]}.get(words[0], ["sample", BLOCK, "--samples", "10", "-o", "out.h5"])
            left = leftovers(folder)
            # gnuplot may live a little longer than the command that started it.
            time.sleep(2 if words[0] == "plot" else 0)
            after = run(CAROM, again, folder)
            rules += [f"{name} is neither removed nor named" for name in leftovers(folder) if name not in after.err]
            rules += [] if after.status == 0 else [f"after {left} the next run ends with {after.status}"]
        if r.status == 1 and r.document() and r.document().get("complete", r.document().get("verdict") == "complete"):
            rules.append("stopped, and the answer does not say that it is incomplete")
        report.add("signals", r, rules, f"{signal_name(number)} after {delay:.3f} s, seed {seed}")


# ---------------------------------------------------------------------------------------------------------------- disks

def mount(path, size):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.mount(b"none", path.encode(), b"tmpfs", 0, f"size={size}".encode()) == 0


def unmount(path):
    ctypes.CDLL(None).umount2(path.encode(), 2)


def try_disk():
    words = list(chance.choice([w for w in SHORT if "-o" in w or "--fclib-out" in w]))
    size = chance.choice([4096, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18])
    with Folder(MADE) as folder:
        disk = os.path.join(folder, "disk")
        os.mkdir(disk)
        mounted = mount(disk, size)
        flag = words.index("-o") if "-o" in words else words.index("--fclib-out")
        target = "disk/" + words[flag + 1]
        words[flag + 1] = target
        if "--export" in words:
            words[words.index("--export") + 1] = "disk/out.txt"

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        r = run(CAROM, words, folder, setup=None if mounted else limit)
        rules = broken_rules(r, allowed=(0, 2)) + broken_files(folder, target, r)
        left = [name for _, _, names in os.walk(disk) for name in names]
        # Pictures that were whole before the disk was full may stay.
        if r.status == 2 and left and words[0] not in ("plot", "compare"):
            rules.append(f"status 2 leaves {left}")
        if mounted:
            unmount(disk)
        report.add("disk", r, rules, f"{'disk' if mounted else 'file limit'} of {size} bytes")


# --------------------------------------------------------------------------------------------------------------- places

def try_places():
    words = list(chance.choice([w for w in SHORT if "-o" in w or "--fclib-out" in w]))
    with Folder(MADE) as folder:
        flag = words.index("-o") if "-o" in words else words.index("--fclib-out")
        os.mkdir(os.path.join(folder, "folder"))
        os.mkfifo(os.path.join(folder, "fifo"))
        os.symlink("nothing", os.path.join(folder, "dangling"))
        with open(os.path.join(folder, "text"), "w", encoding="utf-8") as file:
            file.write("a text that nobody may replace\n")
        os.mkdir(os.path.join(folder, "locked"), 0o555)
        place = chance.choice(["missing/out", "/dev/full", "/dev/null", "fifo", "text", "locked/out", "text/out", "/proc/out", "", "x" * 300])
        # These take the start of a name, or a folder.
        if words[0] in ("plot", "compare") and place in ("", "text", "fifo"):
            place = "missing/out"
        words[flag + 1] = place
        before = sorted(os.listdir(folder))

        def become_nobody():
            # Root may write everywhere.
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

        os.chmod(folder, 0o755 if place == "locked/out" else 0o777)
        r = run(CAROM, words, folder, setup=become_nobody if READABLE else None)
        rules = broken_rules(r, allowed=(2,)) if READABLE or place != "locked/out" else []
        if sorted(os.listdir(folder)) != before:
            rules.append(f"leaves {sorted(set(os.listdir(folder)) - set(before))}")
        if read(os.path.join(folder, "text")) != b"a text that nobody may replace\n":
            rules.append("a text is replaced")
        report.add("places", r, rules)


# ---------------------------------------------------------------------------------------------------------------- pipes

def try_pipes():
    words = [word for word in chance.choice(SHORT) if chance.random() < 0.7 or word != "--json"]
    with Folder(MADE) as folder:
        count = chance.choice([0, 1, 10, 100])
        if chance.random() < 0.3:
            with open("/dev/full", "wb") as full:
                r = run(CAROM, words, folder, stdout=full)
            allowed = (1, 2)
        else:
            reading, writing = os.pipe()

            def close(_):
                os.close(writing)
                os.read(reading, count) if count else None
                os.close(reading)

            r = run(CAROM, words, folder, fault=close, stdout=writing)
            allowed = (0, 1, 2)
        report.add("pipes", r, broken_rules(r, allowed, may_lose_stdout=True), f"{count} bytes are read")


# -------------------------------------------------------------------------------------------------------------- writers

def try_writers():
    words = ["sample", BLOCK, "--samples", "20000", "-o", "out.h5", "--json"]
    with Folder(MADE) as folder:
        both = [subprocess.Popen([CAROM, *words, "--seed", str(s)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for s in (1, 2)]
        ended = [process.communicate(timeout=60) for process in both]
        found = [f"exit status {process.returncode}" for process in both if process.returncode]
        for process, (out, err) in zip(both, ended):
            r = type("Ended", (), {"words": words, "status": process.returncode, "out": out, "err": err, "seconds": 0.0,
                                   "document": lambda self, out=out: json.loads(out)})()
        found += broken_files(folder, "out.h5", r)
        report.add("writers", r, found)


# --------------------------------------------------------------------------------------------------------------- memory

def limit_memory(size):
    """A setup that limits the address space."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def least_memory():
    """The limit, within 64 KB, below which not even the command's libraries fit."""
    low, high = 0, 4 << 30
    while high - low > 64 << 10:
        middle = (low + high) // 2
        fits = run(CAROM, ["--version"], ".", setup=limit_memory(middle)).status == 0
        low, high = (low, middle) if fits else (middle, high)
    return high


def try_memory():
    words = chance.choice(SHORT + [w for w, _ in LONG if w[0] in ("exact",)])
    # Any limit, and as often one of the few megabytes from where the command starts to where it has enough.
    size = chance.choice([chance.randrange(20 << 20, 400 << 20), chance.randrange(200 << 20, 2000 << 20),
                          LEAST_MEMORY + chance.randrange(8 << 20), LEAST_MEMORY + chance.randrange(64 << 20)])
    with Folder(MADE) as folder:
        r = run(CAROM, words, folder, setup=limit_memory(size), limit=40 if words[0] == "exact" else None)
        # The dynamic linker ends with 127 where not even the libraries fit, and GMP aborts where it gets no memory.
        excused = r.status == 127 and "shared libr" in r.err or r.status == -signal.SIGABRT and r.err.startswith("GNU MP: Cannot allocate memory")
        rules = [] if excused else broken_rules(r) + broken_files(folder, "out.h5", r)
        report.add("memory", r, rules, f"limit {size >> 10} KB")


# ---------------------------------------------------------------------------------------------------------- allocations

class Allocations:
    """Fails allocations of the short commands in random order: each command has the same share, however many it asks for."""

    def __init__(self):
        # The numbers of those left, counted when a command has its first turn.
        self.left, self.total, self.failed = {}, 0, 0

    def count(self, index):
        with Folder(MADE) as folder:
            count = os.path.join(folder, "count")
            run(CAROM, SHORT[index], folder, env={"LD_PRELOAD": PRELOAD, "CAROM_FAIL_COUNT": count, "OMP_NUM_THREADS": "1"})
            self.left[index] = list(range(1, int(read(count) or 0) + 1))
        self.total += len(self.left[index])
        chance.shuffle(self.left[index])

    def try_next(self):
        index = chance.randrange(len(SHORT))
        if index not in self.left:
            self.count(index)
        if not self.left[index]:
            return
        number, words = self.left[index].pop(), SHORT[index]
        self.failed += 1
        variable = "CAROM_FAIL_ON" if chance.random() < 0.2 else "CAROM_FAIL_AT"
        with Folder(MADE) as folder:
            r = run(CAROM, words, folder, env={"LD_PRELOAD": PRELOAD, variable: str(number), "OMP_NUM_THREADS": "1"})
            report.add("allocations", r, broken_rules(r) + broken_files(folder, "out.h5", r), f"{variable}={number}")


# ----------------------------------------------------------------------------------------------------------------- main

with tempfile.TemporaryDirectory() as MADE:
    prepare(CAROM, MADE)
    SET = os.path.join(MADE, "set.h5")
    os.chmod(MADE, 0o755)
    # Only where the command can be read by others can somebody without rights run it.
    READABLE = os.getuid() != 0 or subprocess.run([CAROM, "--version"], user=65534, group=65534, extra_groups=[], check=False,
                                                  stdout=subprocess.DEVNULL).returncode == 0 if os.getuid() == 0 else True
    if not READABLE:
        report.skip("places", "locked folders are not tried: the command cannot be run without root's rights")
    if not hdf5.available():
        report.skip("files", "HDF5 files are not opened: there is no libhdf5 for Python")
    kinds = {"signals": try_signals, "disk": try_disk, "places": try_places, "pipes": try_pipes, "writers": try_writers,
             "memory": try_memory, "allocations": None}
    wanted = sys.argv[3:] or list(kinds)
    if "memory" in wanted:
        LEAST_MEMORY = least_memory()
    if "allocations" in wanted:
        allocations = Allocations()
        kinds["allocations"] = allocations.try_next
    # Each kind has the same share of the time.
    spent = dict.fromkeys(wanted, 0.0)
    deadline = time.monotonic() + float(os.environ.get("FAULT_SECONDS", "60"))
    while time.monotonic() < deadline:
        kind = min(spent, key=spent.get)
        started = time.monotonic()
        kinds[kind]()
        spent[kind] += max(time.monotonic() - started, 1e-3)
    if "allocations" in wanted:
        print(f"{allocations.failed} of {allocations.total} allocations of {len(allocations.left)} commands failed once; seed {seed}")
sys.exit(0 if report.end() else 1)
