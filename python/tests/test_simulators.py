# SPDX-License-Identifier: Apache-2.0
"""The harness of benchmarks/simulators, without any simulator: mechanisms, the run through an impact, and the numbers of its page."""
import json
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import simulators.__main__ as harness  # noqa: E402
from simulators import adapters, page, scenes  # noqa: E402
from simulators.drive import run_through  # noqa: E402
from simulators.mechanism import WORLD, Body, Contact, Joint, Mechanism, touching_shapes  # noqa: E402

X, Y, Z = np.eye(3)


def block():
    """scenes/block.yaml as a mechanism."""
    joints = (Joint("slide", X, Z), Joint("slide", Z, Z), Joint("hinge", -Y, Z))
    body = Body("block", 1.0, scenes.box_inertia(1.0, (1, 0.5, 2)), Z, WORLD, joints)
    contacts = tuple(Contact(name, WORLD, 0, x * X, Z, X[None], 1.0) for name, x in (("A", -0.5), ("B", 0.5)))
    return Mechanism("block", (body,), contacts, np.array([0, -0.44294469180700204, 0]))


def leg():
    """A free trunk with a thigh and a shank, whose foot and whose trunk touch the floor: bodies in a chain, and a fork."""
    free = scenes.free_body("trunk", 3.0, np.diag([0.1, 0.2, 0.3]), [0, 0, 1.0])
    thigh = Body("thigh", 1.0, 0.02 * np.eye(3), np.array([0.1, 0, 0.8]), 0, (Joint("hinge", Y, np.array([0, 0, 0.9])),))
    shank = Body("shank", 0.5, 0.01 * np.eye(3), np.array([0.1, 0, 0.3]), 1, (Joint("hinge", Y, np.array([0.2, 0, 0.5])),))
    arm = Body("arm", 0.4, 0.01 * np.eye(3), np.array([0, 0.4, 1.0]), 0, (Joint("slide", Y, np.array([0, 0.2, 1.0])),))
    contacts = (scenes.floor_contact("foot", 2, [0, 0, 0], 0.7), scenes.floor_contact("hand", 3, [0, 0.5, 0], 0.7, first=1))
    return Mechanism("leg", (free, thigh, shank, arm), contacts, np.linspace(-1, 0.8, 9))


def contact_problem(mechanism):
    rows = mechanism.contact_rows()
    return rows @ np.linalg.solve(mechanism.mass_matrix(), rows.T), rows @ mechanism.velocity


def test_mechanism_is_the_scene():
    import carom

    mine, shipped = block().impact(), carom.load(ROOT / "scenes" / "block.yaml").impact
    assert mine.delassus == pytest.approx(shipped.delassus, abs=1e-14)
    assert mine.contact_velocity(mine.velocity) == pytest.approx(shipped.contact_velocity(shipped.velocity), abs=1e-14)


def test_jacobians_are_derivatives_of_motion():
    # A hinge turns what hangs on it: the foot moves by w x r of both hinges of the leg.
    mechanism = leg()
    velocity = np.zeros(9)
    velocity[6:8] = 0.3, -0.2
    foot = 0.3 * np.cross(Y, -np.array([0, 0, 0.9])) - 0.2 * np.cross(Y, -np.array([0.2, 0, 0.5]))
    rows = mechanism.contact_rows()[:3]
    assert rows @ velocity == pytest.approx([foot[2], foot[0], foot[1]])


