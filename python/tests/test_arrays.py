# SPDX-License-Identifier: Apache-2.0
"""What callers give: arrays of every kind are taken or refused with a sentence, never a crash."""
import pickle
import random
import weakref
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import carom


def test_any_array_of_numbers_is_taken(block):
    expected = carom.Impact(**block).resolve("routh", seed=3).velocity
    forms = {
        "lists": lambda x: x.tolist(),
        "not contiguous": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
        "by columns": np.asfortranarray,
        "read-only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
        "other byte order": lambda x: x.astype(">f8"),
        "of higher precision": lambda x: x.astype(np.longdouble),
        "backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
    }
    for name, form in forms.items():
        impact = carom.Impact(**{key: form(value) for key, value in block.items()})
        assert np.array_equal(impact.resolve("routh", seed=3).velocity, expected), name


def test_the_impact_does_not_follow_its_arrays(block):
    impact = carom.Impact(**block)
    before = impact.mass.copy()
    block["mass"][:] = 0
    assert np.array_equal(impact.mass, before)
    with pytest.raises(ValueError):
        impact.mass[0, 0] = 1


def test_scalars_and_single_rows(block):
    impact = carom.Impact(2 * np.eye(2), [0, 1], [1, 0], 0.5, [0.1, -1], restitution=0.25)
    assert impact.normal.shape == (1, 2) and impact.friction[0] == 0.5 and impact.restitution[0] == 0.25
    assert carom.Impact(block["mass"], block["normal"], velocity=block["velocity"]).tangent_dim == 1
    assert np.all(carom.Impact(block["mass"], block["normal"], velocity=block["velocity"]).friction == 0)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"mass": np.zeros((3, 3))}, "M is not positive definite"),
        ({"mass": np.eye(2)}, "normal: it is 2 x 3, and must be any x 2"),
        ({"mass": np.ones((3, 2))}, "mass: it is 3 x 2"),
        ({"mass": np.full((3, 3), np.nan)}, r"M\[0\]\[0\] is not a finite number"),
        ({"mass": np.eye(3) * 1j}, "mass: real numbers are needed, not complex128"),
        ({"mass": "heavy"}, "mass: real numbers are needed"),
        ({"mass": None}, "mass: real numbers are needed"),
        ({"mass": [[1, 2], [3]]}, "mass: not an array of numbers"),
        ({"mass": np.ma.masked_equal(np.eye(3), 0)}, "masked"),
        ({"normal": np.zeros((0, 3))}, "normal: it has no rows"),
        ({"tangent": np.zeros((3, 3))}, "tangent: it has 3 rows"),
        ({"friction": [1, 2, 3]}, "friction: it has the shape"),
        ({"friction": -1}, "friction coefficient"),
        ({"restitution": 2}, "restitution"),
        ({"velocity": None}, "velocity"),
        ({"velocity": [1, 2]}, "velocity: it has the shape"),
        ({"names": ["A"]}, "names"),
        ({"names": ["A", "A"]}, "names"),
        ({"names": ["A", "B\0C"]}, "zero byte"),
        ({"names": "AB"}, "names"),
    ],
)
def test_bad_input_is_named(block, change, words):
    with pytest.raises(carom.InputError, match=words):
        carom.Impact(**{**block, **change})
    assert issubclass(carom.InputError, ValueError)


def test_contact_space(block):
    impact = carom.Impact(**block)
    space = carom.Impact.from_delassus(impact.delassus, impact.contact_velocity(), impact.friction)
    assert (space.contacts, space.tangent_dim, space.has_system) == (2, 1, False)
    assert space.mass is None and np.array_equal(space.delassus, impact.delassus)
    planar = carom.Impact.from_delassus(np.eye(6), -np.ones(6), tangent_dim=1)
    spatial = carom.Impact.from_delassus(np.eye(6), -np.ones(6), [0.1, 0.2])
    assert (planar.contacts, spatial.contacts, spatial.tangent_dim) == (3, 2, 2)
    with pytest.raises(carom.InputError, match="delassus"):
        carom.Impact.from_delassus(np.eye(5), np.ones(5), tangent_dim=1)
    # Texts and fractions stand for the nearest doubles.
    texts = carom.Impact.from_delassus([["1/3", 0], [0, 1]], ["-1", Fraction(1, 10)], "0.3")
    assert texts.delassus[0, 0] == 1 / 3 and texts.velocity.tolist() == [-1, 0.1] and texts.friction.tolist() == [0.3]
    with pytest.raises(carom.InputError, match=r"delassus\[0\]\[0\]: real numbers are needed, not 'x'"):
        carom.Impact.from_delassus([["x", 0], [0, 1]], [-1, 0])


