#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""options.py CAROM [COMMAND...]: every option of every subcommand with bad values, one at a time; best with a command built with sanitizers.

Commands and options come from `carom --help` and `carom COMMAND --help`. Each run must end with status 0, 1 or 2, a refusal must be one line,
`--json` must print one document, nothing temporary may stay, and what takes long must end soon after Ctrl-C. OPTIONS_SECONDS bounds the time:
the runs are then a random part of all (OPTIONS_SEED repeats it); 0, the default, runs them all.
"""
import concurrent.futures
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from bases import BLOCK, bases, prepare
from runs import Folder, Report, broken_rules, leftovers, run

CAROM = os.path.abspath(sys.argv[1])
PATIENCE = 5  # seconds before Ctrl-C

NUMBERS = ["", "nan", "inf", "-inf", "-1", "0", "1", "0.5", "3", "1e400", "1e-400", "1e18", "-0", "9223372036854775808", "0x10", "1/2"]
LONG = "x" * 70000
TEXTS = ["word", "A,,B", "a b", "--json", "-", LONG, b"\xff\xfe", "a\nb", "\x1b[31m", "%s%n", "out.h5", BLOCK, "set.h5", "missing/out", "."]
SECTION = re.compile(r"^(?:law|integrator) ([a-z-]+):")
OPTION = re.compile(r"^  (-o|--[a-z-]+)( \S+)?(?:  |$)")


def options_of(command):
    """{flag: (what stands for its value, or None, names of the laws or integrators that have it)} of `carom COMMAND --help`."""
    text = subprocess.run([CAROM, command, "--help"], check=True, capture_output=True, text=True).stdout
    found, owner = {}, None
    for line in text.splitlines():
        option, section = OPTION.match(line), SECTION.match(line)
        if section:
            owner = section[1]
        elif option:
            found.setdefault(option[1], (option[2], set()))[1].add(owner)
        elif line.startswith("  as above: "):
            for flag in line[len("  as above: "):].split(", "):
                found.setdefault(flag, ("X", set()))[1].add(owner)
    return found


def values_of(command, word):
    """Bad and odd values for an option, by what stands for its value."""
    # A measurement takes its time: only values that it must refuse.
    if command == "bench":
        return ["", "nan", "-1", "1e400", "word", b"\xff\xfe"]
    number = word.strip() in ("N", "X", "E", "L", "T", "D", "G")
    return NUMBERS + ["word", "--json", LONG, b"\xff\xfe", "a\nb"] if number else TEXTS + ["", "nan", "0", "1e400"]


def cases(command):
    """Command lines of a command, each with one option too many, too few, or wrong."""
    options = options_of(command)
    for base in BASES[command]:
        yield base + ["--no-such-option"]
        yield base + ["second.yaml", "third.yaml"]
        yield [base[0], ""] + base[2:]
        yield [base[0], "missing.yaml"] + base[2:]
        yield [base[0], "."] + base[2:]
        yield base[:1] + base[2:]
        law = base[base.index("--law") + 1] if "--law" in base else None
        for flag, (word, owners) in sorted(options.items()):
            yield base + [flag]
            if law and owners.isdisjoint({law, None}):
                yield base + [flag, "1"]
                continue
            yield base + [flag + "="]
            if not word:
                yield base + [flag, flag]
                yield base + [flag + "=yes"]
                continue
            yield base + [flag, flag]
            yield base + [flag, "1", flag, "-1"]
            for value in values_of(command, word):
                yield base + [flag, value]


def try_case(words):
    with Folder(MADE) as folder:
        def interrupt(process):
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)

        output = os.path.join(folder, "stdout")
        with open(output, "wb") as file:
            r = run(CAROM, words, folder, fault=interrupt, stdout=file)
        with open(output, encoding="utf-8", errors="replace") as file:
            r.out = file.read()
        r.words = [word if isinstance(word, str) else repr(word) for word in words]
        # What computes nothing long does not catch Ctrl-C.
        stopped = r.seconds >= PATIENCE
        rules = broken_rules(r, allowed=(0, 1, 2, -signal.SIGINT) if stopped else (0, 1, 2))
        if leftovers(folder) and r.status != -signal.SIGINT:
            rules.append("a temporary file is left")
        return r, rules


seconds = float(os.environ.get("OPTIONS_SECONDS", "0"))
seed = int(os.environ.get("OPTIONS_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
report = Report()
with tempfile.TemporaryDirectory() as MADE:
    prepare(CAROM, MADE)
    BASES = bases(CAROM)
    lines = [(command, words) for command in (sys.argv[2:] or BASES) for words in cases(command)]
    if seconds:
        random.Random(seed).shuffle(lines)
        # Commands take turns, however many options each of them has.
        turn = dict.fromkeys(BASES, 0)
        for place, (command, words) in enumerate(lines):
            turn[command] += 1
            lines[place] = (turn[command], command, words)
        lines = [(command, words) for _, command, words in sorted(lines, key=lambda line: line[0])]
    deadline = time.monotonic() + seconds if seconds else float("inf")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(lambda line: (line[0], try_case(line[1])) if time.monotonic() < deadline else None, lines)
        for one in done:
            if one:
                report.add(one[0], *one[1])
    print(f"{sum(report.runs.values())} of {len(lines)} command lines" + (f", seed {seed}" if seconds else ""))
sys.exit(0 if report.end() else 1)
