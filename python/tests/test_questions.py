# SPDX-License-Identifier: Apache-2.0
"""Questions about outcomes: the numbers of `carom query`, bit by bit."""
import json
import pickle
import threading
import time
import warnings

import _thread
import numpy as np
import pytest

import carom


@pytest.fixture
def sets(scenes, tmp_path):
    """Sampled and exact set of the block, and their files."""
    scene = carom.load(scenes / "block.yaml")
    outs = {"samples": scene.sample(1000, seed=1), "exact": scene.exact(), "sequential": scene.resolve("sequential")}
    for name, out in outs.items():
        out.save(tmp_path / f"{name}.h5")
    return outs


@pytest.mark.parametrize("which", ["samples", "exact", "sequential"])
@pytest.mark.parametrize("expression", ["Jn.A", "(Jn.A - 2*Jt.B)/3", "v.3 - Jn.B", "K", "Pn.A + Pt.B"])
def test_worst_cases(sets, which, expression, tmp_path, command):
    out = sets[which]
    if which == "exact" and "Pn" in expression:
        with pytest.raises(carom.InputError, match="max: halm-posa-exact determines no impulses"):
            out.max(expression)
        return
    document = command("query", tmp_path / f"{which}.h5", "--max", expression)
    for asked in (out, carom.read(tmp_path / f"{which}.h5"), pickle.loads(pickle.dumps(out))):
        most = asked.max(expression)
        assert most == document["maximum"] and most.unit == (document["unit"] or "") and most.certified == document["certified"]
        assert most.velocity.tolist() == document["v_plus"]
        assert np.array_equal(most.velocity, out.velocity[most.index])
        assert pickle.loads(pickle.dumps(most)).index == most.index


@pytest.mark.parametrize("axes", [["Jn.A", "Jn.B"], ["Jn.A", "Jt.A", "Jn.B"]])
def test_hulls(sets, axes, tmp_path, command):
    for which, out in sets.items():
        document = command("query", tmp_path / f"{which}.h5", "--hull", ",".join(axes))
        assert out.hull(axes) == out.hull(",".join(axes)) == document["area" if len(axes) == 2 else "volume"]


@pytest.mark.parametrize("metric", ["euclidean", "kinetic"])
def test_containment(sets, metric, tmp_path, command):
    velocities = np.array([[0.1, 0.2, 0.3], sets["samples"].velocity[5], sets["exact"].velocity[0]])
    for which, out in sets.items():
        answers = out.contains(velocities, metric=metric)
        for i, v in enumerate(velocities):
            (tmp_path / "v.yaml").write_text(json.dumps({"v": v.tolist()}))
            document = command("query", tmp_path / f"{which}.h5", "--contains", tmp_path / "v.yaml", "--metric", metric)
            one = out.contains(v, metric=metric)
            assert (bool(one), one.distance, one.unreachable) == (document["contained"], document["distance"], document["unreachable"])
            assert (one.unit, one.unreachable_unit) == (document["unit"], document["unreachable_unit"])
            assert one.nearest_velocity.tolist() == document["nearest"]["v_plus"]
            assert answers.contained[i] == one.contained and answers.distance[i] == one.distance
            assert np.array_equal(answers.nearest[i], one.nearest)
    assert not sets["samples"].contains(velocities) and sets["samples"].contains(velocities[0], 10)
    assert sets["samples"].contains(np.empty((0, 3))).contained.shape == (0,)


@pytest.mark.parametrize("metric", ["euclidean", "kinetic"])
def test_distances(sets, metric, tmp_path, command):
    for a, b in [("exact", "samples"), ("sequential", "exact")]:
        document = command("query", tmp_path / f"{a}.h5", "--distance", tmp_path / f"{b}.h5", "--metric", metric)
        for other in (sets[b], tmp_path / f"{b}.h5"):
            found = sets[a].distance(other, metric=metric)
            assert (found, found.a_to_b, found.b_to_a) == (document["hausdorff"], document["a_to_b"], document["b_to_a"])
            assert (found.gap, found.unit) == (document["gap"], document["unit"])
            assert found.worst_velocity.tolist() == document["worst_point"]["v_plus"]
            assert found.worst_velocity_of_b.tolist() == document["worst_point_of_b"]["v_plus"]


