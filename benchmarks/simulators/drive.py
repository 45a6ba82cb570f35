# SPDX-License-Identifier: Apache-2.0
"""Takes a simulation through an impact."""
import numpy as np

# No contact approaches faster than this share of the largest contact speed before the impact, and no contact velocity has changed by more
# than it within the window: errors of a thousandth are what is told.
SHARE = 1e-4
# Longer than the time constants of soft contacts at a turning point of their compression, where velocities change fastest.
WINDOW = 5e-3
HORIZON = 0.15


def run_through(simulation, mechanism, share=SHARE, window=WINDOW, horizon=HORIZON):
    """The velocity when no contact approaches and nothing changes any more, the time, and whether that came before the horizon."""
    rows = mechanism.contact_rows()
    stride = 1 + mechanism.tangent_dim
    before = rows @ mechanism.velocity
    tolerance = share * np.abs(before).max()
    kept = max(2, int(np.ceil(window / simulation.dt)))
    past = [before]
    for step in range(1, max(2 * kept, int(np.ceil(horizon / simulation.dt))) + 1):
        simulation.step()
        velocity = simulation.velocity()
        now = rows @ velocity
        if not np.isfinite(now).all():
            raise ArithmeticError("its velocities are not finite")
        past.append(now)
        if step >= kept and now[::stride].min() >= -tolerance and np.abs(now - past[-1 - kept]).max() <= tolerance:
            return velocity, step * simulation.dt, True
    return velocity, step * simulation.dt, False