def test_options_are_checked_by_their_rows(block):
    impact = carom.Impact(**block)
    for options, words in [
        ({"seed": -1}, "seed: -1 is not between"),
        ({"seed": 0.5}, "seed: 0.5 is not a"),
        ({"sede": 1}, "sede"),
        ({"step": float("nan")}, "step"),
        ({"selection": "best"}, "selection"),
        ({"seed": object()}, "seed"),
    ]:
        with pytest.raises(carom.InputError, match=words):
            impact.resolve("routh", **options)
    with pytest.raises(carom.InputError, match="there is no 'rooth'; the laws are"):
        impact.resolve("rooth")
    with pytest.raises(carom.InputError, match="threads"):
        impact.sample(threads=0)
    with pytest.raises(carom.InputError, match="keep"):
        impact.sample(keep="some")
    assert impact.resolve("sequential", order=["B", "A"]).word == impact.resolve("sequential", order="B,A").word == [("B", "A")]
    assert np.array_equal(impact.resolve("routh", seed=np.int64(5)).velocity, impact.resolve("routh", seed="5").velocity)
    assert impact.resolve("routh", seed=None).options["seed"] == "0"


def test_random_bad_input_never_crashes(block):
    """Random shapes, types and values in random arguments: an impact, or an exception of ours."""
    chance = random.Random(20)
    values = [0.0, 1.0, -1.0, 1e300, -1e300, 5e-324, float("nan"), float("inf")]

    def array():
        shape = tuple(chance.randrange(4) for _ in range(chance.randrange(4)))
        kind = chance.choice([np.float64, np.float32, np.int32, np.uint8, np.bool_, np.complex128, object, "U3", "M8[s]", "V8"])
        made = np.zeros(shape, dtype=kind)
        if kind is np.float64 and made.size:
            made.flat[:] = [chance.choice(values) for _ in range(made.size)]
        return made

    accepted = 0
    for _ in range(3000):
        given = dict(block)
        for name in chance.sample(list(given), chance.randrange(1, 3)):
            given[name] = chance.choice([array, array, lambda: None, lambda: "text", lambda: {}, lambda: chance.choice(values)])()
        try:
            carom.Impact(**given).resolve(chance.choice(["anitescu-potra", "routh", "moreau"]))
            accepted += 1
        except (carom.InputError, carom.UnsupportedError):
            pass
    assert accepted


def test_the_extension_refuses_what_the_classes_would_not_send(block):
    from carom import _carom

    chance = random.Random(21)
    impact = carom.Impact(**block)
    out = impact.resolve("sequential")
    things = [None, 0, -1, 2**70, 1.5, "text", b"bytes", (), [], {}, np.zeros(3), np.zeros(3, np.int32), impact._handle, out._table._handle]
    functions = [getattr(_carom, name) for name in dir(_carom) if callable(getattr(_carom, name)) and not name.startswith("_")]
    functions = [f for f in functions if not isinstance(f, type)]
    assert len(functions) > 15
    for _ in range(4000):
        try:
            chance.choice(functions)(*(chance.choice(things) for _ in range(chance.randrange(6))))
        except (TypeError, ValueError, OverflowError, OSError, BufferError, RuntimeError):
            pass


def test_bad_files(tmp_path):
    with pytest.raises(OSError):
        carom.load(tmp_path / "missing.yaml")
    (tmp_path / "bad.yaml").write_text("matrices: {M: 1}\n")
    with pytest.raises(carom.InputError, match="bad.yaml:1"):
        carom.load(tmp_path / "bad.yaml")
    (tmp_path / "bad.h5").write_bytes(b"nothing")
    with pytest.raises(carom.InputError, match="not a carom result file"):
        carom.read(tmp_path / "bad.h5")
    with pytest.raises(OSError):
        carom.read(tmp_path / "missing.h5")


