# SPDX-License-Identifier: Apache-2.0
"""Impacts of MuJoCo models in memory are those that C makes of the same model and state."""
import re

import numpy as np
import pytest

import carom
from readme import snippet

mujoco = pytest.importorskip("mujoco")

# Listed contacts of shipped scenes, as the scenes have them.
UP = {"normal": [0, 0, 1]}
LISTED = {
    "block": [{"name": "A", "site": "left_corner", "tangents": [[1, 0, 0]], "friction": 1, **UP},
              {"name": "B", "site": "right_corner", "tangents": [[1, 0, 0]], "friction": 1, **UP}],
    "compass": [{"name": "A", "site": "leading_foot", "friction": 5, **UP}, {"name": "B", "site": "trailing_foot", "friction": 5, **UP}],
    "boxwall": [{"name": "A", "site": "floor_corner", "friction": 1, **UP},
                {"name": "B", "site": "wall_corner", "normal": [-1, 0, 0], "friction": 1}],
}  # fmt: skip
DETECTED = ["quadruped", "biped", "box-on-box"]


def close(impact, wanted):
    """Every name is the same, and every number to 1e-10."""
    assert impact.names == wanted.names
    assert impact.velocity_names == wanted.velocity_names and impact.velocity_turns == wanted.velocity_turns
    for name in ("mass", "normal", "tangent", "friction", "restitution", "velocity", "delassus"):
        own, other = getattr(impact, name), getattr(wanted, name)
        assert own.shape == other.shape and np.allclose(own, other, rtol=0, atol=1e-10 * max(1e-300, np.abs(other).max())), name
    own, other = impact.geometry, wanted.geometry
    assert own.bodies == other.bodies and own.geoms == other.geoms
    for name in ("points", "normals", "tangents", "qpos"):
        assert np.allclose(getattr(own, name), getattr(other, name), rtol=0, atol=1e-10, equal_nan=True), name


def at(model, impact, velocity=None):
    """Data of a model at the state of an impact."""
    data = mujoco.MjData(model)
    data.qpos[:] = impact.geometry.qpos
    data.qvel[:] = impact.velocity if velocity is None else velocity
    return data


@pytest.mark.parametrize("scene", [*LISTED, *DETECTED])
def test_shipped_models(scene, scenes):
    wanted = carom.load(scenes / f"{scene}.yaml").impact
    model = mujoco.MjModel.from_xml_path(str(scenes / f"{scene}.xml"))
    data = at(model, wanted)
    chosen = {"contacts": LISTED[scene]} if scene in LISTED else {"margin": 1e-3}
    close(carom.from_mujoco(model, data, **chosen), wanted)
    # Neither the model nor the data has changed, nor did anything need to be computed before.
    assert data.ncon == 0 and data.time == 0 and not np.any(data.xpos[1:]) and not np.any(model.geom_margin)


def test_outcomes_are_those_of_the_command(scenes, command):
    loaded = carom.load(scenes / "block.yaml")
    model = mujoco.MjModel.from_xml_path(str(scenes / "block.xml"))
    out = carom.from_mujoco(model, at(model, loaded.impact), LISTED["block"]).sample(256, step=0.3, max_steps=10)
    outcomes = command("resolve", scenes / "block.yaml", "--samples", 256)["outcomes"]
    assert np.allclose(out.velocity, [outcome["v_plus"] for outcome in outcomes], rtol=0, atol=1e-9)


