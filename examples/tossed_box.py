#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tossed_box.py CAROM FOLDER: poses of a box that is tossed onto a floor, as a camera with noise would see them.

Writes FOLDER/poses.csv and FOLDER/body.json, from which docs/poses.md extracts impacts. CAROM is the command that simulates the tosses.
Needs numpy and h5py.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

RATE, DURATION = 148.3, 0.9  # frames a second, seconds
MASS, SIDES = 0.4, np.array([0.1, 0.08, 0.06])  # kg, m
INERTIA = MASS / 12 * (np.sum(SIDES**2) - SIDES**2)
CENTER = np.array([0.004, -0.006, 0.01])  # of mass, and of the box, from the tracked point [m]
CORNERS = CENTER + SIDES / 2 * [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
NOISE = (1e-4, 2e-3)  # m, rad

SCENE = """
simulate: {{integrator: lgvci, step: {step}, duration: {duration}, every: 4, law: stronge, friction: 0.25, restitution: 0.6}}
body: {{mass: {mass}, shape: {{box: {sides}}}}}
initial: {{position: {position}, attitude: {attitude}, momentum: {momentum}, angular_momentum: {spin}}}
"""


def rotate(q, v):
    """Vectors v by quaternions w, x, y, z."""
    twice = 2 * np.cross(q[..., 1:], v)
    return v + q[..., :1] * twice + np.cross(q[..., 1:], twice)


def toss(command, seed):
    """Exact times, tracked points and quaternions of one toss, and its impacts as `carom simulate` writes them."""
    random = np.random.default_rng(seed)
    q = random.normal(size=4)
    scene = SCENE.format(
        step=0.25 / RATE,
        duration=DURATION,
        mass=MASS,
        sides=SIDES.tolist(),
        position=[0, 0, float(random.uniform(0.3, 0.6))],
        attitude=rotate(q / np.linalg.norm(q), np.eye(3)).T.tolist(),
        momentum=(MASS * random.normal(size=3) * [1, 1, 0.3]).tolist(),
        spin=(5 * INERTIA * random.normal(size=3)).tolist(),
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "toss.yaml").write_text(scene)
        # The status is 1 where the box comes to rest.
        done = subprocess.run([command, "simulate", place / "toss.yaml", "-o", place / "toss.h5"], capture_output=True, text=True)
        if done.returncode > 1:
            raise RuntimeError(done.stderr)
        with h5py.File(place / "toss.h5") as file:
            t, x, q = (file[f"lgvci/states/{name}"][:] for name in ("time", "position", "quaternion"))
            impacts = {name: data[:] for name, data in file["lgvci/impacts"].items()}
    return (t, x - rotate(q, CENTER), q), impacts


def measure(p, q, random):
    """Tracked points and quaternions with noise."""
    small = np.concatenate([np.ones((len(q), 1)), NOISE[1] / 2 * random.normal(size=(len(q), 3))], axis=1)
    # The product of quaternions q small, normalized.
    w = q[:, :1] * small[:, :1] - np.sum(q[:, 1:] * small[:, 1:], axis=1, keepdims=True)
    turned = np.concatenate([w, q[:, :1] * small[:, 1:] + small[:, :1] * q[:, 1:] + np.cross(q[:, 1:], small[:, 1:])], axis=1)
    return p + NOISE[0] * random.normal(size=p.shape), turned / np.linalg.norm(turned, axis=1, keepdims=True)


def main(command, folder):
    random = np.random.default_rng(0)
    with open(Path(folder) / "poses.csv", "w") as file:
        file.write("time,x,y,z,qw,qx,qy,qz,group\n")
        for seed in range(40):
            (t, p, q), _ = toss(command, seed)
            for time, place, turned in zip(t, *measure(p, q, random)):
                file.write(",".join(f"{number:.9g}" for number in (time, *place, *turned)) + f",{seed}\n")
    body = {"mass": MASS, "inertia": INERTIA.tolist(), "vertices": CORNERS.tolist(), "center": CENTER.tolist()}
    (Path(folder) / "body.json").write_text(json.dumps(body | {"plane": {"point": [0, 0, 0], "normal": [0, 0, 1]}}) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
