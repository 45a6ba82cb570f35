# SPDX-License-Identifier: Apache-2.0
"""Files beside other users of them: errors of the system, modes, h5py, names of contacts."""
import os
import pickle
import stat

import h5py
import numpy as np
import pytest

import carom
from carom._pictures import label


@pytest.mark.parametrize("ask", [carom.read, carom.load, lambda path: carom.load(path).impact])
def test_files_that_are_not_there(ask, tmp_path):
    with pytest.raises(FileNotFoundError, match="none.h5"):
        ask(tmp_path / "none.h5")


def test_other_errors_of_the_system(block, tmp_path):
    out = carom.Impact(**block).sample(100)
    with pytest.raises(FileNotFoundError, match="no/set.h5"):
        out.distance(tmp_path / "no" / "set.h5")
    with pytest.raises(FileNotFoundError, match="cannot be written"):
        out.save(tmp_path / "no" / "set.h5")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="cannot be written"):
        out.save(tmp_path / "file" / "set.h5")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_files_keep_their_modes(mode, block, tmp_path):
    path = tmp_path / "set.h5"
    out = carom.Impact(**block).sample(100)
    before = os.umask(0o027)
    try:
        out.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(mode)
        out.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(before)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_files_that_h5py_has_open(mode, block, tmp_path):
    path = tmp_path / "set.h5"
    out = carom.Impact(**block).sample(100)
    out.save(path)
    with h5py.File(path, mode) as file:
        assert np.array_equal(carom.read(path).velocity, file["halm-posa/v_plus"])
        # From a function that libhdf5 calls, too.
        seen = []
        file.visit(lambda name: seen.append(len(carom.read(path))) if name == "impact" else None)
        assert seen == [len(out)]


def test_no_two_axes_have_one_name():
    impact = {"mass": np.eye(3), "friction": 1, "velocity": [0, 0, -1]}
    normal = [[0, 0, 1], [0, 0, 1]]
    spatial = {"normal": normal, "tangent": [[1, 0, 0], [0, 1, 0]] * 2}
    for name in ("A.1", "A.2"):
        with pytest.raises(carom.InputError, match=f"names\\[1\\] is '{name}', and tangent {name[2]} of contact 'A' is called so, too"):
            carom.Impact(**impact, **spatial, names=["A", name])
    assert "A.3" in carom.Impact(**impact, **spatial, names=["A", "A.3"]).names
    planar = carom.Impact(**impact, normal=normal, tangent=[[1, 0, 0]] * 2, names=["A", "A.2"])
    assert planar.names == ("A", "A.2")
    out = carom.Impact(**impact, **spatial, names=["A", "B.2"]).sample(200)
    for name in out.axes():
        assert out.max(name) == pytest.approx(out[name].max(), rel=1e-12)


def test_outer_sets_are_in_files(tmp_path, scenes, block):
    # A budget of pieces ends the run before the set is complete, whatever the machine.
    found = carom.load(scenes / "compass.yaml").exact(pieces=20)
    assert found.info["certificate"] == "inner" and found.outer is not None
    found.save(tmp_path / "set.h5")
    again = carom.read(tmp_path / "set.h5")
    assert isinstance(again, carom.Polytopes) and again.law == found.law
    np.testing.assert_array_equal(again.outer.velocity, found.outer.velocity)
    assert again.outer.info["certificate"] == "outer" and len(again.outer.pieces) == len(found.outer.pieces)
    # A complete set has none.
    carom.Impact(**block).exact().save(tmp_path / "whole.h5")
    assert carom.read(tmp_path / "whole.h5").outer is None


def test_uncertain_scenes_keep_what_was_drawn(tmp_path, command):
    """v+ = 1 - mu for a particle that slides: in memory, in a copy, and in a file."""
    scene = tmp_path / "case.yaml"
    scene.write_text("matrices: {M: [[1, 0], [0, 1]], Jn: [[0, 1]], Jt: [[1, 0]], mu: [0.5], v: [1, -1]}\n"
                     "uncertain: {friction: {A: [0.1, 0.6]}}\n")
    loaded = carom.load(str(scene))
    out = loaded.sample(60, nested=12)
    assert out.info["draws"] == 12 and out["friction"].shape == (60, 1)
    assert np.array_equal(out["draw"], np.repeat(np.arange(12), 5))
    out.save(str(tmp_path / "out.h5"))
    for one in (out, pickle.loads(pickle.dumps(out)), carom.read(str(tmp_path / "out.h5"))):
        assert np.allclose(one.velocity[:, 0], 1 - one["friction"][:, 0], rtol=0, atol=1e-12)
        assert np.array_equal(one["draw"], out["draw"])
    assert label(out) == "halm-posa (uncertain impact: 60 samples of a union of sets)"
    # An exact set keeps the vertices that it began with.
    scene.write_text("matrices: {M: [[1, 0], [0, 1]], Jn: [[0, 1]], Jt: [[1, 0]], mu: [0.5], v: [1, -1]}\n"
                     "uncertain: {velocity: {vertices: [[1, -1], [2, -1]]}}\n")
    command("exact", scene, "-o", tmp_path / "set.h5")
    assert np.array_equal(carom.read(tmp_path / "set.h5").info["start"], [[1, -1], [2, -1]])
    # Everything else is asked of the impact as the scene has it.
    assert "draw" not in loaded.resolve("moreau").columns and "draw" not in loaded.impact.sample(5).columns


def test_what_solutions_pass_through_is_in_files(scenes, tmp_path, command):
    path = tmp_path / "set.h5"
    document = command("exact", scenes / "block.yaml", "--reached", "-o", path)
    found = carom.read(path)
    assert found.law == "halm-posa-exact" and len(found.pieces) == len(document["pieces"])
    reached = carom.read(path, law="halm-posa-exact-reached")
    assert len(reached.pieces) == len(document["reached"]) > len(found.pieces)
    assert reached.info["certificate"] == "exact"
