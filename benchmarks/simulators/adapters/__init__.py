# SPDX-License-Identifier: Apache-2.0
"""One file for each simulator.

An adapter has
    NAME, ABOUT   what it is called, and what the simulator is made for and how the adapter gives it the impact;
    version()     raises ImportError or OSError where the simulator is not there;
    SETTINGS      a label and parameters for each run, the simulator's defaults first;
    BOXES         labels of those for the many random boxes; ELASTIC, where there is one, those for elastic contacts;
    Simulation    Simulation(mechanism, **parameters): step() does one time step of `dt` seconds, velocity() gives the velocities in the
                  mechanism's order; ValueError for what the simulator cannot be given.
Simulators whose contacts act on velocities alone are put back to the frozen position after every step. Those whose contacts are springs
move, because their forces come from the motion.
"""
import importlib

NAMES = ("mujoco", "drake", "bullet", "ode", "dart")


def load(name):
    """The adapter of this name."""
    return importlib.import_module(f"simulators.adapters.{name}")
