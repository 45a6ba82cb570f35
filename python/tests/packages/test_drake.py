# SPDX-License-Identifier: Apache-2.0
"""Impacts of Drake plants in memory are those that C makes of the same model and state, in Drake's velocities."""
import numpy as np
import pytest

import carom
from others import arm, close, cube, list_points, rotation  # noqa: F401

pytest.importorskip("pydrake")
from pydrake.multibody.parsing import Parser  # noqa: E402
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant  # noqa: E402
from pydrake.systems.framework import DiagramBuilder  # noqa: E402


def load(path, weld=None):
    """A plant of a model and its context."""
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(path))
    if weld:
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(weld))
    plant.Finalize()
    return plant, plant.CreateDefaultContext()


def freeze(plant, context, wanted, free=False, **options):
    """The impact of the plant at the state of C's impact, and the matrix that takes its velocities to those of C."""
    q, velocities = wanted.geometry.qpos.copy(), np.eye(wanted.nv)
    if free:
        # The quaternion comes first, angular velocities come first and are along the world's axes.
        turn = rotation(q[3:7])
        q[:7] = q[[3, 4, 5, 6, 0, 1, 2]]
        velocities[:6, :6] = np.block([[np.zeros((3, 3)), np.eye(3)], [turn.T, np.zeros((3, 3))]])
    plant.SetPositions(context, q)
    plant.SetVelocities(context, np.linalg.solve(velocities, wanted.velocity))

    def to_body(body, point):
        return plant.GetBodyByName(body).EvalPoseInWorld(context).inverse() @ point

    return carom.from_drake(plant, context, list_points(wanted, to_body), **options), velocities


@pytest.mark.filterwarnings("ignore:.*no contact approaches")
@pytest.mark.parametrize("scene", ["block", "boxwall", "compass", "painleve-rod", "ramone"])
def test_shipped_models(scene, scenes):
    wanted = carom.load(scenes / f"{scene}.yaml").impact
    impact, velocities = freeze(*load(scenes / f"{scene}.xml"), wanted)
    close(impact, wanted, velocities)
    assert impact.velocity_names == wanted.velocity_names and impact.velocity_turns == wanted.velocity_turns


def test_a_turned_free_body(cube):  # noqa: F811
    path, wanted = cube
    impact, velocities = freeze(*load(path), wanted, free=True)
    close(impact, wanted, velocities)
    assert [name.rsplit(".")[-1] for name in impact.velocity_names] == ["wx", "wy", "wz", "x", "y", "z"]
    assert impact.velocity_turns == (True, True, True, False, False, False)


def test_a_joint_at_its_stop(arm):  # noqa: F811
    path, wanted = arm
    plant, context = load(path, weld="base")
    with pytest.warns(UserWarning, match="LIMIT:elbow"):
        impact, _ = freeze(plant, context, wanted)
    close(impact, wanted, np.eye(3))
    assert impact.names == ("hand", "grip", "LIMIT:elbow") and impact.velocity_names == ("shoulder", "lift", "elbow")
    assert freeze(plant, context, wanted, stops=False)[0].names == ("hand", "grip")
    row = [[0.7, 0, -0.4]]
    out = freeze(plant, context, wanted, stops=False, constraint=row)[0].resolve("anitescu-potra")
    assert np.allclose(row @ out.velocity.T, 0, atol=1e-12)


def test_contacts_that_drake_finds(tmp_path):
    text = """<mujoco model="balls"><worldbody><geom name="floor" type="plane" size="9 9 9" friction="0.5"/>
      <body name="ball" pos="0 0 0.1"><freejoint/><geom name="ball" type="sphere" size="0.1" mass="1" friction="0.5"/></body>
      <body name="other" pos="0.2 0 0.1"><freejoint/><geom name="other" type="sphere" size="0.1" mass="2" friction="0.5"/></body>
    </worldbody></mujoco>"""
    path = tmp_path / "balls.xml"
    path.write_text(text)
    builder = DiagramBuilder()
    plant, graph = AddMultibodyPlantSceneGraph(builder, 0.0)
    Parser(plant).AddModels(str(path))
    plant.Finalize()
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyContextFromRoot(root)
    depth = 1e-9
    plant.SetFreeBodyPose(context, plant.GetBodyByName("ball"), transform([0, 0, 0.1 - depth]))
    plant.SetFreeBodyPose(context, plant.GetBodyByName("other"), transform([0.2 - depth, 0, 0.1 - depth]))
    plant.SetVelocities(context, [0, 0, 0, 1, 0, -1, 0, 0, 0, 0, 0, -1])
    impact = carom.from_drake(plant, context, restitution=0.5)
    assert sorted(impact.names) == ["ball", "ball:other", "other"] and impact.friction == pytest.approx(0.5)
    ground, pair = impact.names.index("ball"), impact.names.index("ball:other")
    assert impact.geometry.normals[ground] == pytest.approx([0, 0, 1]) and impact.restitution.tolist() == [0.5] * 3
    speeds = impact.normal @ impact.velocity
    assert speeds[ground] == pytest.approx(-1) and speeds[pair] == pytest.approx(-1)
    # One ball alone: m v.
    assert impact.delassus[3 * ground, 3 * ground] == pytest.approx(1)
    plant.SetFreeBodyPose(context, plant.GetBodyByName("ball"), transform([0, 0, 3]))
    plant.SetFreeBodyPose(context, plant.GetBodyByName("other"), transform([0, 0, 5]))
    with pytest.raises(carom.InputError, match="no geometries penetrate"):
        carom.from_drake(plant, context)


def transform(place):
    from pydrake.math import RigidTransform

    return RigidTransform(np.array(place, dtype=float))


def test_bad_input(arm):  # noqa: F811
    plant, context = load(arm[0], weld="base")
    with pytest.raises(carom.InputError, match="contact 'A': .*foot"):
        carom.from_drake(plant, context, [{"name": "A", "frame": "foot", "normal": [0, 0, 1]}])
    with pytest.raises(carom.InputError, match="neither a name nor a frame"):
        carom.from_drake(plant, context, [{"frame": 3, "normal": [0, 0, 1]}])
    with pytest.raises(carom.InputError, match="not of a diagram"):
        carom.from_drake(plant, context)
    with pytest.raises(carom.InputError, match="a pydrake MultibodyPlant is needed"):
        carom.from_drake(None, context)
