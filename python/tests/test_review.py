# SPDX-License-Identifier: Apache-2.0
"""The gate for problems that are none: in Python as for scenes, in the same words."""
import warnings

import numpy as np
import pytest

import carom

NECK = [[10, 0, 1, 0.1], [0, 5, 0.5, 0.05], [1, 0.5, 0.3, 0.03], [0.1, 0.05, 0.03, 0.0030000000000000005]]
ROWS = {"normal": [[1, 0.2, 0, 0], [1, -0.2, 0, 0]], "velocity": [-1, 0.2, 0.1, 0], "velocity_names": ["z", "pitch", "a", "b"]}


def test_a_joint_without_inertia_is_refused_by_name():
    with pytest.raises(carom.InputError, match="a motion of 'a', 'b' has no kinetic energy; give 'b' inertia of its own"):
        carom.Impact(NECK, **ROWS)


def test_a_joint_of_little_inertia_is_a_warning_at_the_callers_line():
    mass = np.array(NECK)
    mass[3, 3] += 1e-12
    with pytest.warns(UserWarning, match="M is nearly singular: a motion of 'a', 'b'") as caught:
        carom.Impact(mass, **ROWS)
    assert caught[0].filename == __file__
    mass[3, 3] += 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        carom.Impact(mass, **ROWS)


def test_many_impacts_have_the_same_gate():
    with pytest.raises(carom.InputError, match="a motion of 'v.3', 'v.4' has no kinetic energy"):
        carom.sample_many([NECK], normal=ROWS["normal"], velocity=ROWS["velocity"])


def test_velocities_that_no_system_has_are_refused():
    with pytest.raises(carom.InputError, match="u is not in the range of W"):
        carom.Impact.from_delassus(np.kron(np.ones((2, 2)), np.diag([1, 0])), [-1, 0, -2, 0])


def test_equal_and_opposite_contacts_are_warnings():
    with pytest.warns(UserWarning, match="contacts 'A' and 'B' have the same rows of J"):
        carom.Impact(np.eye(2), [[0, 1], [0, 1]], velocity=[0, -1])
    with pytest.warns(UserWarning, match="contacts 'A' and 'B' have opposite normals") as caught:
        impact = carom.Impact(np.eye(2), [[0, 1], [0, -1]], velocity=[0, -1])
    assert caught[0].filename == __file__
    # Copies say nothing again.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function, arguments = impact.__reduce__()
        function(*arguments)


def test_deep_contacts_and_neighbours_are_warnings():
    nowhere, names = np.full((2, 3), np.nan), ((None, None),) * 2
    geometry = carom.Geometry(nowhere, nowhere, nowhere, names, names, gaps=np.array([-0.058, np.nan]), joints=[0, 2])
    with pytest.warns(UserWarning) as caught:
        carom.Impact(np.eye(2), [[0, 1], [1, 1]], velocity=[0, -1], geometry=geometry)
    told = [str(one.message) for one in caught]
    assert any("bodies penetrate each other at 'A' by 58 mm" in one for one in told)
    assert any("'B' is a contact between neighbouring links of one robot" in one for one in told)
