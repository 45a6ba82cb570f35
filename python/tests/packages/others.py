# SPDX-License-Identifier: Apache-2.0
"""What the tests of adapters of several simulators share: models with the impacts that C makes of them."""
import warnings

import numpy as np
import pytest

import carom

# An arm on a wall whose elbow is at its stop, and whose hand strikes the floor at z = 0.
ARM = """
<robot name="arm">
  <link name="base"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.7" rpy="0 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <link name="upper"><inertial><origin xyz="0.2 0 0" rpy="0 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="prismatic"><parent link="upper"/><child link="slide"/><origin xyz="0.4 0 0" rpy="0.3 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.1" effort="1" velocity="1"/></joint>
  <link name="slide"><inertial><origin xyz="0 0.02 0" rpy="0 0 0.2"/><mass value="0.5"/>
    <inertia ixx="0.002" iyy="0.003" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="revolute"><parent link="slide"/><child link="fore"/><origin xyz="0 0 0" rpy="0 0 0.4"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="0.5" effort="1" velocity="1"/></joint>
  <link name="fore"><inertial><origin xyz="0.15 0 0" rpy="0 0 0"/><mass value="1"/>
    <inertia ixx="0.002" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>
"""
ARM_STATE = [0.6, 0.03, 0.5], [0.4, -0.1, 0.7]
ARM_CONTACTS = [
    {"name": "hand", "body": "fore", "point": [0.3, 0.01, 0], "normal": [0, 0, 1], "friction": 0.6, "restitution": 0.2},
    {"name": "grip", "body": "fore", "point": [0.3, -0.01, 0], "normal": [0.1, 0, 1], "friction": 0.4, "restitution": 0.0},
]

# A free box, turned, with three of its corners struck.
TURNED = [0.1, -0.2, 0.9, *(np.array([0.8, 0.1, -0.3, 0.4]) / np.linalg.norm([0.8, 0.1, -0.3, 0.4])).tolist()]
TURNED_RATES = [0.3, -0.2, -1, 0.5, 0.2, -0.4]


def write_scene(folder, model, qpos, qvel, contacts):
    """A scene beside its model, and its impact by C."""
    path = folder / "scene.yaml"
    path.write_text(f"name: scene\nmodel: {model}\nstate: {{qpos: {qpos}, qvel: {qvel}}}\ncontacts: {contacts}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return carom.load(path).impact


@pytest.fixture
def arm(tmp_path):
    """The file of the arm and its impact."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path, write_scene(tmp_path, path, *ARM_STATE, ARM_CONTACTS)


@pytest.fixture
def cube(tmp_path, scenes):
    """The file of the cube and its impact in a turned position."""
    corners = [[0.5, 0.5, -0.5], [-0.5, 0.5, -0.5], [0.5, -0.5, 0.5]]
    contacts = [{"name": n, "body": "cube", "point": p, "normal": [0, 0.2, 1], "friction": 0.5} for n, p in zip("ABC", corners)]
    return scenes / "cube.xml", write_scene(tmp_path, scenes / "cube.xml", TURNED, TURNED_RATES, contacts)


def rotation(quaternion):
    """The matrix of a unit quaternion w, x, y, z."""
    w, x, y, z = quaternion
    v = np.array([x, y, z])
    cross = np.cross(np.eye(3), v)
    return np.eye(3) * (w * w - v @ v) + 2 * np.outer(v, v) + 2 * w * cross


def list_points(wanted, to_body):
    """The contacts of an impact at frames of their bodies; `to_body(body, point)` gives a point of the world in the body's axes."""
    place = wanted.geometry
    return [
        {
            "name": wanted.names[i],
            "frame": place.bodies[i][1],
            "point": to_body(place.bodies[i][1], place.points[i]),
            "normal": place.normals[i],
            "tangents": place.tangents.reshape(len(place.points), -1, 3)[i],
            "friction": wanted.friction[i],
            "restitution": wanted.restitution[i],
        }
        for i in range(wanted.contacts)
        if place.bodies[i][1]
    ]


def close(impact, wanted, velocities):
    """The same problem; the velocities of C's impact are `velocities` times those of the other one."""
    assert impact.names == wanted.names
    assert impact.tangent_dim == wanted.tangent_dim
    pairs = {
        "mass": (impact.mass, velocities.T @ wanted.mass @ velocities),
        "normal": (impact.normal, wanted.normal @ velocities),
        "tangent": (impact.tangent, wanted.tangent @ velocities),
        "velocity": (velocities @ impact.velocity, wanted.velocity),
        "friction": (impact.friction, wanted.friction),
        "restitution": (impact.restitution, wanted.restitution),
        "delassus": (impact.delassus, wanted.delassus),
        "points": (impact.geometry.points, wanted.geometry.points),
    }
    for name, (own, other) in pairs.items():
        assert own.shape == other.shape, name
        assert np.allclose(own, other, rtol=0, atol=1e-10 * max(1, np.nanmax(np.abs(other))), equal_nan=True), name