def test_questions_that_have_no_answer(sets, scenes, block):
    out = sets["samples"]
    for question, words in [
        (lambda: out.max("Jn.C"), "max: .*Jn.C"),
        (lambda: out.max(""), "max: "),
        (lambda: out.hull(["Jn.A"]), "hull: "),
        (lambda: sets["exact"].max("-K"), "max: the least energy"),
        (lambda: sets["exact"].hull(["K", "Jn.A"]), "hull: K is quadratic"),
        (lambda: out.contains([1, 2]), "v: it has the shape"),
        (lambda: out.contains([np.nan] * 3), "v: .* not finite"),
        (lambda: out.contains([1e308] * 3), "v: its distance"),
        (lambda: out.contains([0, 0, 0], -1), "tolerance: -1"),
        (lambda: out.contains([0, 0, 0], metric="taxi"), "metric: 'taxi'"),
        (lambda: out.distance(carom.load(scenes / "disks.yaml").resolve("moreau")), "contacts"),
        (lambda: out.distance(out, gap=float("nan")), "gap: nan"),
        (lambda: carom.Impact(**block).sample(100, keep="extent").max("Jn.A"), "halm-posa has no outcomes in memory"),
    ]:
        with pytest.raises(carom.InputError, match=words):
            question()
    other = carom.Impact(**{**block, "mass": 2 * block["mass"]}).sample(100)
    with pytest.warns(UserWarning, match="different impacts") as caught:
        out.distance(other)
    assert caught[0].filename == __file__
    corners = carom.Impact(**block).sample(1000, keep="hull", seed=1)
    assert corners.max("Jn.A") == pytest.approx(carom.Impact(**block).sample(1000, seed=1).max("Jn.A"), rel=1e-9)
    with pytest.warns(UserWarning, match="corners") as caught:
        corners.max("K")
    assert caught[0].filename == __file__


def test_a_sample_that_may_lie_outside_the_set_gives_no_lower_bound():
    """Random planar impacts: samples without the flag are in the exact set."""
    chance = np.random.default_rng(5)
    beyond = 0
    for trial in range(20):
        root, normal, tangent = chance.normal(size=(3, 3)), chance.normal(size=(2, 3)), chance.normal(size=(2, 3))
        friction, velocity = chance.uniform(0, 1.5, 2), chance.normal(size=3)
        if (normal @ velocity).min() > -0.05:
            velocity = -velocity
        impact = carom.Impact(root @ root.T + 0.3 * np.eye(3), normal, tangent, friction, velocity)
        try:
            out, exact = impact.sample(200), impact.exact(seconds=2)
        except carom.InputError:
            continue
        if not exact.complete or not len(out):
            continue
        flagged = (out["flags"] & 32) != 0
        assert out.info["approximate"] == flagged.sum()
        for axis in ("Jn.A", "Jt.A", "Jn.B", "Jt.B"):
            for sign in ("", "-"):
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", "max: .*no lower bound")
                    most, bound = out.max(sign + axis), exact.max(sign + axis)
                assert most.approximate == flagged[most.index] and not most.certified
                assert bound.certified and not bound.approximate
                assert most.approximate or most <= bound + 1e-8 * impact.velocity_scale
                beyond += most > bound + 1e-8 * impact.velocity_scale
    assert beyond


def test_caveats_say_what_the_command_says(scenes, tmp_path):
    """A single spatial contact that slides: its one outcome is that of the law stronge, and no sample of time stepping ends there."""
    impact = carom.Impact([[2, 0, 0.3], [0, 1, 0.4], [0.3, 0.4, 1]], [[0, 0, 1]], [[1, 0, 0], [0, 1, 0]], 0.3, [0.4, 0.3, -1])
    out, walks = impact.sample(64, max_steps=1000), impact.sample(64, sampler="walk")
    exact = impact.resolve("stronge")
    assert np.abs(walks.contact_velocity - exact.contact_velocity).max() < 1e-6
    assert np.abs(out.contact_velocity - exact.contact_velocity).max() > 1e-3
    (caveat,) = out.caveats
    assert caveat.startswith("64 of 64 outcomes may lie outside the set by O(h), and by the edges of their friction cones")
    assert out.extent["approximate"] == 64 and walks.extent["approximate"] == 0 and walks.caveats == exact.caveats == ()
    assert caveat in repr(out) and caveat in out._repr_html_() and "outside" not in repr(walks) + walks._repr_html_()
    with pytest.warns(UserWarning, match="no lower bound") as caught:
        most = out.max("Jt.A")
    assert caught[0].filename == __file__ and most.approximate
    assert repr(most).endswith("no lower bound: it may lie outside the set by O(h)>")
    assert repr(walks.max("Jt.A")).endswith("a lower bound>")
    # A member is found by the search: the one outcome. Of walks each is a member.
    assert most.inner == pytest.approx(exact.contact_velocity[0, 1], abs=1e-6) and most.source == "search"
    best = walks.max("Jt.A")
    assert best.inner == best and best.source == "samples" and exact.max("Jt.A").inner == exact.max("Jt.A")
    for ask in (lambda: out.hull(["Jt.A", "Jn.A"]), lambda: out.contains(exact.velocity[0]), lambda: walks.distance(out)):
        with pytest.warns(UserWarning, match="64 of 64 outcomes may lie outside the set") as caught:
            ask()
        assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        walks.hull(["Jt.A", "Jn.A"]), walks.contains(exact.velocity[0]), walks.distance(exact)
    # Of what is not kept, too, in files and copies.
    part = impact.sample(64, max_steps=1000, keep="extent")
    part.save(tmp_path / "part.h5")
    out.save(tmp_path / "all.h5")
    for again in (part, carom.read(tmp_path / "part.h5"), carom.read(tmp_path / "all.h5"), pickle.loads(pickle.dumps(part))):
        assert again.caveats == (caveat,)
    both = carom.compare(impact, ["halm-posa", "stronge"], samples=64, max_steps=1000)
    assert both.caveats == (f"halm-posa: {caveat}",) and caveat in repr(both)
    assert "no lower bound" in repr(carom.worst(impact, "Jt.A", sampler="lcp", evaluations=64))


