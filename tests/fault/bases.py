#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command lines that reach every command of `carom`, law and integrator: what fault.py, options.py and scripts/fuzz.sh start from.

They come from `carom --help` and `carom COMMAND --help`: a new command, law or integrator is among them from its first day. By itself this
program prints them: bases.py CAROM FOLDER makes the files that they name in FOLDER, and prints one line of words for each.
"""
import json
import os
import re
import shutil
import subprocess
import sys

SCENES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scenes")
BLOCK = "block-matrices.yaml"
# What stands for a command's operand in `--help`, and a file of that kind.
OPERANDS = {"SCENE": BLOCK, "RESULT": "set.h5", "WITNESS": "witness.json", "IMPACTS": "impacts.json", "FILE": "lcp.json", "[SCENE": BLOCK}
# Words without which a command does nothing long, or nothing at all.
WORDS = {
    "sample": ["--samples", "200"],
    "bound": ["--max", "Jn.A", "--walks", "64"],
    "worst": ["--max", "Jn.A", "--evaluations", "100", "--bound-seconds", "0.2"],
    "sweep": ["--vary", "mu=0:1:0.5"],
    "compare": ["--samples", "200"],
    "query": ["--max", "Jn.A"],
    "hodograph": ["--contact", "A"],
    "simulate": ["--duration", "0.2"],
    "compliant": ["--points", "3"],
    "measure": ["--null-points", "20", "--draws", "3", "--samples", "20"],
    "bench": ["--repetitions", "1", "--milliseconds", "1"],
}
# Scenes of their own.
FILES = {"compliant": "block-compliant.yaml", "design": "billiards-design.yaml", "draw": "block.yaml"}
INTEGRATOR = re.compile(r"^\s*simulate:.*integrator: *([a-z]+)|^\s+integrator: *([a-z]+)", re.M)
LCP = {"W": [[2, 1], [1, 2]], "w": [-5, -6]}
BODY = {"M": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "vm": [0.3, -1, 0]}
# Two contacts with known friction; one contact whose friction is fitted.
IMPACTS = {"impacts": [{**BODY, "Jn": [[0, 1, -0.5], [0, 1, 0.5]], "Jt": [[1, 0, 1], [1, 0, 1]], "mu": 0.5, "vp": [0.1, 0.2, 0.1 * k],
                        "kind": "edge", "toss": k} for k in range(3)] +
                      [{**BODY, "Jn": [[0, 1, 0.2]], "Jt": [[1, 0, 1]], "vp": [0.1, 0.2 + 0.1 * k, 0.1], "kind": "point", "toss": k % 3}
                       for k in range(6)]}


def text_of(carom, *words):
    return subprocess.run([carom, *words], check=True, capture_output=True, text=True).stdout


def commands(carom):
    """Names of the commands."""
    listed = text_of(carom, "--help").split("\ncommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def scene_of(integrator):
    """The smallest shipped scene of an integrator, or the block."""
    found = []
    for name in sorted(os.listdir(SCENES)):
        path = os.path.join(SCENES, name)
        if name.endswith(".yaml"):
            with open(path, encoding="utf-8") as file:
                match = INTEGRATOR.search(file.read())
            if match and integrator in match.groups():
                found.append((os.path.getsize(path), name))
    return min(found)[1] if found else BLOCK


def bases(carom):
    """{command: [command lines]}: one for each, for `resolve` one for each law, for `simulate` one for each integrator."""
    lines = {}
    for command in commands(carom):
        usage = text_of(carom, command, "--help").split("\n")[0].split()
        operand = FILES.get(command, OPERANDS.get(usage[3] if len(usage) > 3 else "", ""))
        if command == "docs":
            lines[command] = [["docs", "bash"]]
        elif command == "resolve":
            laws = [line.split()[0] for line in text_of(carom, "resolve", "--list").splitlines()]
            lines[command] = [["resolve", operand, "--law", law, *(["--contact", "A"] if law == "stronge" else []), "--json"] for law in laws]
        elif command == "simulate":
            names = [line.split()[0] for line in text_of(carom, "simulate", "--list").splitlines()]
            lines[command] = [["simulate", scene_of(name), "--integrator", name, *WORDS[command], "--json"] for name in names]
        else:
            lines[command] = [[command, operand, *WORDS.get(command, []), "--json"]]
    return lines


def prepare(carom, folder):
    """Makes the files that command lines name beside the scenes: a small set, a witness, an LCP, measured impacts, a state."""
    shutil.copytree(SCENES, folder, dirs_exist_ok=True)
    for name, document in (("lcp.json", LCP), ("impacts.json", IMPACTS)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(document, file)
    for words in (["sample", BLOCK, "--samples", "500", "-o", "set.h5"],
                  ["worst", BLOCK, "--max", "Jn.A", "--evaluations", "100", "--bound-seconds", "0", "-o", "witness.json"],
                  ["simulate", scene_of("stepping"), "--integrator", "stepping", "--duration", "0.05", "--save-state", "state.json"]):
        subprocess.run([carom, *words], check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    prepare(program, sys.argv[2])
    for several in bases(program).values():
        for words in several:
            print(" ".join(words))
