# SPDX-License-Identifier: Apache-2.0
"""Impacts from poses: motions of `carom simulate`, sampled and with noise, give back what the simulation knows."""
import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from carom.poses._fit import predict
from carom.poses._rotation import from_vector, multiply, to_matrix, to_vector
from conftest import COMMAND, ROOT

import carom
from carom import poses
from carom.poses import __main__ as command

sys.path.insert(0, str(ROOT / "examples"))
from tossed_box import CENTER, CORNERS, INERTIA, MASS, NOISE, RATE, toss  # noqa: E402

GRAVITY = 9.80665


class Tosses:
    """Boxes tossed onto a floor: exact poses of the tracked point, and the exact impacts of each toss."""

    def __init__(self, count):
        self.body = poses.Body(MASS, INERTIA, CORNERS, CENTER)
        tosses, self.impacts = zip(*(toss(COMMAND, seed) for seed in range(count)))
        self.exact = [np.concatenate(columns) for columns in zip(*tosses)]
        self.exact.append(np.repeat(np.arange(count), [len(t) for t, _, _ in tosses]))

    def measured(self, seed=0, noise=NOISE):
        """Times, positions, quaternions, groups with noise."""
        random = np.random.default_rng(seed)
        t, p, q, groups = self.exact
        turned = multiply(from_vector(noise[1] * random.normal(size=p.shape)), q)
        return t, p + noise[0] * random.normal(size=p.shape), turned * random.choice([-1, 1], size=(len(t), 1)), groups

    def truth(self, fit):
        """The simulated impact nearest to a fit: time, position, attitude, velocities before and after."""
        told = self.impacts[fit.group]
        i = int(np.abs(told["time"] - fit.time).argmin())
        rotation = told["attitude"][i].reshape(3, 3)
        velocities = []
        for side in ("before", "after"):
            velocities += [told[f"momentum_{side}"][i] / MASS, rotation @ (told[f"angular_momentum_{side}"][i] / INERTIA)]
        return told["time"][i], told["position"][i], rotation, np.concatenate(velocities)


    def is_alone(self, fit):
        """Whether no other impact is among the fitted frames: a body that rocks may be too fast for the camera."""
        after = self.impacts[fit.group]["time"] - fit.time
        return np.sum((after > fit.meeting.times.min() - 1e-4) & (after < fit.meeting.times.max() + 1e-4)) == 1


@pytest.fixture(scope="module")
def tosses():
    return Tosses(32)


@pytest.fixture(scope="module")
def found(tosses):
    return poses.impacts(*tosses.measured(), body=tosses.body, noise=NOISE)


def choose(columns, groups):
    """The frames of some groups."""
    rows = np.isin(columns[3], groups)
    return [column[rows] for column in columns]


# ------------------------------------------------------------------------------------------------------ the numbers


def test_fits_recover_all_unknowns_within_their_errors(tosses, found):
    scaled, quality = [], []
    for fit in filter(tosses.is_alone, found):
        time, place, attitude, velocities = tosses.truth(fit)
        turn = to_matrix(fit.meeting.quaternion) @ attitude.T
        off = fit.meeting.parameters[:3] - place, [turn[2, 1], turn[0, 2], turn[1, 0]], [fit.time - time], fit.meeting.parameters[7:] - velocities
        scaled.append(np.concatenate(off) / np.sqrt(np.diag(fit.meeting.covariance)))
        quality.append(fit.quality)
    assert len(scaled) >= 40
    assert 0.92 <= np.mean(np.abs(scaled) < 2) <= 0.98
    assert 0.9 <= np.mean(quality) <= 1.1
    assert np.abs(scaled).max() < 5