@pytest.mark.parametrize("make", [block, leg, scenes.stack, scenes.chain])
def test_variants_are_the_same_impact(make):
    mechanism = make()
    delassus, before = contact_problem(mechanism)
    image, signs = mechanism.mirrored()
    assert contact_problem(image)[0] == pytest.approx(delassus, abs=1e-9)
    assert contact_problem(image)[1] == pytest.approx(before)
    assert image.velocity * signs == pytest.approx(mechanism.velocity)
    large, scales = mechanism.enlarged(1e3)
    assert contact_problem(large)[0] == pytest.approx(delassus, rel=1e-9, abs=1e-9)
    assert contact_problem(large)[1] == pytest.approx(before)
    assert large.velocity * scales == pytest.approx(mechanism.velocity)
    other, index = mechanism.reversed_bodies()
    assert contact_problem(other)[0] == pytest.approx(delassus, abs=1e-9)
    assert other.velocity == pytest.approx(mechanism.velocity[index])
    assert other.velocity[np.argsort(index)] == pytest.approx(mechanism.velocity)
    stride = 1 + mechanism.tangent_dim
    turned = np.arange(len(before)).reshape(-1, stride)[::-1].ravel()
    assert contact_problem(mechanism.reversed_contacts())[1] == pytest.approx(before[turned])


def test_reversed_bodies_turn_siblings_round():
    other, index = leg().reversed_bodies()
    assert [body.name for body in other.bodies] == ["trunk", "arm", "thigh", "shank"]
    assert [body.parent for body in other.bodies] == [WORLD, 0, 0, 2]
    assert index.tolist() == [0, 1, 2, 3, 4, 5, 8, 6, 7]


def test_links_move_one_joint_each():
    links, own = block().links()
    assert [(link.joint.kind, link.parent) for link in links] == [("slide", WORLD), ("slide", 0), ("hinge", 1)] and own == [2]
    assert links[2].mass == 1.0 and links[0].mass < 1e-8


@pytest.mark.parametrize("make", [block, leg, scenes.stack, scenes.chain])
def test_shapes_touch_at_the_contacts_only(make):
    mechanism = make()
    seen = []
    for pad in touching_shapes(mechanism):
        for k, body, center in pad.balls:
            contact = mechanism.contacts[k]
            seen.append(k)
            assert body == contact.second and pad.body == contact.first
            # In the axes of the box the ball stands on the middle of a face, well within its edges.
            local = pad.turn.T @ (center - pad.center)
            assert local[2] - pad.half[2] == pytest.approx(pad.radius)
            assert (np.abs(local[:2]) + pad.radius < pad.half[:2]).all()
            assert pad.turn @ [0, 0, 1] == pytest.approx(contact.normal) and np.linalg.det(pad.turn) == pytest.approx(1)
    assert sorted(seen) == list(range(len(mechanism.contacts)))


def test_random_boxes_come_down_with_every_corner():
    boxes = scenes.random_boxes(40)
    assert [len(box.contacts) for box in boxes[:4]] == [2, 4, 2, 4]
    for box in boxes:
        assert (box.contact_rows() @ box.velocity)[::3].max() < -0.09
        assert np.ptp([contact.point[2] for contact in box.contacts]) < 1e-12 and box.contacts[0].point[2] == pytest.approx(0)
        assert min(body.center[2] for body in box.bodies) > 0
    again = scenes.random_boxes(40)
    assert all((a.velocity == b.velocity).all() for a, b in zip(boxes, again))


def test_known_answers_obey_contact_laws():
    for case in scenes.known_cases():
        rows = case.mechanism.contact_rows()
        before, after = rows @ case.mechanism.velocity, rows @ case.answer
        name = case.mechanism.name
        if name == "free flight":
            assert case.answer == pytest.approx(case.mechanism.velocity)
        elif "elastic" in name:
            assert after[0] == pytest.approx(-before[0])
            assert case.mechanism.impact().kinetic_energy(case.answer) == pytest.approx(case.mechanism.impact().kinetic_energy(case.mechanism.velocity))
        else:
            assert after[0] == pytest.approx(0, abs=1e-12)
            assert name != "sticks" or np.abs(after).max() < 1e-12
            # The mass is hit below its centre at 1 m/s: friction of 0.2 takes 0.2 m/s at the centre, and turns the box besides.
            assert name != "slides" or (after[1] > 0 and case.answer[0] == pytest.approx(2.0 - 0.2))


