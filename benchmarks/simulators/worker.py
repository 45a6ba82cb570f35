# SPDX-License-Identifier: Apache-2.0
"""worker.py ADAPTER: reads jobs from standard input (pickle), writes a line of JSON for each as soon as it is done.

Every simulator has a process of its own: one that crashes or hangs takes nothing else with it.
"""
import json
import os
import pickle
import sys
import time

import numpy as np

from simulators import adapters
from simulators.drive import run_through

# So large that what moves by centimetres turns by less than 1e-4 rad, and gyroscopic forces do as little.
ENLARGED = 1e3


def variants(mechanism, wanted):
    """Mechanisms that are the same to physics, and how their velocities become those of the original."""
    yield "", mechanism, lambda v: v
    if "contacts" in wanted:
        yield "contacts", mechanism.reversed_contacts(), lambda v: v
    if "bodies" in wanted and len(mechanism.bodies) > 1:
        other, index = mechanism.reversed_bodies()
        yield "bodies", other, lambda v: v[np.argsort(index)]
    if "mirror" in wanted:
        image, signs = mechanism.mirrored()
        yield "mirror", image, lambda v: v * signs
    if "again" in wanted:
        yield "again", mechanism, lambda v: v


def main():
    out = os.fdopen(os.dup(1), "w")
    # Simulators write to the standard output as they please.
    os.dup2(2, 1)
    adapter = adapters.load(sys.argv[1])
    print(json.dumps({"version": adapter.version(), "name": adapter.NAME, "about": adapter.ABOUT}), file=out, flush=True)
    for number, (mechanism, label, wanted) in enumerate(pickle.load(sys.stdin.buffer)):
        several = list(variants(mechanism, wanted))
        for k, (variant, other, back) in enumerate(several):
            answer = {"job": number, "scene": mechanism.name, "setting": label, "variant": variant, "variants_left": len(several) - 1 - k}
            start = time.process_time()
            try:
                large, scales = other.enlarged(ENLARGED)
                simulation = adapter.Simulation(large, **adapter.SETTINGS[label])
                velocity, duration, ended = run_through(simulation, large)
                answer |= {"velocity": back(velocity * scales).tolist(), "duration": duration, "ended": ended, "dt": simulation.dt}
                if hasattr(simulation, "close"):
                    simulation.close()
            except (ValueError, ArithmeticError, RuntimeError, SystemExit) as error:
                answer["error"] = str(error).split("\n")[0][:200] or type(error).__name__
            answer["seconds"] = time.process_time() - start
            print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