def test_from_a_model_in_memory_to_a_plotted_set_in_five_lines(scenes, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    model = mujoco.MjModel.from_xml_path(str(scenes / "quadruped.xml"))
    names = {"model": model, "data": at(model, carom.load(scenes / "quadruped.yaml").impact)}
    exec(snippet("carom.from_mujoco("), names)
    assert len(names["out"]) == 2**14 and (tmp_path / "footfall.png").stat().st_size > 1000


ODD = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="0.7"/>
    <geom type="box" pos="3 0 0.5" size="0.5 0.5 0.5" friction="0.4"/>
    <site name="anchor" pos="0 0 2"/>
    <body name="ball,1" pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1" friction="0.9"/></body>
    <body name="two" pos="1 0 0.1">
      <joint name="slide x" type="slide" axis="1 0 0"/><joint name="slide z" type="slide" axis="0 0 1" limited="true" range="0 1"/>
      <geom name="left" type="sphere" pos="-0.2 0 0" size="0.1" mass="1" friction="0.3"/>
      <geom name="right" type="sphere" pos="0.2 0 0" size="0.1" mass="1" condim="1"/>
      <body name="arm" pos="0 0 0.3">
        <joint name="ball" type="ball" limited="true" range="0 0.5"/>
        <geom name="arm" type="capsule" fromto="0 0 0 0 0 0.3" size="0.02" mass="0.3" contype="0" conaffinity="0"/>
        <site name="tip" pos="0 0 0.3"/>
        <body pos="0 0 0.3">
          <joint type="hinge" axis="0 1 0" limited="true" range="-1 0.2" margin="0.05" armature="0.01"/>
          <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02" mass="0.1" contype="0" conaffinity="0"/>
          <site name="end" pos="0.2 0 0"/>
        </body>
      </body>
    </body>
    <body name="a" pos="-1 0 1"><joint name="ja" axis="0 1 0"/>
      <geom name="ga" type="capsule" fromto="0 0 0 0.5 0 0" size="0.03" mass="0.5" contype="0" conaffinity="0"/>
      <site name="ea" pos="0.5 0 0"/></body>
    <body name="b" pos="-1 0.5 1"><joint name="jb" axis="0 1 0"/>
      <geom name="gb" type="capsule" fromto="0 0 0 0.5 0 0" size="0.03" mass="0.4" contype="0" conaffinity="0"/></body>
  </worldbody>
  <tendon>
    <spatial name="string" limited="true" range="0 1.51"><site site="anchor"/><site site="tip"/></spatial>
    <spatial name="short" limited="true" range="0 9"><site site="anchor"/><site site="end"/></spatial>
    <fixed name="sum" limited="true" range="-2 0.3"><joint joint="ja" coef="2"/><joint joint="jb" coef="1"/></fixed>
  </tendon>
  <equality>
    <joint name="together" joint1="ja" joint2="jb" polycoef="0 1 0 0 0"/>
  </equality>
</mujoco>
"""
BALL_ANGLE = 0.5
ODD_QPOS = [0, 0, 0.1, 1, 0, 0, 0, 0, 0, np.cos(BALL_ANGLE / 2), 0, np.sin(BALL_ANGLE / 2), 0, 0.16, 0.1, 0.1]
ODD_QVEL = [0.1, 0.2, -1, 0.3, 0.1, 0, 0.2, -0.5, 0.1, 0.2, -0.3, 0.4, 0.6, 0.6]


def make_scene(folder, text, qpos, qvel, contacts):
    (folder / "model.xml").write_text(text)
    (folder / "scene.yaml").write_text(f"name: odd\nmodel: model.xml\nstate: {{qpos: {qpos}, qvel: {qvel}}}\ncontacts: {contacts}\n")
    return folder / "scene.yaml"


@pytest.mark.parametrize("sparse", [False, True])
def test_limits_tendons_equality_constraints_and_names(tmp_path, sparse):
    text = ODD.replace("<worldbody>", '<option jacobian="sparse"/><worldbody>') if sparse else ODD
    # The length of the string at this state.
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = ODD_QPOS, ODD_QVEL
    mujoco.mj_forward(model, data)
    text = text.replace("1.51", repr(float(data.ten_length[0])))
    model = mujoco.MjModel.from_xml_string(text)
    qpos, qvel = [float(q) for q in ODD_QPOS], [float(v) for v in ODD_QVEL]
    with pytest.warns(UserWarning) as said:
        wanted = carom.load(make_scene(tmp_path, text, qpos, qvel, "{detect: true, restitution: 0.25}")).impact
    expected = [str(warning.message).split("contacts: ", 1)[1] for warning in said]
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    with pytest.warns(UserWarning) as said:
        impact = carom.from_mujoco(model, data, margin=1e-3, restitution=0.25)
    close(impact, wanted)
    assert [str(warning.message) for warning in said] == expected
    limits = [name for name in impact.names if ":" in name]
    assert limits == ["LIMIT:slide_z", "LIMIT:ball", "LIMIT:joint4", "TENDON:string", "TENDON:sum"]
    assert impact.names[:3] == ("ball_1", "left", "right") and impact.friction[:3].tolist() == [0.9, 0.7, 1.0]
    assert np.isnan(impact.geometry.points[3:]).all()
    without = carom.from_mujoco(model, data, margin=1e-3, stops=False)
    assert without.names == impact.names[:3]


def test_a_planar_box_keeps_two_of_its_corners(tmp_path):
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body name="box" pos="0 0 0.5"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="turn" axis="0 -1 0"/><geom type="box" size="0.2 0.3 0.5" mass="1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = 0.1, -1, 0.2
    with pytest.warns(UserWarning, match="into"):
        wanted = carom.load(make_scene(tmp_path, text, [0, 0, 0], [0.1, -1, 0.2], "{detect: true}")).impact
    with pytest.warns(UserWarning, match="the scene is planar"):
        impact = carom.from_mujoco(model, data, margin=1e-3)
    close(impact, wanted)
    assert impact.contacts == 2 and impact.tangent_dim == 1


def test_contacts_are_those_on_which_mujoco_acts(scenes):
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body><freejoint/><geom name="ball" type="sphere" size="0.1" margin="0.02" gap="0.01"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    # Some heights are in the gap, where MuJoCo finds the contact and does not act.
    seen = set()
    for height in (0.15, 0.125, 0.115, 0.105, 0.099):
        data.qpos[2] = height
        mujoco.mj_forward(model, data)
        seen.add((data.ncon, data.nefc > 0))
        if data.nefc:
            assert carom.from_mujoco(model, data).names == ("ball",)
        else:
            with pytest.raises(carom.InputError, match="no geoms touch"):
                carom.from_mujoco(model, data)
    assert seen == {(0, False), (1, False), (1, True)}
    assert carom.from_mujoco(model, data, [0], friction=0.3).friction.tolist() == [0.3]
    # After a step data.contact is that of the position before; what counts is qpos.
    data.qpos[2] = 0.3
    assert data.ncon == 1
    with pytest.raises(carom.InputError, match="no geoms touch"):
        carom.from_mujoco(model, data)


BALL = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body><freejoint/><geom name="ball" type="sphere" size="0.1" {}/></body></worldbody>{}</mujoco>"""


def test_friction_beyond_sliding():
    model = mujoco.MjModel.from_xml_string(BALL.format('condim="6"', ""))
    data = mujoco.MjData(model)
    data.qpos[2] = 0.1
    with pytest.warns(UserWarning, match="torsional and rolling friction"):
        assert carom.from_mujoco(model, data, margin=1e-3).tangent_dim == 2
    pair = '<contact><pair geom1="floor" geom2="ball" friction="1 0.5 0.005 0.0001 0.0001"/></contact>'
    model = mujoco.MjModel.from_xml_string(BALL.format("", pair))
    with pytest.raises(carom.InputError, match="different friction along its two tangents, 1 and 0.5"):
        carom.from_mujoco(model, data, margin=1e-3)
    assert carom.from_mujoco(model, data, margin=1e-3, friction=0.3).friction.tolist() == [0.3]


def test_listed_geoms_and_points_of_bodies(tmp_path):
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body name="a"><freejoint/><geom name="ga" type="sphere" size="0.1" mass="1"/></body>
      <body name="b"><freejoint/><geom name="gb" type="ellipsoid" size="0.1 0.2 0.3" mass="2"/></body></worldbody></mujoco>"""
    qpos = [0, 0, 0.1, 1, 0, 0, 0, 0.2, 0, 0.1, 1, 0, 0, 0]
    qvel = [1, 0, -1, 0.1, 0.2, 0.3, 0, 0, -1, 0, 0, 0]
    contacts = [
        {"name": "ab", "geoms": ["ga", "gb"], "normal": [2, 0, 0], "friction": 0.2, "restitution": 0.5},
        {"name": "a", "geoms": ["floor", "ga"], "normal": [0, 0, 1], "friction": 0.3},
        {"name": "b", "body": "b", "point": [0, 0, -0.1], "normal": [0, 0, 1], "tangents": [[0, 1, 0], [1, 0, 0]]},
    ]
    yaml = str([{**contact, "friction": contact.get("friction", 0)} for contact in contacts])
    wanted = carom.load(make_scene(tmp_path, text, qpos, qvel, yaml)).impact
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    close(carom.from_mujoco(model, data, contacts), wanted)


@pytest.mark.parametrize(
    "contacts, sentence",
    [
        ([{"site": "nowhere", "normal": [0, 0, 1]}], "contact number 1: there is no site 'nowhere' in the model"),
        ([{"site": "left_corner"}], "contact number 1: normal is missing"),
        ([{"normal": [0, 0, 1]}], "contact number 1: one of site, geom, body says where it is"),
        ([{"site": "left_corner", "normal": [0, 0, 0]}], "the normal needs a finite length greater than zero"),
        ([{"site": "left_corner", "normal": "up"}], "the normal needs three numbers"),
        ([{"site": "left_corner", "normal": [0, 1, 0]}], "no joint of the model changes its distance along the normal"),
        ([{"site": "left_corner", "normal": [0, 0, 1], "tangents": [[1, 0, 1]]}], "tangent 1 is not orthogonal to the normal"),
        ([{"site": "left_corner", "normal": [0, 0, 1], "mu": 1}], "there is no key 'mu'; the keys are site, geom, body"),
        ([{"geom": 0, "normal": [0, 0, 1]}], "is no sphere, capsule or ellipsoid"),
        ([{"site": "left_corner", "normal": [0, 0, 1], "friction": -1}], "friction"),
        ([{"site": "left_corner", "normal": [0, 0, 1], "tangents": 5}], "tangents: one or two rows of three numbers are needed, not 5"),
        ([{"sites": 5, "normal": [0, 0, 1]}], "contact number 1: sites needs two names"),
        ([{"bodies": ["a", "b"], "normal": [0, 0, 1]}], "the keys are site, geom, body, sites, geoms, name, point"),
        ([7], "contacts: numbers of data.contact are needed"),
        ([], "contacts: the list is empty"),
    ],
)
def test_bad_contacts(contacts, sentence, scenes):
    model = mujoco.MjModel.from_xml_path(str(scenes / "block.xml"))
    with pytest.raises(carom.InputError, match=re.escape(sentence)):
        carom.from_mujoco(model, mujoco.MjData(model), contacts)


ROBOTS = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="table" pos="0 0 0.1"><freejoint/><geom name="top" type="box" size="0.5 0.5 0.1" mass="3"/></body>
    <body name="robot" pos="0 0 0.25"><freejoint/>
      <geom name="trunk" size="0.05" mass="2"/>
      <geom name="foot1" size="0.05" pos="0.3 0.2 0" mass="0.1"/><geom name="foot2" size="0.05" pos="-0.3 0.2 0" mass="0.1"/>
      <geom name="foot3" size="0.05" pos="-0.3 -0.2 0" mass="0.1"/><geom name="foot4" size="0.05" pos="0.3 -0.2 0" mass="0.1"/>
      <body name="arm" pos="0 0 0.1">
        <joint name="lift" type="slide" axis="0 0 1" limited="true" range="0 1" damping="0.2" frictionloss="0.1" stiffness="1"/>
        <geom name="hand[1]" size="0.05" mass="0.5" friction="0.3"/>
      </body>
    </body>
  </worldbody>
  <contact><pair geom1="trunk" geom2="hand[1]"/></contact>
  <actuator><motor joint="lift"/></actuator>
</mujoco>
"""
ROBOTS_QPOS = [0.0, 0, 0.1, 1, 0, 0, 0, 0, 0, 0.25, 1, 0, 0, 0, 0]
ROBOTS_QVEL = [0.1, 0, -1, 0, 0, 0, 0, 0, -1.2, 0.1, 0, 0, -0.5]


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"only": ["table"]},
        {"only": "foot*"},
        {"only": ["t[or]*", "LIMIT:*"], "exclude": ["top:2"]},
        {"exclude": ["floor", "trunk"]},
        {"exclude": ["hand[1]"]},
        {"self": False},
        {"self": False, "only": ["arm", "foot?:top"]},
        {"merge": 0.01},
        {"merge": 0.5, "self": False},
        {"merge": 10.0, "exclude": ["table"]},
        {"stops": False, "only": ["arm"]},
        {"only": ["LIMIT:lift"]},
    ],
)
def test_the_choice_among_detected_contacts_is_that_of_scenes(tmp_path, keys):
    yaml = ", ".join(f"{key}: {str(value).lower() if isinstance(value, bool) else value}" for key, value in keys.items())
    yaml = yaml.replace(": foot*", ': "foot*"')
    scene = make_scene(tmp_path, ROBOTS, ROBOTS_QPOS, ROBOTS_QVEL, f"{{detect: {{margin: 0.001{', ' if keys else ''}{yaml}}}}}")
    with pytest.warns(UserWarning) as said:
        wanted = carom.load(scene).impact
    expected = [str(warning.message).split("contacts: ", 1)[1] for warning in said]
    model = mujoco.MjModel.from_xml_string(ROBOTS)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = ROBOTS_QPOS, ROBOTS_QVEL
    with pytest.warns(UserWarning) as said:
        impact = carom.from_mujoco(model, data, margin=1e-3, **keys)
    close(impact, wanted)
    own = [str(warning.message).replace("self=False", "self: false") for warning in said]
    assert own == expected and any("left out: frictionloss, damping, springs and actuators; the impulse" in note for note in own)