def test_impacts_are_as_simulated(tosses, found):
    for fit in filter(tosses.is_alone, found):
        time, place, attitude, velocities = tosses.truth(fit)
        if fit.kind != "single":
            continue
        told = tosses.impacts[fit.group]
        i = int(np.flatnonzero(told["time"] == time)[0])
        assert np.allclose(tosses.body.vertices[fit.contacts[0]], told["contact_point"][i] + CENTER, atol=1e-9)
        world = attitude @ np.diag(INERTIA) @ attitude.T
        assert np.allclose(fit.mass[3:, 3:], world, atol=0.02 * INERTIA.max())
        assert fit.mass[0, 0] == MASS
        assert np.all(np.linalg.eigvalsh(fit.covariance) > 0)
        # The impulse acts at the contact: M (v+ - v-) = J' p.
        j = np.concatenate([fit.normal, fit.tangent])
        change = fit.mass @ (fit.v_plus - fit.v_minus)
        p = np.linalg.lstsq(j.T, change, rcond=None)[0]
        assert np.allclose(j.T @ p, change, atol=5e-3 * MASS)
        assert p[0] == pytest.approx(told["normal_impulse"][i], abs=0.01 * MASS)


def test_noise_is_estimated(tosses):
    few = choose(tosses.measured(), range(7))
    estimated = poses.impacts(*few, body=tosses.body)
    assert estimated.options.noise == pytest.approx(NOISE, rel=0.15)
    given = poses.impacts(*few, body=tosses.body, noise=NOISE)
    assert abs(len(estimated) - len(given)) <= 2


def test_exact_poses_give_exact_velocities(tosses):
    exact = poses.impacts(*choose(tosses.exact, range(6)), body=tosses.body, floor_velocity=0, floor_spin=0)
    alone = list(filter(tosses.is_alone, exact))
    assert len(alone) >= 6
    for fit in alone:
        assert np.allclose(fit.meeting.parameters[7:], tosses.truth(fit)[3], atol=1e-4)


def test_frames_during_the_contact_are_left_out(tosses):
    t, p, q, groups = choose(tosses.measured(), range(4))
    clean = poses.impacts(t, p, q, groups, body=tosses.body, noise=NOISE)
    bent = p.copy()
    for fit in clean:
        near = (groups == fit.group) & (np.abs(t - fit.time) < 3e-3)
        bent[near, 2] += 5e-3
    assert not np.array_equal(bent, p)
    again = {(fit.group, fit.frame): fit for fit in poses.impacts(t, bent, q, groups, body=tosses.body, noise=NOISE)}
    pairs = [(fit, again[fit.group, fit.frame]) for fit in clean if (fit.group, fit.frame) in again]
    assert len(pairs) >= 0.8 * len(clean)
    for fit, same in pairs:
        assert np.allclose(fit.v_plus, same.v_plus, atol=1e-3) and np.allclose(fit.v_minus, same.v_minus, atol=1e-3)


def test_groups_of_few_frames_change_nothing(tosses):
    plain = choose(tosses.measured(), range(4))
    count = [np.sum(plain[3] == group) for group in range(4)]
    # Toss 0 stays whole; toss k keeps its first k frames.
    keep = np.concatenate([np.arange(n) < (group or n) for group, n in enumerate(count)])
    whole = poses.impacts(*choose(plain, [0]), body=tosses.body, noise=NOISE)
    with_crumbs = poses.impacts(*(column[keep] for column in plain), body=tosses.body, noise=NOISE)
    assert len(whole) == len(with_crumbs) > 0
    assert all(np.array_equal(a.v_plus, b.v_plus) for a, b in zip(whole, with_crumbs))
    estimated = [poses.impacts(*(column[rows] for column in plain), body=tosses.body) for rows in (plain[3] == 0, keep)]
    assert len(estimated[0]) == len(estimated[1])
    # One frame is no flight.
    with pytest.raises(carom.InputError, match="no group has the four frames"):
        poses.impacts(*(column[:1] for column in plain), body=tosses.body)


def test_answers_do_not_depend_on_axes_origins_or_order(tosses):
    t, p, q, groups = choose(tosses.measured(), range(3))
    here = poses.impacts(t, p, q, groups, body=tosses.body, noise=NOISE)
    turn, move = from_vector(np.array([0.4, -0.7, 0.2])), np.array([10.0, -20.0, 5.0])
    rotation = to_matrix(turn)
    order = np.lexsort((t, -groups))
    there = poses.impacts(
        t[order] + 1.7e9,
        (p @ rotation.T + move)[order],
        multiply(turn, q)[order],
        groups[order],
        body=tosses.body,
        plane=(move, rotation @ [0, 0, 2]),
        gravity=rotation @ [0, 0, -GRAVITY],
        noise=NOISE,
    )
    assert len(here) == len(there) > 0
    for a, b in zip(here, there):
        assert (a.group, a.frame, a.contacts) == (b.group, b.frame, b.contacts)
        assert np.allclose(np.kron(np.eye(2), rotation) @ a.v_plus, b.v_plus, atol=1e-4)
        assert np.allclose(a.normal @ a.v_plus, b.normal @ b.v_plus, atol=1e-4)


