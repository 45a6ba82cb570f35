# SPDX-License-Identifier: Apache-2.0
"""python3 -m carom.poses POSES.csv --body BODY.json -o impacts.json: measured impacts from a file of poses."""
from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from dataclasses import fields
from typing import Any

from .._errors import InputError
from . import Options, PoseWarning, calibrate, impacts, read_body, read_csv


def main() -> int:
    """Does what the command line says, and returns its exit status."""
    parser = argparse.ArgumentParser("python3 -m carom.poses", description="measured impacts of a rigid body on a plane, from its poses over time")
    parser.add_argument("poses", metavar="POSES.csv", help="columns time, x, y, z, qw, qx, qy, qz, and group if there are several motions")
    parser.add_argument("--body", required=True, metavar="BODY.json", help="mass, inertia, vertices, center, friction; plane, gravity")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the file of measurements (JSON)")
    parser.add_argument("--figure", metavar="FILE", help="draw residuals, chi2 and a fit (PNG, SVG, PDF)")
    parser.add_argument("--calibrate", action="store_true", help="measure gravity and the center of mass in free flights, nothing else")
    for option in fields(Options):
        unit, text = option.metadata["unit"], option.metadata["text"]
        parser.add_argument(
            "--" + option.name.replace("_", "-"),
            type=int if option.name == "least_frames" else float,
            nargs=2 if option.name == "noise" else None,
            metavar=("M", "RAD") if option.name == "noise" else "N" if not unit else "X",
            help=text + (f" [{unit}]" if unit else "") + ("" if option.default is None else f" (default {option.default:g})"),
        )
    told = vars(parser.parse_args())
    options = {each.name: told[each.name] for each in fields(Options) if told[each.name] is not None}
    warnings.simplefilter("always", PoseWarning)
    warnings.showwarning = lambda message, *_: print(f"carom.poses: warning: {message}", file=sys.stderr)
    try:
        if not told["calibrate"] and not told["output"]:
            raise InputError("-o FILE says where impacts go; --calibrate needs none")
        if not told["calibrate"]:
            check_outputs(told)
        body, place = read_body(told["body"])
        poses = read_csv(told["poses"])
        if told["calibrate"]:
            place.pop("plane", None)
            seen = calibrate(*poses, body=body, noise=options.get("noise"), **place)
            print(f"{seen.flights} flights, {seen.frames} frames, noise {1e3 * seen.noise:.3g} mm")
            print("gravity [m/s^2]:", ", ".join(f"{x:.4f} +- {e:.4f}" for x, e in zip(seen.gravity, seen.gravity_error)))
            print("center of mass [mm]:", ", ".join(f"{1e3 * x:.3f} +- {1e3 * e:.3f}" for x, e in zip(seen.center, seen.center_error)))
            print(f"multiply lengths by {seen.length_factor:.5f} +- {seen.factor_error:.5f}, or the frame rate by {seen.rate_factor:.5f}:")
            print("free flight cannot say which of the two is wrong")
            return 0
        found = impacts(poses.times, poses.positions, poses.quaternions, poses.groups, body=body, **place, **options)
        found.save(told["output"])
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(fit.kind for fit in found).items()))
        print(f"{len(found)} impacts{f' ({kinds})' if kinds else ''}, {len(found.rejected)} rejected: {told['output']} says why")
        cut = sum(bool(fit.seconds) for fit in found)
        if cut:
            print(f"{cut} of the impacts are cut off at a second impact, which residuals show")
        if told["figure"] and len(found):
            found.plot().savefig(told["figure"], dpi=150)
        return 0 if len(found) else 1
    except (InputError, ImportError) as error:
        print(f"carom.poses: {error}", file=sys.stderr)
    except OSError as error:
        print(f"carom.poses: {error.filename}: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        print("carom.poses: interrupted", file=sys.stderr)
        return 130
    return 2


def check_outputs(told: dict[str, Any]) -> None:
    """Refuses, before anything is computed, to write over a file of this command, and pictures of an unknown kind."""
    taken = [told["poses"], told["body"]]
    for option in ("output", "figure"):
        file = told[option]
        if not file:
            continue
        for other in taken:
            # One file may have several names.
            if os.path.samefile(file, other) if all(map(os.path.exists, (file, other))) else os.path.realpath(file) == os.path.realpath(other):
                raise InputError(f"{file}: --{option} would write over {'it' if file == other else other}, which this command uses")
        taken.append(file)
    if told["figure"]:
        from matplotlib.backend_bases import FigureCanvasBase

        kinds = FigureCanvasBase.get_supported_filetypes()
        if os.path.splitext(told["figure"])[1][1:].lower() not in kinds:
            raise InputError(f"{told['figure']}: --figure needs a name with an ending that is one of {', '.join(sorted(kinds))}")


if __name__ == "__main__":
    sys.exit(main())