@pytest.mark.parametrize(
    "keys, sentence",
    [
        ({"only": ["tabel"]}, "only: 'tabel' is no body, geom or contact of the model; near names: 'table'"),
        ({"exclude": []}, "exclude: a list of names of bodies, geoms or contacts is needed"),
        ({"exclude": "*"}, "none of the 10 contacts found is left: 'exclude' leaves out 10; what is at its limit is left out, too"),
        ({"exclude": "floor", "only": "table", "self": False, "stops": False}, None),
        ({"merge": -1.0}, "merge is -1: it is a finite length >= 0"),
        ({"margin": float("nan")}, "margin is nan: it is a finite length >= 0"),
        ({"margin": "1e-3"}, "margin: '1e-3' is not a number"),
        ({"restitution": None, "friction": "high"}, "friction: 'high' is not a number"),
        ({"merge": 0.1, "contacts": [{"site": "x", "normal": [0, 0, 1]}]}, "contacts: of those that are listed"),
        ({"friction": 0.1, "margin": None, "contacts": [{"site": "x", "normal": [0, 0, 1]}]}, "contacts: of those that are listed"),
        ({"contacts": [0]}, "margin: it says which contacts are looked for"),
    ],
)
def test_choices_that_leave_nothing_or_make_no_sense(keys, sentence):
    model = mujoco.MjModel.from_xml_string(ROBOTS)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = ROBOTS_QPOS, ROBOTS_QVEL
    keys = {"margin": 1e-3, **keys}
    if sentence is None:
        with pytest.warns(UserWarning, match="left out"):
            assert set(carom.from_mujoco(model, data, **keys).names) == {"trunk:top", *(f"foot{i}:top" for i in range(1, 5))}
    else:
        with pytest.raises(carom.InputError, match=re.escape(sentence)):
            carom.from_mujoco(model, data, **keys)