def test_a_ball_touches_below_its_center():
    random, radius = np.random.default_rng(3), 0.04
    ball = poses.Body(0.2, [0.4 * 0.2 * radius**2] * 3, [[0, 0, 0]], rounding=radius)
    g, spins = np.array([0, 0, -GRAVITY]), ([0, 10.0, 0], [1.0, 20.0, 0])
    theta = np.concatenate([[0.1, 0.2, radius], np.zeros(3), [0], [1, 0, -2], spins[0], [0.6, 0.1, 1.4], spins[1]])
    t = np.arange(-14, 15) / RATE + 1e-3
    p, q = predict(theta, np.array([1.0, 0, 0, 0]), t, t > 0, ball, g)
    p, q = p + NOISE[0] * random.normal(size=p.shape), multiply(from_vector(NOISE[1] * random.normal(size=p.shape)), q)
    (fit,) = poses.impacts(t, p, q, body=ball, noise=NOISE)
    assert fit.kind == "single" and not fit.seconds and abs(fit.gaps[0]) < 5e-4
    assert np.allclose(fit.normal, [[0, 0, 1, 0, 0, 0]])
    # The point that touches has the velocity v + w x (0, 0, -radius).
    point = fit.v_minus[:3] + np.cross(fit.v_minus[3:], [0, 0, -radius])
    assert np.allclose(np.sort(np.abs(fit.tangent @ fit.v_minus)), np.sort(np.abs(point[:2])))
    assert np.all(np.abs(fit.v_plus - theta[13:]) < 4 * np.sqrt(np.diag(fit.covariance)[6:]))
    assert poses.Impacts([fit], [], ball, (np.zeros(3), np.array([0, 0, 1])), g, poses.Options(noise=NOISE), None).plot() is not None


# -------------------------------------------------------------------------------------------------------- calibration


def test_calibration_recovers_gravity_and_center(tosses):
    body = poses.Body(MASS, INERTIA, tosses.body.vertices)
    seen = poses.calibrate(*tosses.measured(), body=body)
    assert np.all(np.abs(seen.center - CENTER) < 4 * seen.center_error) and seen.center_error.max() < 1e-4
    assert np.all(np.abs(seen.gravity - [0, 0, -GRAVITY]) < 4 * seen.gravity_error) and seen.gravity_error.max() < 0.01
    assert seen.length_factor == pytest.approx(1, abs=4 * seen.factor_error)


def test_rate_and_lengths_cannot_be_told_apart(tosses):
    t, p, q, groups = tosses.measured()
    # A rate of 148 instead of 148.3 frames a second makes times longer; lengths 1.65 % short look the same.
    slow = poses.calibrate(t * RATE / 148, p, q, groups, body=tosses.body)
    assert slow.rate_factor == pytest.approx(RATE / 148, abs=2 * slow.factor_error)
    short = poses.calibrate(t, p / 1.0165, q, groups, body=tosses.body)
    assert short.length_factor == pytest.approx(1.0165, abs=4 * short.factor_error)
    assert short.length_factor == pytest.approx(short.rate_factor**2)


@pytest.mark.parametrize("noise", [0, 1e-5])
def test_a_body_that_does_not_turn_keeps_its_center(noise):
    t = np.arange(60) / RATE
    p = np.stack([0 * t, t, 1 - GRAVITY / 2 * t**2], axis=1) + noise * np.random.default_rng(0).normal(size=(60, 3))
    body = poses.Body(1, [1, 1, 1], np.eye(3), center=[0.1, 0, 0])
    seen = poses.calibrate(t, p, np.tile([1.0, 0, 0, 0], (60, 1)), body=body)
    assert np.allclose(seen.center, body.center) and np.allclose(seen.center_error, body.radius, rtol=1e-3)