def test_lcps():
    z, info = carom.solve_lcp([[2, 1], [1, 2]], [-1, -1])
    assert np.allclose(z, 1 / 3) and info["verdict"] == "complete" and info["residual"] < 1e-12
    z, info = carom.enumerate_lcp([[1, 2], [2, 1]], [-1, -1])
    assert z.shape == (3, 2) and info["complete"]
    with pytest.warns(carom.Incomplete):
        carom.solve_lcp([[-1]], [-1])
    for W, w, words in [([[1, 2]], [1], "W: it is 1 x 2"), ([[1]], [1, 2], "w: "), (np.eye(23), np.ones(23), "size 23"), ([[np.nan]], [1], "finite")]:
        with pytest.raises(carom.InputError, match=words):
            carom.enumerate_lcp(W, w)
    with pytest.raises(carom.InputError, match="solver: there is no 'lemk'"):
        carom.solve_lcp([[1]], [1], solver="lemk")
    assert "lemke" in carom.solvers()


def test_exact_numbers(scenes):
    third = Fraction(1, 3)
    tables = {
        "mass": [[1, 0, 0], [0, 1, 0], [0, 0, "1/6"]],
        "normal": np.array([["0", "1", "-1/2"], ["0", "1", "0.5"]]),
        "tangent": [[1, 0, 0.5], [1, 0, 0.5]],
        "friction": third,
        "velocity": [0, Decimal("-1"), 0],
    }
    impact = carom.Impact(**tables)
    assert impact.mass[2, 2] == 1 / 6 and np.array_equal(impact.friction, [1 / 3, 1 / 3]) and impact.normal[1, 2] == 0.5
    exact = impact.exact()
    rounded = carom.Impact(impact.mass, impact.normal, impact.tangent, impact.friction, impact.velocity).exact()
    assert exact.info["data_change"] == 0 < rounded.info["data_change"]
    # Vertices have the denominators that these numbers lead to, not powers of two.
    denominators = {number.denominator for piece in exact.pieces for vertex in piece.exact for number in vertex}
    assert max(denominators) < 10_000
    other = pickle.loads(pickle.dumps(impact))
    assert other.exact().info["data_change"] == 0 and other.exact().pieces[0].exact == exact.pieces[0].exact
    scene = carom.load(scenes / "block.yaml").impact
    assert pickle.loads(pickle.dumps(scene)).exact().pieces[0].exact == scene.exact().pieces[0].exact


@pytest.mark.parametrize(
    "number, words",
    [
        ("1/0", "denominator"),
        ("1e400", "too large"),
        ("1e9999999", "not '1e9"),
        ("x", "not 'x'"),
        ("", "not ''"),
        ("nan", "not 'nan'"),
        ("1/2/3", "not"),
        (None, "not None"),
    ],
)
def test_exact_numbers_that_are_none(block, number, words):
    with pytest.raises(carom.InputError, match=rf"velocity\[1\]: .*{words}"):
        carom.Impact(**{**block, "velocity": [Fraction(1, 2), number, 0]})


def test_settings_of_a_scene(scenes):
    scene = carom.load(scenes / "block.yaml")
    assert scene.settings == {"step": "0.3", "max_steps": "10", "samples": "16384", "seed": "0"}
    settings = {**scene.settings, "samples": 100}
    assert np.array_equal(scene.impact.sample(**settings).velocity, scene.sample(100).velocity)


def test_objects_that_are_numbers_are_taken(block):
    expected = carom.Impact(**block).resolve("routh", seed=3).velocity
    impact = carom.Impact(**{name: value.astype(object) for name, value in block.items()})
    assert np.array_equal(impact.resolve("routh", seed=3).velocity, expected)
    z, _ = carom.solve_lcp(np.array([[2, 1], [1, Fraction(2)]], dtype=object), [-1, Fraction(-1)])
    assert np.allclose(z, 1 / 3)
    broken = block["mass"].astype(object)
    broken[1, 2] = None
    with pytest.raises(carom.InputError, match=r"mass\[1\]\[2\]: real numbers are needed, not None"):
        carom.Impact(**{**block, "mass": broken})
    with pytest.raises(carom.InputError, match=r"velocity\[2\]: real numbers are needed, not 'fast'"):
        carom.Impact(**{**block, "velocity": [0, -1, "fast"]})


