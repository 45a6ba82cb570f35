#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one step of many contacts costs: a wall of balls, three layers high, falls on its side of the ground with all contacts closed.

    benchmarks/many_contacts.py [--carom build/carom] [--limit 40] [--figure FILE.png] CONTACTS ...

One line of Markdown for each number of contacts (rounded up to whole balls): processor time of `carom resolve --law anitescu-potra`, its
start and the reading of the scene included, with the selections `any` and `lemke`; the median of three runs where they take less than a
second. A selection is left out once it has taken more than the limit, in seconds. Needs numpy and h5py, for the figure matplotlib.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile

import h5py
import numpy as np

LAYERS, FRICTION, SELECTIONS = 3, 0.2, ("any", "lemke")


def build_wall(least):
    """Centres of unit balls in a hexagonal wall, and its contacts (below, above), -1 for the ground: at least so many."""
    for width in range(3, 10 * least):
        rows = [(r, c) for r in range(LAYERS) for c in range(width - r % 2)]
        centres = np.array([(c + 0.5 * (r % 2), 0, 0.5 + r * np.sqrt(0.75)) for r, c in rows])
        contacts = [(-1, i) for i, (r, _) in enumerate(rows) if r == 0]
        for i, centre in enumerate(centres):
            near = np.flatnonzero(np.linalg.norm(centres[i + 1 :] - centre, axis=1) < 1 + 1e-9)
            contacts += [(i, i + 1 + j) for j in near]
        if len(contacts) >= least:
            return centres, contacts
    raise ValueError(least)


def contact_jacobian(centres, contacts):
    """Rows normal, tangent, tangent of each contact: velocities of the upper ball's point less those of the lower one's."""
    jacobian = np.zeros((3 * len(contacts), 6 * len(centres)))
    for i, (below, above) in enumerate(contacts):
        normal = centres[above] - centres[below] if below >= 0 else np.array([0.0, 0, 1])
        first = np.cross(normal, [0, 1, 0])
        first /= np.linalg.norm(first)
        for a, axis in enumerate((normal, first, np.cross(normal, first))):
            for body, sign, arm in ((above, 1, -0.5 * normal), (below, -1, 0.5 * normal)):
                if body >= 0:
                    jacobian[3 * i + a, 6 * body : 6 * body + 6] = sign * np.concatenate([axis, np.cross(arm, axis)])
    return jacobian


def write_problem(least, name):
    """An FCLIB file of the wall, which falls at 1 m/s while its balls move a little; returns the number of contacts."""
    centres, contacts = build_wall(least)
    jacobian = contact_jacobian(centres, contacts)
    inverse_mass = np.tile([1, 1, 1, 10, 10, 10], len(centres))
    velocity = np.tile([0.0, 0, -1, 0, 0, 0], len(centres)) + 0.3 * np.random.default_rng(least).standard_normal(jacobian.shape[1])
    delassus = (jacobian * inverse_mass) @ jacobian.T
    delassus = np.where(abs(delassus) > 1e-14, (delassus + delassus.T) / 2, 0)
    rows, columns = np.nonzero(delassus)
    with h5py.File(name, "w") as file:
        entries = {"nz": [-2], "m": [len(delassus)], "n": [len(delassus)], "nzmax": [len(rows)], "i": columns}
        entries["p"] = np.searchsorted(rows, np.arange(len(delassus) + 1))
        for key, values in entries.items():
            file[f"fclib_local/W/{key}"] = np.array(values, dtype=np.int32)
        file["fclib_local/W/x"] = delassus[rows, columns]
        file["fclib_local/spacedim"] = np.array([3], dtype=np.int32)
        file["fclib_local/vectors/q"] = jacobian @ velocity
        file["fclib_local/vectors/mu"] = np.full(len(contacts), FRICTION)
    return len(contacts)


def measure(carom, scene, selection, limit):
    """Processor time of one run; None beyond the limit or without a solution."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [carom, "resolve", scene, "--law", "anitescu-potra", "--selection", selection, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))  # fmt: skip
    solved = done.returncode == 0 and json.loads(done.stdout)["complete"]
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before if solved else None


def draw(times, figure):
    """Time over contacts, both logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    axes = pyplot.figure(figsize=(5, 3.5), layout="constrained").gca()
    for selection, marker in zip(SELECTIONS, "os"):
        points = [(contacts, row[selection]) for contacts, row in times.items() if row[selection]]
        axes.loglog(*zip(*points), marker=marker, label=f"--selection {selection}")
    axes.set(xlabel="contacts", ylabel="processor time [s]")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    pyplot.savefig(figure, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--carom", default="build/carom")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--figure")
    parser.add_argument("contacts", nargs="+", type=int)
    options = parser.parse_args()
    times, left = {}, set(SELECTIONS)
    print("| contacts | LCP variables | `any` | `lemke` |\n|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        problem, scene = os.path.join(folder, "wall.hdf5"), os.path.join(folder, "wall.yaml")
        with open(scene, "w", encoding="utf-8") as file:
            file.write("delassus: {file: wall.hdf5}\n")
        for least in options.contacts:
            contacts = write_problem(least, problem)
            row = times[contacts] = dict.fromkeys(SELECTIONS)
            for selection in SELECTIONS:
                if selection not in left:
                    continue
                row[selection] = measure(options.carom, scene, selection, options.limit)
                if row[selection] is None:
                    left.discard(selection)
                elif row[selection] < 1:
                    again = [measure(options.carom, scene, selection, options.limit) for _ in range(2)]
                    row[selection] = statistics.median([row[selection], *again])
            cells = [f"{row[s]:.2f} s" if row[s] else "" for s in SELECTIONS]
            print(f"| {contacts} | {6 * contacts} | {cells[0]} | {cells[1]} |", flush=True)
    if options.figure:
        draw(times, options.figure)


if __name__ == "__main__":
    main()