# ------------------------------------------------------------------------------------------------- traps in the data


def warnings_of(tosses, change, body=None, **options):
    columns = choose(tosses.measured(), range(5))
    with pytest.warns(poses.PoseWarning) as told:
        poses.impacts(*change(*columns), body=body or tosses.body, **options)
    return " | ".join(str(each.message) for each in told)


def median_filter(q):
    """Of rotation vectors, over five frames."""
    v = to_vector(q)
    return from_vector(np.median(np.stack([np.roll(v, k, axis=0) for k in range(-2, 3)]), axis=0))


def hold(count):
    """Every 30th frame again in place of the one after it."""
    i = np.arange(count)
    return np.where(i % 30 == 1, i - 1, i)


LEVEL = np.array([[1, 0, 0], [0, 1, -0.01], [0, 0.01, 1]])
TRAPS = {
    "axes": (lambda t, p, q, g: (t, p @ LEVEL, q, g), "degrees away from the given direction: are the axes level?"),
    "frame rate": (lambda t, p, q, g: (t * RATE / 148, p, q, g), "either lengths must be multiplied by 1.00"),
    "median filter": (lambda t, p, q, g: (t, p, median_filter(q), g), "went through a median filter"),
    "clock": (lambda t, p, q, g: (np.round(t, 3), p, q, g), "intervals between frames scatter"),
    "lost frames filled": (lambda t, p, q, g: (t, p[(i := hold(len(t)))], q[i], g), "whole poses repeat"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_traps_are_seen(tosses, trap):
    change, told = TRAPS[trap]
    assert told in warnings_of(tosses, change, noise=NOISE)


def test_smoothed_poses_are_seen(tosses):
    def smooth(t, p, q, g):
        kernel = np.array([1, 2, 3, 2, 1]) / 9
        return t, np.stack([np.convolve(p[:, k], kernel, mode="same") for k in range(3)], axis=1), q, g

    assert "positions: residuals of successive frames in free flight" in warnings_of(tosses, smooth)


def test_a_wrong_center_or_plane_is_seen(tosses):
    moved = poses.Body(MASS, INERTIA, tosses.body.vertices, CENTER + [0, 0, 6e-3])
    assert "center: free flights put the center of mass at (" in warnings_of(tosses, lambda *c: c, moved, noise=NOISE)
    assert "plane: lowest vertices are" in warnings_of(tosses, lambda *c: c, plane=([0, 0, 8e-3 * 2], [0, 0, 1]), noise=NOISE, reach=0.02)
    far = poses.impacts(*choose(tosses.measured(), range(3)), body=tosses.body, plane=([0, 0, -0.3], [0, 0, 1]), noise=NOISE)
    assert not len(far) and any("mm from the plane" in each.reason for each in far.rejected)


def test_hidden_second_impacts_are_found(tosses, found):
    with pytest.warns(poses.PoseWarning, match="noise: chi2 per degree of freedom is above 1.5 in [0-9]+ of"):
        blind = poses.impacts(*tosses.measured(), body=tosses.body, noise=NOISE, doubt=0)
    # Impacts that are alone in their frames are not touched.
    same = {(fit.group, fit.frame): fit for fit in found}
    for fit in filter(tosses.is_alone, blind):
        assert not same[fit.group, fit.frame].seconds and np.array_equal(same[fit.group, fit.frame].v_plus, fit.v_plus)
    alone = [np.mean([tosses.is_alone(fit) for fit in each]) for each in (blind, found)]
    assert alone[0] < 0.85 < alone[1]
    assert sum(map(tosses.is_alone, found)) > sum(map(tosses.is_alone, blind))
    assert sum(bool(fit.seconds) for fit in found) >= 5
    assert any("residuals show a second impact" in each.reason for each in found.rejected)


def fly(body, t, gap, size, random):
    """Poses of a body that hits with a vertex at t = 0 and once more `gap` later, with a change of the velocities by `size`; v+."""
    first = np.concatenate([[0.02, 0.01, 0.06], np.zeros(3), [0], [0.3, 0.2, -1.2], [3, -2, 1], [0.2, 0.1, 0.3], [-2.0, 1.5, 0.5]])
    g = np.array([0, 0, -GRAVITY])
    q = from_vector(np.array([0.5, 0.4, 0.1]))
    corners = body.vertices @ to_matrix(q).T
    first[2] = -(corners[:, 2].min() - (to_matrix(q) @ body.center)[2])
    p, turned = predict(first, q, t, t > 0, body, g)
    late = np.abs(t) > abs(gap)
    late &= np.sign(t) == np.sign(gap)
    # The state at the second impact, and the flight from there.
    there, turn = predict(first, q, np.array([gap]), np.array([gap > 0]), body, g)
    side = 13 if gap > 0 else 7
    spin = to_matrix(turn[0]) @ np.linalg.solve(body.inertia, to_matrix(turn[0]).T @ to_matrix(q) @ body.inertia @ to_matrix(q).T @ first[side + 3 : side + 6])
    velocities = np.concatenate([first[side : side + 3] + g * gap + [0, 0, size], spin + size / body.radius * np.array([1, -1, 0.5])])
    center = there[0] + to_matrix(turn[0]) @ body.center
    next_one = np.concatenate([center, np.zeros(3), [gap], velocities, velocities])
    p[late], turned[late] = predict(next_one, turn[0], t[late], t[late] > gap, body, g)
    turned = multiply(from_vector(NOISE[1] * random.normal(size=p.shape)), turned)
    return p + NOISE[0] * random.normal(size=p.shape), turned, first[7:]


@pytest.mark.filterwarnings("ignore::carom.poses.PoseWarning")
@pytest.mark.parametrize("gap", [0.012, 0.02, 0.033, 0.05, -0.025, -0.045])
@pytest.mark.parametrize("size", [0, 0.05, 0.3])
def test_a_second_impact_is_cut_off_or_rejected(tosses, gap, size):
    random = np.random.default_rng(7)
    cut = taken = 0
    for _ in range(8):
        t = np.arange(-14, 15) / RATE + random.uniform(-0.5, 0.5) / RATE
        p, q, velocities = fly(tosses.body, t, gap, size, random)
        found = poses.impacts(t, p, q, body=tosses.body, noise=NOISE, reach=0.1, floor_velocity=0, floor_spin=0)
        fits = [fit for fit in found if abs(fit.time) < 5e-3]
        taken += len(fits)
        for fit in fits:
            off = (fit.meeting.parameters[7:] - velocities) / np.sqrt(np.diag(fit.covariance))
            assert np.abs(off).max() < 5
            cut += bool(fit.seconds)
            if size:
                assert np.abs(np.array(fit.seconds) - gap).min(initial=1) < 1.5 / RATE or (fit.meeting.times * np.sign(gap)).max() < abs(gap) + 2e-3
        if not fits:
            assert size and found.rejected
    if not size:
        assert taken == 8 and not cut


@pytest.mark.filterwarnings("ignore::carom.poses.PoseWarning")
def test_rejected_impacts_have_reasons(tosses, found):
    told = " | ".join(each.reason for each in found.rejected)
    assert "residuals show a second impact" in told and "does not fly for" in told and all(each.reason for each in found.rejected)
    t, p, q, groups = choose(tosses.measured(), range(8))
    few = poses.impacts(t, p, q, groups, body=tosses.body, noise=NOISE, least_frames=12)
    strict = poses.impacts(t, p, q, groups, body=tosses.body, noise=NOISE, worst=0.8)
    assert any("bad fit: chi2 per degree of freedom is 1." in each.reason for each in strict.rejected)
    assert any("too few frames: " in each.reason and "12 are needed; another impact is " in each.reason for each in few.rejected)
    # Played backwards, impacts of an inelastic body give energy.
    back = poses.impacts(-t[::-1], p[::-1], q[::-1], groups[::-1], body=tosses.body, noise=NOISE)
    assert not len(back) and any("the kinetic energy grows by" in each.reason for each in back.rejected)


# ------------------------------------------------------------------------------------------------------------ files


def write_poses(path, columns):
    lines = [",".join(map(repr, [*map(float, (t, *p, *q)), int(g)])) for t, p, q, g in zip(*columns)]
    path.write_text("# a comment\ntime,x,y,z,qw,qx,qy,qz,group\n" + "\n".join(lines) + "\n")


BODY = {"mass": 1, "inertia": [1, 1, 1], "vertices": [[1, 0, 0]]}


def test_it_is_said_why_nothing_is_found(tosses):
    t, p, q, groups = choose(tosses.measured(), [0])
    with pytest.warns(poses.PoseWarning, match="none of [0-9]+ impacts can be used; that at .* are quaternions w, x, y, z from body to world"):
        assert not len(poses.impacts(t, p, np.roll(q, -1, axis=1), groups, body=tosses.body))
    with pytest.warns(poses.PoseWarning, match="the lowest vertex is .* mm from the plane"):
        assert not len(poses.impacts(t, p, q, groups, body=tosses.body, plane=([0, 0, -5], [0, 0, 1]), noise=NOISE))
    first = tosses.impacts[0]["time"][0]
    with pytest.warns(poses.PoseWarning, match="there are no impacts: no free flight ends"):
        assert not len(poses.impacts(t[t < first], p[t < first], q[t < first], body=tosses.body, noise=NOISE))


def test_files_hold_what_was_found(tosses, found, tmp_path):
    found.save(tmp_path / "impacts.json")
    told = json.loads((tmp_path / "impacts.json").read_text())
    assert len(told["impacts"]) == len(found) and len(told["rejected"]) == len(found.rejected)
    for row, fit in zip(told["impacts"], found):
        assert row["v_plus"] == fit.v_plus.tolist() and np.shape(row["covariance"]) == (12, 12)
        impact = carom.Impact(row["M"], row["Jn"], row["Jt"], 0.2, row["v_minus"])
        assert impact.contact_velocity(fit.v_minus)[::3].min() < 0
    assert "mu" not in told["impacts"][0]
    assert found.plot() is not None


def write_inputs(tosses, folder):
    """poses.csv and body.json of three tosses, and the poses."""
    columns = choose(tosses.measured(), range(3))
    write_poses(folder / "poses.csv", columns)
    place = {"plane": {"point": [0, 0, 0], "normal": [0, 0, 1]}, "gravity": [0, 0, -GRAVITY]}
    body = {"mass": MASS, "inertia": INERTIA.tolist(), "vertices": tosses.body.vertices.tolist(), "center": CENTER.tolist()}
    (folder / "body.json").write_text(json.dumps(body | place | {"friction": 0.25}))
    return columns


def test_the_command_writes_impacts(tosses, tmp_path):
    columns = write_inputs(tosses, tmp_path)

    def run(*words):
        return subprocess.run([sys.executable, "-m", "carom.poses", *words], cwd=tmp_path, capture_output=True, text=True)

    done = run("poses.csv", "--body", "body.json", "-o", "impacts.json", "--figure", "figure.png", "--noise", "1e-4", "2e-3")
    assert done.returncode == 0 and "rejected" in done.stdout
    assert not done.stderr
    told = json.loads((tmp_path / "impacts.json").read_text())
    same = poses.impacts(*columns, body=tosses.body, noise=NOISE)
    assert np.allclose([row["v_plus"] for row in told["impacts"]], [fit.v_plus for fit in same], rtol=1e-6)
    assert told["impacts"][0]["mu"] == [0.25] * len(same[0].contacts)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert "center of mass [mm]: " in run("poses.csv", "--body", "body.json", "--calibrate").stdout
    for words in (("poses.csv", "--body", "body.json"), ("none.csv", "--body", "body.json", "-o", "x.json")):
        done = run(*words)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout
    assert not (tmp_path / "x.json").exists()


def run_here(monkeypatch, folder, *words):
    """The command within this process: its exit status."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["carom.poses", *words])
    return command.main()


@pytest.mark.parametrize(
    "words, told",
    [
        (["-o", "poses.csv"], "poses.csv: --output would write over it"),
        (["-o", "body.json"], "body.json: --output would write over it"),
        (["-o", "./linked.csv"], "./linked.csv: --output would write over poses.csv"),
        (["-o", "hard.csv"], "hard.csv: --output would write over poses.csv"),
        (["-o", "impacts.json", "--figure", "body.json"], "body.json: --figure would write over it"),
        (["-o", "new.png", "--figure", "./new.png"], "./new.png: --figure would write over new.png"),
    ],
)
def test_the_command_does_not_write_over_its_files(tosses, tmp_path, monkeypatch, capsys, words, told):
    write_inputs(tosses, tmp_path)
    (tmp_path / "linked.csv").symlink_to("poses.csv")
    os.link(tmp_path / "poses.csv", tmp_path / "hard.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert run_here(monkeypatch, tmp_path, "poses.csv", "--body", "body.json", *words) == 2
    heard = capsys.readouterr()
    assert heard.err.startswith(f"carom.poses: {told}") and heard.err.count("\n") == 1 and not heard.out
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["x.foo", "x", "png"])
def test_kinds_of_pictures_are_known_before_anything_is_written(tosses, tmp_path, monkeypatch, capsys, name):
    write_inputs(tosses, tmp_path)
    assert run_here(monkeypatch, tmp_path, "poses.csv", "--body", "body.json", "-o", "impacts.json", "--figure", name) == 2
    heard = capsys.readouterr()
    assert heard.err.startswith(f"carom.poses: {name}: --figure needs a name with an ending") and heard.err.count("\n") == 1 and not heard.out
    assert not (tmp_path / "impacts.json").exists() and not (tmp_path / name).exists()


def test_an_interrupt_ends_the_command_without_a_file(tosses, tmp_path, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    write_inputs(tosses, tmp_path)
    monkeypatch.setattr(command, "impacts", interrupt)
    assert run_here(monkeypatch, tmp_path, "poses.csv", "--body", "body.json", "-o", "impacts.json") == 130
    assert capsys.readouterr().err == "carom.poses: interrupted\n" and not (tmp_path / "impacts.json").exists()


# --------------------------------------------------------------------------------------------------------- bad input

ROWS = (np.arange(4) / 100, np.zeros((4, 3)), np.tile([1.0, 0, 0, 0], (4, 1)))


@pytest.mark.parametrize(
    "change, options, told",
    [
        ({0: [0, 0.01, 0.01, 0.02]}, {}, "times: 0.01 s comes after 0.01 s in the group 0; they must increase"),
        ({0: [0, 0.01, np.nan, 0.02]}, {}, "times: the entry [2] is not finite"),
        ({1: np.zeros((4, 2))}, {}, "positions: it is 4 x 2, and must be 4 x 3"),
        ({2: np.zeros((4, 4))}, {}, "quaternions: that of frame 0 has the length 0"),
        ({3: [1, 2]}, {}, "groups: there are 2, and 4 times"),
        ({0: [], 1: np.zeros((0, 3)), 2: np.zeros((0, 4))}, {}, "times: there are no frames"),
        ({}, {"plane": ([0, 0, 0], [0, 0, 0])}, "plane: its normal is 0"),
        ({}, {"plane": 3}, "plane: a pair of a point and a normal is needed"),
        ({}, {"gravity": [0, 0, 0]}, "gravity: it is 0"),
        ({}, {"gravity": [0, 0]}, "gravity: it has the shape (2,)"),
        ({}, {"near": -1}, "near: a number >= 0 is needed, not -1"),
        ({}, {"noise": (1, 0)}, "noise: two positive numbers are needed"),
        ({}, {"noise": 1}, "noise: two positive numbers are needed"),
        ({}, {"least_frames": 2}, "least_frames: a whole number >= 3 is needed, not 2"),
        ({}, {"nearest": 1}, "nearest: there is no such option"),
        ({}, {}, "positions: nothing falls freely for 8 frames"),
    ],
)
@pytest.mark.filterwarnings("ignore::carom.poses.PoseWarning")
def test_bad_arrays_are_named(change, options, told):
    columns = [change.get(i, array) for i, array in enumerate([*ROWS, None])]
    with pytest.raises(carom.InputError) as error:
        poses.impacts(*columns, body=poses.Body(**BODY), **options)
    assert told in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "change, told",
    [
        ({"mass": 0}, "mass: 0 is not a positive number"),
        ({"inertia": [1, 1, 3]}, "inertia: no mass distribution has the principal moments 1, 1, 3"),
        ({"inertia": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, "inertia: the matrix is not symmetric"),
        ({"inertia": [1, 1]}, "inertia: it has the shape (2,)"),
        ({"vertices": np.zeros((0, 3))}, "vertices: one at least is needed"),
        ({"vertices": [[0, np.inf, 0]]}, "vertices: the entry [0, 1] is not finite"),
        ({"center": [0, 0]}, "center: it has the shape (2,)"),
        ({"friction": -1}, "friction: -1 is neither"),
        ({"rounding": -1}, "rounding: a radius is negative"),
        ({"rounding": [0, 0]}, "rounding: "),
        ({"rounding": np.nan}, "rounding: the entry [0] is not finite"),
        ({"vertices": [[0, 0, 0]]}, "vertices: one at least is needed away from the center of mass, or with a rounding"),
    ],
)
def test_bad_bodies_are_named(change, told):
    with pytest.raises(carom.InputError) as error:
        poses.Body(**(BODY | change))
    assert told in str(error.value)


HEAD = "time,x,y,z,qw,qx,qy,qz\n"


@pytest.mark.parametrize(
    "text, told",
    [
        ("", "there is no line with the names of columns"),
        ("time,x,y,z,qw,qx,qy\n", "the column qz is missing"),
        (HEAD.replace("\n", ",x\n"), "two columns have one name"),
        (HEAD + "0,0,0,0,1,0,0\n", "line 2: it has 7 fields, and 8 columns have names"),
        ("# made by hand\n" + HEAD + "0,0,abc,0,1,0,0,0\n", "line 3: y: 'abc' is not a number"),
        (HEAD + "0,0,,0,1,0,0,0\n", "line 2: y: '' is not a number"),
        (HEAD + "0,0,inf,0,1,0,0,0\n", "line 2: y: 'inf' is not finite"),
        (HEAD + "0,0,0,0,1,0,0,0\n1,0,0,0,1,0,nan,0\n", "line 3: qy: 'nan' is not finite"),
        (HEAD, "times: there are no frames"),
    ],
)
def test_bad_csv_files_are_named(tmp_path, text, told):
    (tmp_path / "poses.csv").write_text(text)
    with pytest.raises(carom.InputError) as error:
        poses.read_csv(tmp_path / "poses.csv")
    assert told in str(error.value) and str(error.value).startswith(str(tmp_path / "poses.csv"))


def test_stored_velocities_are_not_used(tmp_path):
    (tmp_path / "poses.csv").write_text(HEAD.replace("\n", ",vx,group\n") + "0,1,2,3,1,0,0,0,9,toss b\n0,1,2,4,1,0,0,0,9,toss a\n")
    with pytest.warns(poses.PoseWarning, match="stored velocities are filtered"):
        times, positions, _, groups = poses.read_csv(tmp_path / "poses.csv")
    assert groups.tolist() == ["toss a", "toss b"] and positions[0].tolist() == [1, 2, 4]


@pytest.mark.parametrize(
    "told, error",
    [
        ("{", "it is not a JSON file"),
        ([], "an object with mass, inertia, vertices is needed"),
        (BODY | {"colour": 1}, "an object with mass, inertia, vertices is needed"),
        (BODY | {"plane": [0, 0, 1]}, "plane: an object with point and normal is needed"),
        (BODY | {"plane": {"point": [0, 0, 0], "normal": [0, 0, 0]}}, "plane: its normal is 0"),
        (BODY | {"plane": {"point": [0, 0], "normal": [0, 0, 1]}}, "plane: point: it has the shape (2,)"),
        (BODY | {"plane": {"point": "here", "normal": [0, 0, 1]}}, "plane: point: real numbers are needed"),
        (BODY | {"gravity": [0, 0, 0]}, "gravity: it is 0"),
        (BODY | {"mass": -1}, "mass: -1 is not a positive number"),
    ],
)
def test_bad_body_files_are_named(tmp_path, told, error):
    (tmp_path / "body.json").write_text(told if isinstance(told, str) else json.dumps(told))
    with pytest.raises(carom.InputError, match="body.json: " + re.escape(error)):
        poses.read_body(tmp_path / "body.json")
