# SPDX-License-Identifier: Apache-2.0
"""Worst cases: the numbers of `carom worst`, bit by bit."""
import os
import pickle
import signal
import threading

import numpy as np
import pytest

import carom


@pytest.mark.parametrize(
    "law, options, flags",
    [
        ("halm-posa", {"evaluations": 512}, ["--evaluations", "512"]),
        ("halm-posa", {"evaluations": 512, "seed": 3, "sampler": "lcp"}, ["--evaluations", "512", "--seed", "3", "--sampler", "lcp"]),
        ("routh", {"evaluations": 256}, ["--evaluations", "256"]),
        ("anitescu-potra", {}, []),
        ("sequential", {"order": "B,A"}, ["--order", "B,A"]),
        ("moreau", {"restitution": 0.5}, ["--restitution", "0.5"]),
    ],
)
def test_values_of_the_command(scenes, command, law, options, flags):
    scene = carom.load(scenes / "compass.yaml")
    document = command("worst", scenes / "compass.yaml", "--law", law, "--max", "Jn.B", "--max", "-Jt.A + Pn.B", *flags)
    for one, found in zip(document["worst"], carom.worst(scene, ["Jn.B", "-Jt.A + Pn.B"], law=law, **options)):
        assert (float(found), found.unit, found.complete) == (one["value"], one["unit"] or "", one["complete"])
        assert found.velocity.tolist() == one["v_plus"] and found.energy_ratio == one["energy_ratio"]
        assert (found.evaluations, found.samples, found.members) == (one["evaluations"], one["samples"], one["members"])
        assert found.verified and found.approximate == one["approximate"]
        assert list(found.word) == (one["word"] or [])
        assert np.allclose(found.path[-1], found.contact_velocity, atol=1e-9) and len(found.path) == one["pieces"] + 1
        assert np.allclose(found.path_impulse[-1], found.impulse, atol=1e-12)
        assert pickle.loads(pickle.dumps(found)).velocity.tolist() == found.velocity.tolist()


def test_uncertain_scenes_and_impacts(scenes):
    scene = carom.load(scenes / "block-uncertain.yaml")
    found = carom.worst(scene, "Jn.A", evaluations=1024)
    assert list(found.parameters) == ["v0.x", "v0.z", "v0.theta", "mu.A", "mu.B"]
    assert found.growth[-1, 1] == found >= found.samples_value
    # The impact alone is known.
    known = carom.worst(scene.impact, "Jn.A", evaluations=1024)
    assert known.parameters == {} and known < found
    assert known <= scene.impact.bound("Jn.A") + 1e-9


def test_threads_change_nothing(scenes):
    scene = carom.load(scenes / "compass.yaml")
    one, three = (carom.worst(scene, "-Jt.B + Pn.A", evaluations=1024, threads=threads) for threads in (1, 3))
    assert one == three and np.array_equal(one.path, three.path)


@pytest.mark.parametrize(
    "options, says",
    [
        ({"max": "Jn.X"}, "did you mean 'Jn.A'"),
        ({"max": 3}, "max: 3 is not a text"),
        ({"max": []}, "max: "),
        ({"max": "Jn.A", "seconds": 0}, "seconds: 0 is not positive"),
        ({"max": "Jn.A", "seconds": 1, "evaluations": 64}, "seconds: give either"),
        ({"max": "Jn.A", "evaluations": 0}, "evaluations: "),
        ({"max": "Jn.A", "seed": -1}, "seed: "),
        ({"max": "Jn.A", "samples": 16}, "samples: it has no meaning"),
        ({"max": "Jn.A", "law": "stronge"}, "this law takes one"),
        ({"max": "Jn.A", "law": "nothing"}, "law: there is no 'nothing'"),
        ({"max": "Jn.A", "law": "moreau", "weights": "single"}, "weights: "),
        ({"max": "Jn.A", "threads": 0}, "threads: "),
    ],
)
def test_bad_searches(scenes, options, says):
    with pytest.raises(carom.InputError, match=says):
        carom.worst(carom.load(scenes / "block.yaml"), **options)


def test_no_value_is_a_warning(scenes):
    with pytest.warns(carom.Incomplete, match="no outcome has a value of 'Pn.A'"):
        found = carom.worst(carom.load(scenes / "block.yaml"), "Pn.A", law="halm-posa-exact")
    assert found == -np.inf and np.isnan(found.velocity).all() and not found.complete


def test_interruption(scenes):
    scene = carom.load(scenes / "compass.yaml")
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            carom.worst(scene, "Jn.B", evaluations=2**39)
    finally:
        timer.cancel()
        timer.join()


def test_progress(scenes):
    calls = []
    carom.worst(carom.load(scenes / "block.yaml"), "Jn.A", evaluations=4096, progress=lambda done, total: calls.append(done / total))
    assert calls and calls == sorted(calls) and calls[-1] <= 1
