# SPDX-License-Identifier: Apache-2.0
"""Runs of the command for fault.py and options.py, and the rules that every run obeys."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

SECONDS = 10  # within which a run ends after its fault
SANITIZER = re.compile(r"(AddressSanitizer|LeakSanitizer|runtime error|ThreadSanitizer)")


TEMPORARY = re.compile(r"^\..*\.[a-z0-5]{8}$")


class Run:
    """What one run left: exit status (negative: a signal), texts, seconds."""

    def __init__(self, words, status, out, err, seconds, late):
        self.words, self.status, self.out, self.err, self.seconds, self.late = words, status, out, err, seconds, late

    def document(self):
        """The JSON document on stdout; None where there is none."""

        def refuse(constant):
            raise ValueError(constant)

        try:
            document = json.loads(self.out, parse_constant=refuse)
            return document if isinstance(document, dict) and "schema" in document else None
        except ValueError:
            return None


def run(carom, words, folder, fault=None, setup=None, env=None, stdout=subprocess.PIPE, seconds=SECONDS, limit=None):
    """Runs `carom WORDS` in a folder. `fault(process)` acts on it while it runs; the time limit counts from then on."""
    started = time.monotonic()
    process = subprocess.Popen([carom, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                               preexec_fn=setup, env={**os.environ, **(env or {})})
    if fault:
        fault(process)
    late = False
    try:
        out, err = process.communicate(timeout=limit or seconds)
    except subprocess.TimeoutExpired:
        late = True
        process.kill()
        out, err = process.communicate()
    return Run(words, process.returncode, (out or b"").decode(errors="replace"), err.decode(errors="replace"),
               time.monotonic() - started, late)


def broken_rules(r, allowed=(0, 1, 2), may_lose_stdout=False):
    """Sentences about the rules of statuses and messages that a run broke."""
    if r.late:
        return [f"did not end within {SECONDS} s"]
    found = []
    if SANITIZER.search(r.err):
        found.append("a sanitizer reports")
    if r.status not in allowed:
        found.append(f"exit status {r.status}")
    if r.status == 2:
        if r.out and not may_lose_stdout:
            found.append("stdout is not empty beside status 2")
        # Where the answer itself cannot be written, what it would have said of the input was said before.
        lines = [line for line in r.err.split("\n")[:-1] if not (may_lose_stdout and line.startswith(("carom: note: ", "carom: warning: ")))]
        if not (len(lines) == 1 and lines[0].startswith("carom: ") and len(lines[0]) > 9 and r.err.endswith("\n")):
            found.append("the refusal is not one line")
    plain = {"--list", "--help", "-h", "help", "--version"} & set(r.words)
    if "--json" in r.words and not plain and r.status in (0, 1) and not may_lose_stdout and r.document() is None:
        found.append("stdout is not one JSON document")
    return found


def leftovers(folder):
    """Temporary files and folders, `.NAME.xxxxxxxx`, below a folder."""
    return [name for _, folders, names in os.walk(folder) for name in folders + names if TEMPORARY.match(name)]


class Report:
    """Counts runs and findings; shows each kind of finding a few times."""

    def __init__(self, shown=3):
        self.runs, self.found, self.skipped, self.shown = {}, {}, {}, shown

    def add(self, kind, r, rules, note=""):
        self.runs[kind] = self.runs.get(kind, 0) + 1
        for rule in rules:
            key = (kind, r.words[0] if r.words else "", rule)
            self.found[key] = self.found.get(key, 0) + 1
            if self.found[key] <= self.shown:
                words = " ".join(word if word.isprintable() and word else repr(word) for word in r.words)
                print(f"FOUND {kind}: {rule}\n  carom {words[:400]}  {note}\n  status {r.status}, {r.seconds:.1f} s, "
                      f"stdout {r.out[:120]!r}\n  stderr {r.err[-600:]!r}", flush=True)

    def skip(self, kind, why):
        self.skipped[kind] = why

    def end(self):
        """Prints the sums; true where nothing was found."""
        for kind, count in self.runs.items():
            bad = sum(n for key, n in self.found.items() if key[0] == kind)
            print(f"{kind:<12} {count:6d} runs  {bad} findings")
        for kind, why in self.skipped.items():
            print(f"{kind:<12} skipped: {why}")
        print(f"{sum(self.runs.values())} runs, {sum(self.found.values())} findings")
        return not self.found


class Folder:
    """A fresh folder with the files of another one: those of `bases.prepare`."""

    def __init__(self, made, parent=None):
        self.path = tempfile.mkdtemp(prefix="carom-fault-", dir=parent)
        shutil.copytree(made, self.path, dirs_exist_ok=True)
        os.chmod(self.path, 0o755)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def signal_name(number):
    return signal.Signals(number).name
