#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""agreement.py CAROM OTHER SCENE...: do two builds of carom, with different versions of MuJoCo, say the same about scenes with models?

Runs the commands below on every scene that is for them, with both builds, and compares their JSON: words, counts and the shapes of arrays
must be equal, real numbers to the command's tolerance times the largest number in their section of the document. Work, times, residuals
and digests may differ, for the last bits of a mass matrix decide them, and so may impulses and forces, which redundant contacts share in many
ways.
"""
import json
import math
import os
import subprocess
import sys

# Impacts agree to round-off. A motion multiplies round-off at each of its impacts.
COMMANDS = (
    (["info"], 1e-12),
    (["resolve", "--law", "anitescu-potra"], 1e-12),
    (["sample", "--samples", "1024"], 1e-12),
    (["simulate"], 1e-9),
)
# Motions that are compared in part: 900 impacts multiply round-off to 1e-7; and as the boxes drift by 1e-15, MuJoCo 2.2.2 misses some corners
# that lie on the edges of the next box.
DURATIONS = {"tailed-biped.yaml": "0.25", "box-stack.yaml": "0.1"}
FREE = {"seconds", "digest", "looked_up", "fallbacks", "pivots", "max_residual", "max_penetration", "max_relative_energy_error",
        "normal_impulse", "tangent_impulse", "normal_force", "fx", "fy", "fz"}


def run(carom, command, scene):
    """The document that a command prints, or None where it is not for this scene, with what it says on stderr."""
    duration = DURATIONS.get(os.path.basename(scene)) if command[0] == "simulate" else None
    words = [command[0], scene, *command[1:], *(["--duration", duration] if duration else []), "--json"]
    done = subprocess.run([carom, *words], capture_output=True, text=True, check=False)
    return (None if done.returncode == 2 else json.loads(done.stdout)), done.stderr


def numbers(value):
    """All real numbers below a value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, float) and math.isfinite(value):
        yield value


def differences(one, other, limit, path=""):
    """Yields `path: one, other` for what two values disagree on; real numbers may differ by the limit."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted((set(one) | set(other)) - FREE):
            yield from differences(one.get(key), other.get(key), limit, f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (left, right) in enumerate(zip(one, other)):
            yield from differences(left, right, limit, f"{path}[{i}]")
    elif isinstance(one, float) and isinstance(other, float):
        if not abs(one - other) <= limit:
            yield f"{path}: {one!r}, {other!r}"
    elif one != other or type(one) is not type(other):
        yield f"{path}: {one!r}, {other!r}"


def compare(one, other, tolerance):
    """What two documents disagree on, section by section."""
    if one is None or other is None:
        return [] if one is other else ["one of the builds refuses the scene"]
    found = []
    for key in sorted((set(one) | set(other)) - FREE):
        limit = tolerance * max([0.0, *map(abs, numbers([one.get(key), other.get(key)]))])
        found += differences(one.get(key), other.get(key), limit, key)
    return found


def main():
    """Compares all commands on all scenes; exit status 1 where something differs."""
    first, second, *scenes = sys.argv[1:]
    compared = wrong = 0
    for scene in scenes:
        for command, tolerance in COMMANDS:
            (one, said), (other, heard) = run(first, command, scene), run(second, command, scene)
            found = compare(one, other, tolerance)
            if said != heard:
                found.append(f"messages: {said!r}, {heard!r}")
            compared += one is not None
            wrong += bool(found)
            for line in found[:8]:
                print(f"    {scene}: {command[0]}: {line}")
    print(f"{compared} results of {len(scenes)} scenes compared, {wrong} differ")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