def test_whole_numbers_that_no_double_has_are_exact():
    def exact(mass):
        return carom.Impact(mass, [0, 1], [1, 0], 1, [0, -1]).exact()

    big = 2**53 + 1
    for mass in ([[big, 0], [0, 1]], [[big, "0"], [0, 1]], np.array([[big, 0], [0, 1]])):
        assert exact(mass).info["data_change"] == 0
        assert carom._carom.impact_texts(carom.Impact(mass, [0, 1], velocity=[0, -1])._handle)[0][0] == f"{big}/1"


def test_many_impacts_say_what_they_do_not_take(block):
    impact = carom.Impact(**block)
    for name, value in {"friction": 0, "velocity": [9, 9, 9], "restitution": 0.5, "tangent": block["tangent"]}.items():
        with pytest.raises(carom.InputError, match=f"{name}: impacts are given, which have theirs"):
            carom.sample_many([impact], **{name: value})
    for given in (impact, None, 5):
        with pytest.raises(carom.InputError, match="mass: arrays, or a sequence of carom.Impact"):
            carom.sample_many(given)
    with pytest.raises(carom.InputError, match="seed: 9223372036854775808 is not between"):
        carom.sample_many([impact], seed=2**63)
    nothing = carom.sample_many([])
    assert nothing.velocity.shape == nothing.normal_impulse.shape == nothing.tangent_impulse.shape == (0, 0) and len(nothing) == 0
    # Texts and fractions as of an impact.
    arrays = {**block, "friction": "1/2"}
    half = carom.sample_many(**arrays).velocity
    assert np.array_equal(half, carom.sample_many(**{**block, "friction": 0.5}).velocity)


def test_wrong_types_get_a_sentence(block):
    impact = carom.Impact(**block)
    out = impact.sample(20)
    for call, words in [
        (lambda: out.max(5), "max: 5 is not a text"),
        (lambda: carom.solve_lcp([[1]], [1], None), "solver: None is not the name of one"),
        (lambda: impact.sample(5, threads="4"), "threads: '4' is not a whole number"),
        (lambda: impact.sample(5, keep=["all"]), r"keep: \['all'\] is not one of"),
        (lambda: carom.Impact(**block, names=5), "names: a list of 2 texts"),
        (lambda: carom.Impact(**block, geometry=5), "geometry: a carom.Geometry is needed, not int"),
        (lambda: impact.contact_velocity([1, np.nan, 0]), "velocity: it has entries that are not finite"),
        (lambda: impact.kinetic_energy([1, 0]), r"velocity: it has the shape \(2,\)"),
    ]:
        with pytest.raises(carom.InputError, match=words):
            call()


def test_velocities_of_all_outcomes_at_once(block):
    impact = carom.Impact(**block)
    out = impact.sample(20)
    assert np.array_equal(impact.contact_velocity(out.velocity), [impact.contact_velocity(v) for v in out.velocity])
    assert impact.kinetic_energy(out.velocity).tolist() == [impact.kinetic_energy(v) for v in out.velocity]
    assert impact.contact_velocity(np.empty((0, 3))).shape == (0, 4) and impact.kinetic_energy(np.empty((0, 3))).shape == (0,)


def test_equality_is_identity_where_a_field_is_an_array(block):
    impact = carom.Impact(**block)
    exact, out = impact.exact(), impact.sample(20)
    assert exact.pieces[1] in exact.pieces and exact.pieces[0] != exact.pieces[1]
    many = carom.sample_many([impact, impact])
    contained = out.contains(out.velocity[:2])
    assert many == many and many != carom.sample_many([impact, impact]) and contained == contained
    assert contained != out.contains(out.velocity[:2])


def test_small_habits_of_objects(block):
    impact = carom.Impact(**block)
    out = impact.resolve("sequential")
    assert weakref.ref(impact)() is impact and not out.terminated.flags.writeable
    with pytest.raises(AttributeError):
        carom.Outcomes.__new__(carom.Outcomes).columns
    assert {"Jn.A", "velocity"} & set(out._ipython_key_completions_()) == {"Jn.A"}
    assert dir(carom) == sorted([*carom.__all__, "__version__"]) and carom.__all__[0] == "Impact"
    assert all(hasattr(carom, name) for name in carom.__all__)
    exact = carom.Impact(**{**block, "velocity": [0, 0, 0]}).exact()
    assert "1 piece, 1 vertex," in repr(exact) and "1 vertex," in repr(exact.pieces[0])