def test_measured_impacts_are_those_of_the_file():
    given = json.loads((ROOT / "examples" / "cube-impacts.json").read_text())["impacts"]
    measured = scenes.read_measured(0.2, 0.3)
    assert len(measured) == 60
    for one, (mechanism, outcome) in zip(given, measured):
        rows = mechanism.contact_rows().reshape(-1, 3, 6)
        assert rows[:, 0] == pytest.approx(np.array(one["Jn"]), abs=1e-9)
        assert rows[:, 1:].reshape(-1, 6) == pytest.approx(np.array(one["Jt"]), abs=1e-9)
        assert mechanism.mass_matrix() == pytest.approx(np.array(one["M"]), abs=1e-12)
        assert outcome == pytest.approx(one["vp"])
        assert scenes.inelastic(mechanism).contacts[0].restitution == 0


class Spring:
    """Stops the block by a spring of 20 ms that pushes it back at half its speed."""

    def __init__(self, mechanism, dt, creep=0.0):
        self.dt, self.time, self.start, self.creep = dt, 0.0, mechanism.velocity, creep

    def step(self):
        self.time += self.dt

    def velocity(self):
        share = min(self.time / 0.02, 1.0)
        return self.start * (1 - 1.5 * share) + np.array([self.creep * self.time, 0, 0])


@pytest.mark.parametrize("dt", [1e-4, 2e-3, 1e-2])
def test_runs_end_after_the_spring_has_let_go(dt):
    mechanism = block()
    velocity, time, ended = run_through(Spring(mechanism, dt), mechanism)
    # At 13 ms nothing approaches any more, but the spring still pushes.
    assert ended and 0.02 <= time < 0.02 + 6e-3 + 2 * dt and velocity == pytest.approx(-0.5 * mechanism.velocity)


def test_runs_say_when_they_do_not_end():
    mechanism = block()
    _, time, ended = run_through(Spring(mechanism, 1e-3, creep=10.0), mechanism, horizon=0.1)
    assert not ended and time == pytest.approx(0.1)

    class Breaks(Spring):
        def velocity(self):
            return np.full(3, np.nan)

    with pytest.raises(ArithmeticError, match="not finite"):
        run_through(Breaks(mechanism, 1e-3), mechanism)


def told(monkeypatch, *processes):
    """Worker processes that say these lines and end with these codes; what they were given."""
    given, left = [], list(processes)

    def run(words, input, **_):
        given.append(len(pickle.loads(input)))
        lines, code = left.pop(0)
        said = "\n".join(json.dumps(line) for line in [{"name": "Fake"}, *lines]) + "\n"
        return subprocess.CompletedProcess(words, code, said.encode(), b"")

    monkeypatch.setattr(harness.subprocess, "run", run)
    return given


def answer(job, left=0, variant=""):
    return {"job": job, "variant": variant, "variants_left": left}


JOBS = [(block(), "default", ("contacts",))] * 3


def test_a_crash_costs_its_own_run_only(monkeypatch):
    # In a variant of the first job; before the last job; after the last one.
    given = told(monkeypatch, ([answer(0, 1)], -11), ([answer(0, 1), answer(0, 0, "contacts")], -11))
    _, answers, why = harness.run_simulator("fake", JOBS)
    assert given == [3, 2] and why is None
    assert [(a["job"], a["variant"], "error" in a) for a in answers] == [
        (0, "", False), (0, "broken", True), (1, "", False), (1, "contacts", False), (2, "", True)
    ]  # fmt: skip
    told(monkeypatch, ([answer(k) for k in range(3)], -6))
    _, answers, _ = harness.run_simulator("fake", JOBS)
    assert [a["job"] for a in answers] == [0, 1, 2] and not any("error" in a for a in answers)


def test_an_interrupted_worker_is_not_started_again(monkeypatch):
    given = told(monkeypatch, ([answer(0)], -2))
    assert harness.run_simulator("fake", JOBS)[2] == "interrupted" and given == [3]


def test_simulators_that_do_not_load_are_left_out(monkeypatch):
    monkeypatch.setattr(harness, "LOAD_TIMEOUT", 0.0)
    assert harness.ask_settings("ode") == {"left_out": "not loaded within 0 s"}


