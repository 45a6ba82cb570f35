# SPDX-License-Identifier: Apache-2.0
"""Impacts of Pinocchio models in memory are those that C makes of the same model and state, in Pinocchio's velocities."""
import numpy as np
import pytest

import carom
from others import arm, close, cube, list_points, rotation  # noqa: F401

pinocchio = pytest.importorskip("pinocchio")


def freeze(model, wanted, free, **options):
    """The impact of the model at the state of C's impact, and the matrix that takes its velocities to those of C."""
    q, velocities = wanted.geometry.qpos.copy(), np.eye(wanted.nv)
    if free:
        # The quaternion's scalar comes last, and linear velocities are along the body's axes.
        velocities[:3, :3] = rotation(q[3:7])
        q[3:7] = q[[4, 5, 6, 3]]
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)

    def to_body(body, point):
        frame = next(i for i, frame in enumerate(model.frames) if frame.name == body and frame.type == pinocchio.FrameType.BODY)
        return data.oMf[frame].actInv(point)

    contacts = list_points(wanted, to_body)
    return carom.from_pinocchio(model, data, q, velocities.T @ wanted.velocity, contacts, **options), velocities


@pytest.mark.filterwarnings("ignore:.*no contact approaches")
@pytest.mark.parametrize("scene", ["block", "boxwall", "compass", "painleve-rod", "ramone"])
def test_shipped_models(scene, scenes):
    wanted = carom.load(scenes / f"{scene}.yaml").impact
    impact, velocities = freeze(pinocchio.buildModelFromMJCF(str(scenes / f"{scene}.xml")), wanted, False)
    close(impact, wanted, velocities)


def test_sites_are_frames(scenes):
    wanted = carom.load(scenes / "block.yaml").impact
    model = pinocchio.buildModelFromMJCF(str(scenes / "block.xml"))
    contacts = [
        {"name": "AB"[i], "frame": f"{side}_corner", "normal": [0, 0, 1], "friction": 1} for i, side in enumerate(("left", "right"))
    ]
    impact = carom.from_pinocchio(model, model.createData(), wanted.geometry.qpos, wanted.velocity, contacts)
    close(impact, wanted, np.eye(3))
    assert impact.velocity_turns == (False, False, True)


def test_a_turned_free_body_has_velocities_along_its_axes(cube):  # noqa: F811
    path, wanted = cube
    impact, velocities = freeze(pinocchio.buildModelFromMJCF(str(path)), wanted, True)
    close(impact, wanted, velocities)
    assert [name.rsplit(".")[-1] for name in impact.velocity_names] == ["x", "y", "z", "wx", "wy", "wz"]


def test_a_joint_at_its_stop(arm):  # noqa: F811
    path, wanted = arm
    model = pinocchio.buildModelFromUrdf(str(path))
    with pytest.warns(UserWarning, match="LIMIT:elbow"):
        impact, _ = freeze(model, wanted, False)
    close(impact, wanted, np.eye(3))
    assert impact.names == ("hand", "grip", "LIMIT:elbow") and impact.velocity_names == ("shoulder", "lift", "elbow")
    assert freeze(model, wanted, False, stops=False)[0].names == ("hand", "grip")


def test_rows_of_equality_constraints_hold(arm):  # noqa: F811
    path, wanted = arm
    model = pinocchio.buildModelFromUrdf(str(path))
    row = [[0.7, 0, -0.4]]
    impact, _ = freeze(model, wanted, False, stops=False, constraint=row)
    out = impact.resolve("anitescu-potra")
    assert np.allclose(row @ out.velocity.T, 0, atol=1e-12)
    with pytest.raises(carom.InputError, match="breaks equality constraint 'row 0'"):
        freeze(model, wanted, False, constraint=[[1, 0, 0]])


@pytest.mark.parametrize(
    "frame, sentence",
    [("foot", "there is no frame called 'foot'"), (99, "there is no frame number 99"), (None, "there is no frame called None")],
)
def test_bad_frames(frame, sentence, arm):  # noqa: F811
    model = pinocchio.buildModelFromUrdf(str(arm[0]))
    with pytest.raises(carom.InputError, match=sentence):
        carom.from_pinocchio(model, model.createData(), np.zeros(3), np.zeros(3), [{"frame": frame, "normal": [0, 0, 1]}])


def test_bad_states_and_data(arm):  # noqa: F811
    model = pinocchio.buildModelFromUrdf(str(arm[0]))
    with pytest.raises(carom.InputError, match="q: it has 2 entries, and the model needs 3"):
        carom.from_pinocchio(model, model.createData(), np.zeros(2), np.zeros(3), [])
    with pytest.raises(carom.InputError, match="v: it is not finite"):
        carom.from_pinocchio(model, model.createData(), np.zeros(3), [0, np.nan, 0], [])
    with pytest.raises(carom.InputError, match="data: it is of another model"):
        carom.from_pinocchio(model, pinocchio.buildSampleModelHumanoid().createData(), np.zeros(3), np.zeros(3), [])