def test_samples_that_may_lie_outside_are_counted_among_outcomes(scenes):
    disks = carom.load(scenes / "disks-5kg.yaml")
    for options in ({"max_steps": 8}, {"max_steps": 8, "epsilon": 0.1}, {"max_steps": 8, "paths": 4}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", carom.Incomplete)
            out = disks.sample(512, sampler="lcp", **options)
        assert 0 < out.info["approximate"] == ((out["flags"] & 32) != 0).sum() < 512


@pytest.mark.parametrize("change", [{"friction": 0.5}, {"velocity": [0, -0.4, 0]}, {"restitution": 0.5}, {"names": ["left", "right"]}])
def test_sets_of_different_impacts(change, block):
    out = carom.Impact(**block).sample(200)
    with pytest.warns(UserWarning, match="different impacts"):
        out.distance(carom.Impact(**{**block, **change}).sample(200))


def test_an_outer_set_is_called_one(block):
    with pytest.warns(carom.Incomplete):
        out = carom.Impact(**block).exact(pieces=1)
    assert out.info["certificate"] == "none" and out.outer.info["certificate"] == "outer"
    assert not out.outer.max("Jn.A").certified
    assert out.outer.max("Jn.A") >= carom.Impact(**block).exact().max("Jn.A")


def test_a_question_can_be_interrupted(scenes):
    disks = carom.load(scenes / "disks.yaml").impact
    with pytest.warns(carom.Incomplete):
        outer = disks.exact(pieces=1, seconds=4).outer
    if outer is None:
        pytest.skip("the machine is too busy for an outer set in 4 s")
    samples = disks.sample(200_000)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    # In the middle of the search, which goes on for half a minute: what stands behind it is not reached.
    finished = False
    with pytest.raises(KeyboardInterrupt):
        outer.distance(samples, gap=0)
        finished = True
        time.sleep(10)
    assert not finished
    timer.join()


def test_every_object_says_what_it_is_in_one_line(scenes):
    scene = carom.load(scenes / "block.yaml")
    out, exact = scene.sample(1000, seed=1), scene.exact()
    worst = out.max("Jn.A")
    shown = [
        (worst, f" m/s in outcome {worst.index}, a lower bound>"),
        (exact.max("Jn.A"), ", certified>"),
        (exact.distance(out), "<carom.Distance: 0.00106656 m/s, a_to_b 0.00106656, b_to_a "),
        (exact.contains(out.velocity), "<carom.Containment: 1000 of 1000 velocities, at most "),
        (exact.contains(out.velocity[0] + 1), "<carom.Containment: False, at most "),
        (scene.impact.geometry, "<carom.Geometry: 2 contacts of world, block>"),
        (carom.compare(scene, ["routh"]), "<carom.Comparison of 1 law: routh 1>"),
    ]
    objects = [scene, scene.impact, out, exact, exact.pieces[0], carom.law("routh"), carom.sample_many([scene.impact])]
    for made, words in [*shown, *((made, "<carom.") for made in objects)]:
        assert repr(made).startswith("<carom.") and "\n" not in repr(made) and words in repr(made), repr(made)
    # Printed and computed with, they are numbers.
    assert str(worst) == repr(float(worst)) and f"{worst:.3f}" == "0.093" and type(worst + 1) is float


@pytest.mark.parametrize("keep", ["extent", "hull"])
def test_files_of_part_of_the_outcomes(keep, tmp_path, scenes, command):
    out = carom.load(scenes / "block.yaml").sample(1000, seed=1, keep=keep)
    out.save(tmp_path / "part.h5")
    command("sample", scenes / "block.yaml", "--samples", 1000, "--seed", 1, "--keep", keep, "-o", tmp_path / "command.h5")
    for read in (carom.read(tmp_path / "part.h5"), carom.read(tmp_path / "command.h5"), pickle.loads(pickle.dumps(out))):
        assert read.keep == keep and np.array_equal(read.velocity, out.velocity)
        for name in ("normal", "tangent", "energy_ratio"):
            assert np.array_equal(read.extent[name], out.extent[name])
        assert read.extent["outcomes"] == out.extent["outcomes"] == 1000 and read.modes() == out.modes()
        assert all(sum(modes.values()) == 1000 for modes in read.modes().values())
        read.save(tmp_path / "again.h5")
        assert carom.read(tmp_path / "again.h5").modes() == out.modes()
    if keep == "hull":
        with pytest.warns(UserWarning, match="corners"):
            carom.read(tmp_path / "part.h5").max("K")


def test_files_whose_extent_lacks_the_modes(tmp_path, block):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "part.h5"
    out = carom.Impact(**block).sample(1000, seed=1, keep="hull")
    out.save(path)
    with h5py.File(path, "r+") as file:
        file["halm-posa/extent/modes"][0, 0] += 1
    with pytest.raises(carom.InputError, match="modes of halm-posa/extent do not add up to its outcomes"):
        carom.read(path)
    # Files of older versions have neither.
    with h5py.File(path, "r+") as file:
        del file["halm-posa/extent/modes"], file["halm-posa/extent"].attrs["outcomes"]
    read = carom.read(path)
    read.save(tmp_path / "again.h5")
    for old in (read, carom.read(tmp_path / "again.h5")):
        assert old.extent["outcomes"] is None and np.array_equal(old.extent["normal"], out.extent["normal"])
        with pytest.raises(carom.InputError, match='modes: the file has keep="hull", and does not say them'):
            old.modes()
        assert "samples kept" in old.plot().get_legend_handles_labels()[1][0]


def test_files_of_the_command(scenes, tmp_path):
    """What the command writes, the package and h5py read: the same numbers."""
    import subprocess

    from conftest import COMMAND

    h5py = pytest.importorskip("h5py")
    for words, law in [(["sample"], "halm-posa"), (["exact"], "halm-posa-exact"), (["resolve", "--law", "sequential"], "sequential")]:
        path = tmp_path / f"{law}.h5"
        done = subprocess.run([COMMAND, words[0], scenes / "block.yaml", *words[1:], "-o", path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        read = carom.read(path)
        with h5py.File(path) as file:
            group = file[law]
            verdict = group.attrs["verdict"]
            assert read.info["verdict"] == (verdict.decode() if isinstance(verdict, bytes) else verdict)
            for name, column in read.columns.items():
                if column.type in ("real", "integer"):
                    assert np.array_equal(read[name].ravel(), group[name][()].ravel(), equal_nan=column.type == "real"), name


def test_bounds(scenes, command):
    impact = carom.load(scenes / "block.yaml").impact
    document = command("bound", scenes / "block.yaml", "--max", "Jn.A", "--planes", "3", "--walks", "0")["bounds"][0]
    bound = impact.bound("Jn.A", planes=3, seconds=None)
    assert isinstance(bound, carom.Bound) and bound == document["certified"] and bound.unit == document["unit"]
    assert (bound.method, bound.planes, bound.simplices) == (document["method"], document["planes"], document["simplices"])
    assert bound >= impact.exact().max("Jn.A") - 1e-12 and bound.energy >= bound
    # A box of velocities, and intervals of friction, never give less.
    corners = impact.velocity + 0.05 * np.array([[i, 0, k] for i in (-1, 1) for k in (-1, 1)])
    box = impact.bound("Jn.A", planes=3, seconds=None, start=corners)
    assert box > bound
    assert impact.bound("Jn.A", planes=0, start=corners, friction=[[0.5, 1], [1, 1]]) >= box - 1e-12
    assert -impact.bound("-Jn.A") <= impact.exact().max("Jn.A")
    for wrong, message in [({"start": [[0, 0]]}, "start"), ({"friction": [1, 2]}, "friction"), ({"planes": -1}, "planes"),
                           ({"friction": [[1, 0.5], [1, 1]]}, "friction"), ({"seconds": 0}, "seconds")]:  # fmt: skip
        with pytest.raises(carom.InputError, match=message):
            impact.bound("Jn.A", **wrong)
    with pytest.raises(carom.InputError, match="bound"):
        impact.bound("Pn.A")
    with pytest.raises(carom.InputError, match="bound"):
        impact.bound("Jn.nobody")