def test_boxes_whose_plain_run_failed_have_no_variants():
    pytest.importorskip("scipy")
    box = scenes.random_boxes(1)[0]
    run = {"scene": box.name, "setting": "default", "velocity": box.velocity.tolist(), "ended": True}

    class Everywhere:
        speed, gap = 1.0, (0.0, 0.0)

        def distance(self, points):
            return np.zeros(len(points))

    given = [{"scene": box.name, "setting": "default", "variant": "", "error": "broke"}, {**run, "variant": "contacts"}]
    assert harness.measure_boxes([box], [Everywhere()], {"Fake": given})["groups"] == {}
    table = harness.measure_boxes([box], [Everywhere()], {"Fake": [{**run, "variant": ""}, {**run, "variant": "contacts"}]})["groups"]
    assert table[box.group]["Fake"]["default"]["contacts"] == [0.0] * 5


@pytest.mark.parametrize("words, says", [
    (["--boxes", "-1"], "--boxes: -1 is less than 0"),
    (["--walks", "0"], "--walks: 0 is less than 64"),
    (["--simulators", "mujoko"], "there is no 'mujoko': choose among mujoco"),
    (["--carom", "/nowhere"], "--carom: /nowhere is no file"),
    (["--out", "/dev/null/here"], "--out: "),
])  # fmt: skip
def test_what_cannot_be_run_is_refused_first(monkeypatch, capsys, words, says):
    monkeypatch.setattr(sys, "argv", ["simulators", *words])
    with pytest.raises(SystemExit) as refusal:
        harness.main()
    assert refusal.value.code == 2 and says in capsys.readouterr().err


def test_known_cases_are_told_without_a_default():
    results = {"simulators": {"Fake": {}}, "known": {"slides": {"Fake": {"default": "broke", "other": 0.5}}}}
    assert "| slides | –; 0.500 (other) |" in page.table_known(results)


def test_variants_fail_on_their_own():
    broke = [{"setting": s, "variant": v, "error": "broke"} for s, v in (("a", ""), ("a", "mirror"), ("b", "mirror"))]
    assert harness.failures([*broke, {"setting": "b", "variant": "", "velocity": []}]) == {"a": "broke", "b / mirror": "broke"}


def test_the_page_says_what_is_left_out(monkeypatch, tmp_path):
    results = json.loads((ROOT / "docs" / "simulators.json").read_text())
    results["scenes"]["block"]["simulators"]["Drake"]["failed"] = {"TAMSI / mirror": "broke"}
    monkeypatch.setattr(page, "draw", lambda *_: [])
    page.write(tmp_path, results, {}, {})
    lines = (tmp_path / "index.md").read_text().split("\n")
    assert "Left out on block: Drake, TAMSI / mirror: broke" in lines
    assert "Left out on compass: ODE, all settings: needs bodies with mass and inertia" in lines


def test_differences_pass_over_round_off():
    old = {"a": [1.0, 2e-9], "b": None, "c": "x"}
    assert page.differences(old, {"a": [1.0 + 1e-9, 1e-9], "b": None, "c": "x"}) == []
    assert page.differences(old, {"a": [1.1, 2e-9], "b": None, "c": "y"}) == ["/a/0: 1.0 before, 1.1 now", "/c: x before, y now"]


def test_every_number_of_the_page_is_in_the_results():
    results = json.loads((ROOT / "docs" / "simulators.json").read_text())
    text = (ROOT / "docs" / "simulators.md").read_text()
    for name, table in page.TABLES.items():
        assert table(results) in text, f"the table {name!r} is not that of simulators.json"
    # Every name of an adapter is that of a file, and no table is without its simulator.
    assert {path.stem for path in (ROOT / "benchmarks" / "simulators" / "adapters").glob("*.py")} == {*adapters.NAMES, "__init__"}
    assert len(results["simulators"]) + sum(name in results["left_out"] for name in adapters.NAMES) == len(adapters.NAMES)
    for figure in re.findall(r"\((figures/[^)]*)\)", text):
        assert (ROOT / "docs" / figure).exists()
