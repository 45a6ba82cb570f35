# SPDX-License-Identifier: Apache-2.0
"""Names of velocities and places of contacts: given, read back, copied, checked."""
import copy
import pickle

import numpy as np
import pytest

import carom


@pytest.fixture
def place():
    return carom.Geometry(
        points=np.array([[-0.5, 0, 0], [np.nan] * 3]),
        normals=np.array([[0, 0, 1], [np.nan] * 3]),
        tangents=np.array([[1, 0, 0], [np.nan] * 3]),
        bodies=(("world", "block"), (None, None)),
        geoms=(("floor", None), (None, None)),
        qpos=np.array([0.0, 1, 0]),
    )


def test_what_is_given_is_read_back_and_copied(block, place):
    impact = carom.Impact(**block, velocity_names=["x", "z", "turn"], velocity_turns=[0, 0, 1], geometry=place)
    for own in (impact, pickle.loads(pickle.dumps(impact)), copy.deepcopy(impact)):
        assert own.velocity_names == ("x", "z", "turn") and own.velocity_turns == (False, False, True)
        found = own.geometry
        assert found.bodies == place.bodies and found.geoms == place.geoms
        for name in ("points", "normals", "tangents", "qpos"):
            assert np.array_equal(getattr(found, name), getattr(place, name), equal_nan=True)
    points = impact.geometry.points
    del impact, own, found
    assert points[0].tolist() == [-0.5, 0, 0] and not points.flags.writeable


def test_nothing_is_known_of_matrices(block):
    impact = carom.Impact(**block)
    assert impact.velocity_names is None and impact.velocity_turns is None and impact.geometry is None
    named = carom.Impact(**block, velocity_names=["x", "z", "turn"])
    assert named.velocity_names == ("x", "z", "turn") and named.velocity_turns is None and named.geometry is None


def test_scenes_bring_theirs(scenes):
    impact = carom.load(scenes / "quadruped.yaml").impact
    assert impact.velocity_names[:4] == ("root.x", "root.y", "root.z", "root.wx")
    assert impact.geometry.points.shape == (4, 3) and impact.geometry.qpos.shape == (19,)
    assert impact.geometry.geoms[0] == ("floor", "front_left")


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        ({"velocity_names": ["x", "z"]}, "velocity_names: a list of 3 texts is needed, one for each velocity"),
        ({"velocity_names": ["x", "z", "x"]}, "x"),
        ({"velocity_turns": [True]}, "velocity_turns: 3 truth values are needed"),
    ],
)
def test_bad_names(wrong, sentence, block):
    with pytest.raises(carom.InputError, match=sentence):
        carom.Impact(**block, **wrong)


@pytest.mark.parametrize("name, value", [("points", np.zeros((3, 3))), ("bodies", (("a", "b"),)), ("geoms", ((1, 2), (3, 4)))])
def test_bad_geometry(name, value, block, place):
    given = {field: getattr(place, field) for field in ("points", "normals", "tangents", "bodies", "geoms", "qpos")}
    with pytest.raises(carom.InputError, match=f"geometry.{name}"):
        carom.Impact(**block, geometry=carom.Geometry(**{**given, name: value}))


def test_directions_are_unit_vectors(block):
    own = dict(bodies=((None, None),) * 2, geoms=((None, None),) * 2, points=np.zeros((2, 3)))
    up, along = [[0, 0, 1]] * 2, [[1, 0, 0]] * 2
    carom.Impact(**block, geometry=carom.Geometry(normals=np.array(up), tangents=np.array(along), **own))
    with pytest.raises(carom.InputError, match=r"geometry.normals\[1\]: its length is 8.7, and a unit vector is needed"):
        carom.Impact(**block, geometry=carom.Geometry(normals=np.array([[0, 0, 1], [0, 0, 8.7]]), tangents=np.array(along), **own))