def test_a_velocity_that_breaks_a_constraint(tmp_path):
    model = mujoco.MjModel.from_xml_string(ODD)
    data = mujoco.MjData(model)
    data.qvel[-1] = 1
    with pytest.raises(carom.InputError, match="the velocity breaks equality constraint 'together'"):
        carom.from_mujoco(model, data, margin=1e-3)
    with pytest.raises(carom.InputError, match="a mujoco.MjModel and a mujoco.MjData are needed"):
        carom.from_mujoco("model", data)


def test_data_of_another_model_is_refused():
    """MuJoCo itself writes beyond the end of such data."""
    ball = '<body pos="{} 0 0.1"><freejoint/><geom size="0.1"/></body>'
    models = [
        mujoco.MjModel.from_xml_string(
            f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{"".join(ball.format(i) for i in range(count))}</worldbody></mujoco>'
        )
        for count in (1, 300)
    ]
    for model, other in (models, models[::-1]):
        for _ in range(20):
            with pytest.raises(carom.InputError, match="data: it is of another model: its qpos has"):
                carom.from_mujoco(model, mujoco.MjData(other), margin=1e-3)
    # Models of equal coordinates and other geoms.
    twice = mujoco.MjModel.from_xml_string(BALL.format("", "").replace("<freejoint/>", '<freejoint/><geom size="0.05"/>'))
    with pytest.raises(carom.InputError, match="its geom_xpos has 3 rows, and the model's has 2"):
        carom.from_mujoco(models[0], mujoco.MjData(twice), margin=1e-3)


def test_contacts_by_numbers_in_an_array_and_states_that_are_not_finite():
    model = mujoco.MjModel.from_xml_string(ROBOTS)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = ROBOTS_QPOS, ROBOTS_QVEL
    mujoco.mj_forward(model, data)
    with pytest.warns(UserWarning, match="left out"):
        chosen = carom.from_mujoco(model, data, np.flatnonzero([contact.geom1 == 0 for contact in data.contact]), stops=False)
        listed = carom.from_mujoco(model, data, [i for i, contact in enumerate(data.contact) if contact.geom1 == 0], stops=False)
    close(chosen, listed)
    for name in ("qpos", "qvel"):
        broken = mujoco.MjData(model)
        getattr(broken, name)[2] = np.nan
        with pytest.raises(carom.InputError, match=f"data.{name}: it is not finite"):
            carom.from_mujoco(model, broken)
