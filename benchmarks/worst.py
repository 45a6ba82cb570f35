#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far `carom worst` reaches, beside many samples and walks, or the exact set, both ways along every axis of contact velocities.

    benchmarks/worst.py [--carom build/carom] [--seconds 60 | --evaluations N] [--samples 2^20] [--walks 2^20] [--sampler walk] SCENE ...

With --exact the reference is the exact set. One line of Markdown for each scene: directions; in how many the search is at least as far, to
1e-9 of the axis' extent (with --exact to 0.1 % of it); in how many it is farther by 4 % of it; the median gain and the least. With
--directions, a line for each direction as well. Needs no packages.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys


def ask(carom, *arguments):
    """The JSON document of a command, which may be incomplete."""
    done = subprocess.run([carom, *arguments, "--json"], capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)


def name_axes(about):
    """The axes of contact velocities of an impact."""
    tangents = [""] if about["tangent_dim"] == 1 else [".1", ".2"]
    normal = [f"Jn.{name}" for name in about["contact_names"]]
    return normal, [f"Jt.{name}{tangent}" for name in about["contact_names"] for tangent in tangents]


def both_ways(axes):
    """The words of all questions."""
    return [word for axis in axes for word in ("--min", axis, "--max", axis)]


def reference(carom, scene, options):
    """What there is to beat, [least, most] by axis: the exact set, or samples by time stepping and walks."""
    normal, tangent = name_axes(ask(carom, "info", scene))
    if options.exact:
        found = ask(carom, "worst", scene, "--law", "halm-posa-exact", *both_ways(normal + tangent))["worst"]
        return {low["expression"]: [low["value"], high["value"]] for low, high in zip(found[::2], found[1::2])}
    made = []
    for sampler, count in (("lcp", options.samples), ("walk", options.walks)):
        if count != "0":
            extent = ask(carom, "sample", scene, "--sampler", sampler, "--samples", count, "--seed", "7")["extent"]
            made.append(dict(zip(normal + tangent, extent["normal"] + extent["tangent"])))
    return {axis: [min(e[axis][0] for e in made), max(e[axis][1] for e in made)] for axis in made[0]}


def compare(carom, scene, options):
    """Gains of the search over the reference in every direction, as shares of the reference's extent."""
    beaten = reference(carom, scene, options)
    effort = ["--evaluations", options.evaluations] if options.evaluations else ["--seconds", str(options.seconds)]
    found = ask(carom, "worst", scene, *both_ways(beaten), *effort, "--bound-seconds", "0", "--sampler", options.sampler)
    # An axis along which nothing moves has no scale of its own.
    largest = max(most - least for least, most in beaten.values())
    gains = []
    for answer in found["worst"]:
        axis, sense = answer["expression"], answer["sense"]
        least, most = beaten[axis]
        scale = max(most - least, 1e-6 * largest)
        edge = least if sense == "min" else most
        ahead = (edge - answer["value"] if sense == "min" else answer["value"] - edge) / scale
        gains.append(ahead)
        if options.directions:
            print(f"    {sense} {axis:12} {edge:14.9g} {answer['value']:14.9g} {100 * ahead:9.3f} %  {answer['evaluations']} walks")
    return gains


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    build = os.path.join(os.path.dirname(__file__), "..", "build", "carom")
    parser.add_argument("--carom", default=build)
    parser.add_argument("--seconds", type=float, default=60, help="of search for each direction")
    parser.add_argument("--evaluations", help="for each direction, instead of seconds: the same on every machine")
    parser.add_argument("--samples", default="2^20", help="by time stepping; 0: none")
    parser.add_argument("--walks", default="2^20", help="0: none")
    parser.add_argument("--sampler", default="walk", help="of the search")
    parser.add_argument("--exact", action="store_true", help="compare with the exact set")
    parser.add_argument("--directions", action="store_true")
    parser.add_argument("scenes", nargs="+")
    options = parser.parse_args()
    print("| scene | directions | at least as far | farther by 4 % | median gain | least gain |\n|---|---|---|---|---|---|")
    for scene in options.scenes:
        gains = compare(options.carom, scene, options)
        name = os.path.splitext(os.path.basename(scene))[0]
        tolerance = 1e-3 if options.exact else 1e-9
        reached, farther = sum(gain >= -tolerance for gain in gains), sum(gain >= 0.04 for gain in gains)
        print(f"| {name} | {len(gains)} | {reached} | {farther} | {100 * statistics.median(gains):.2f} % | {100 * min(gains):.3g} % |")


if __name__ == "__main__":
    main()
