# SPDX-License-Identifier: Apache-2.0
"""Values that no file, text or number of C can hold, damaged pickles: each is bad input, whatever Python calls it."""
import pickle
import random

import numpy as np
import pytest

import carom

# A lone surrogate that no bytes of a file name stand for, a zero byte, numbers beyond int64 and beyond doubles.
TEXTS = ["\ud800", "a\udfffb", "a\0b"]
NUMBERS = [2**70, -(2**70), 10**400]
IMPACT = {"mass": np.eye(2), "normal": [[0, 1]], "tangent": [[1, 0]], "friction": [0.5], "velocity": [1, -1]}


@pytest.fixture(scope="module")
def impact():
    return carom.Impact(**IMPACT)


@pytest.fixture(scope="module")
def out(impact):
    return impact.sample(64, seed=1)


# Entries by what they take; each is called with the value in question.
WITH_TEXT = {
    "names": lambda impact, out, x: carom.Impact(**IMPACT, names=[x]),
    "velocity_names": lambda impact, out, x: carom.Impact(**IMPACT, velocity_names=["a", x]),
    "from_delassus": lambda impact, out, x: carom.Impact.from_delassus(np.eye(2), [-1, 0], [0.5], names=[x]),
    "geometry": lambda impact, out, x: carom.Impact(
        **IMPACT, geometry=carom.Geometry([[0, 0, 0]], [[0, 0, 1]], [[1, 0, 0]], [(x, None)], [(None, None)])
    ),
    "number": lambda impact, out, x: carom.Impact(**{**IMPACT, "friction": [x]}),
    "resolve": lambda impact, out, x: impact.resolve(x),
    "resolve.keep": lambda impact, out, x: impact.resolve("halm-posa", keep=x),
    "resolve.option": lambda impact, out, x: impact.resolve("halm-posa", **{x: 1}),
    "selection": lambda impact, out, x: impact.resolve("anitescu-potra", selection=x),
    "contact": lambda impact, out, x: impact.resolve("stronge", contact=x),
    "orders": lambda impact, out, x: impact.resolve("sequential", order=[x]),
    "sample.path": lambda impact, out, x: impact.sample(8, path=x),
    "exact.mode": lambda impact, out, x: impact.exact(mode=x),
    "bound": lambda impact, out, x: impact.bound(x),
    "worst": lambda impact, out, x: carom.worst(impact, x, evaluations=16),
    "worst.law": lambda impact, out, x: carom.worst(impact, "v.1", law=x, evaluations=16),
    "max": lambda impact, out, x: out.max(x),
    "hull": lambda impact, out, x: out.hull(x),
    "hull.axes": lambda impact, out, x: out.hull(["v.1", x]),
    "contains.metric": lambda impact, out, x: out.contains([0, 0], metric=x),
    "distance": lambda impact, out, x: out.distance(x),
    "distance.metric": lambda impact, out, x: out.distance(out, metric=x),
    "save": lambda impact, out, x: out.save(x),
    "load": lambda impact, out, x: carom.load(x),
    "read": lambda impact, out, x: carom.read(x),
    "law": lambda impact, out, x: carom.law(x),
    "sample_many": lambda impact, out, x: carom.sample_many([impact], law=x),
    "solve_lcp": lambda impact, out, x: carom.solve_lcp([[1.0]], [-1.0], solver=x),
}
WITH_NUMBER = {
    "seed": lambda impact, out, x: impact.sample(8, seed=x),
    "samples": lambda impact, out, x: impact.sample(x),
    "threads": lambda impact, out, x: impact.sample(8, threads=x),
    "max_steps": lambda impact, out, x: impact.sample(8, max_steps=x),
    "restitution": lambda impact, out, x: impact.resolve("moreau", restitution=x),
    "tangent_dim": lambda impact, out, x: carom.Impact.from_delassus(np.eye(2), [-1, 0], [0.5], tangent_dim=x),
    "bound.planes": lambda impact, out, x: impact.bound("v.1", planes=x),
    "worst.seed": lambda impact, out, x: carom.worst(impact, "v.1", seed=x, evaluations=16),
    "worst.evaluations": lambda impact, out, x: carom.worst(impact, "v.1", evaluations=x),
    "sample_many.seed": lambda impact, out, x: carom.sample_many([impact], seed=x),
    "many_seed": lambda impact, out, x: carom.many_seed(x, 0),
    "many_seed.index": lambda impact, out, x: carom.many_seed(0, x),
}
# Those that are doubles take 2**70 as one.
WITH_REAL = {
    "bound.seconds": lambda impact, out, x: impact.bound("v.1", seconds=x),
    "worst.seconds": lambda impact, out, x: carom.worst(impact, "v.1", seconds=x),
    "contains": lambda impact, out, x: out.contains([0, 0], tolerance=x),
    "contains.v": lambda impact, out, x: out.contains([x, 0]),
    "distance.gap": lambda impact, out, x: out.distance(out, gap=x),
    "velocity": lambda impact, out, x: carom.Impact(**{**IMPACT, "velocity": [x, -1]}),
    "kinetic_energy": lambda impact, out, x: impact.kinetic_energy([x, 0]),
    "solve_lcp": lambda impact, out, x: carom.solve_lcp([[x]], [-1.0]),
}


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
@pytest.mark.parametrize("entry", WITH_TEXT)
def test_texts_that_are_none(impact, out, entry, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(carom.InputError) as caught:
        WITH_TEXT[entry](impact, out, text)
    assert str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", NUMBERS, ids=["2**70", "-2**70", "10**400"])
@pytest.mark.parametrize("entry", WITH_NUMBER)
def test_numbers_beyond_those_of_c(impact, out, entry, number):
    with pytest.raises(carom.InputError):
        WITH_NUMBER[entry](impact, out, number)


@pytest.mark.parametrize("entry", WITH_REAL)
def test_numbers_beyond_doubles(impact, out, entry):
    with pytest.raises(carom.InputError):
        WITH_REAL[entry](impact, out, 10**400)


# ------------------------------------------------------------------------------------------------------------- pickles


def use(read):
    """Everything that reads a table to its last cell."""
    for name in read.columns:
        try:
            repr(read[name])
        except (ValueError, OverflowError):
            pass
    read.info, read.modes(), read.extent, len(read), repr(read)
    for ask in (lambda: read.max("v.1"), lambda: read.hull("v.1,v.2"), lambda: pickle.dumps(read)):
        try:
            ask()
        except (carom.InputError, IndexError, KeyError, MemoryError):
            pass


@pytest.mark.parametrize("law", ["halm-posa", "sequential", "halm-posa-exact"])
def test_damaged_pickles(impact, law):
    """Of a damaged table nothing is read beyond its memory, and nothing takes for ever: every part is refused or can be used."""
    answer = impact.resolve(law, **({"samples": 20} if law == "halm-posa" else {}))
    restore, arguments = answer.__reduce__()
    if law == "halm-posa-exact":  # with an outer set, which is none here
        restore, arguments, _ = arguments
    kind, of, name, outcomes, result, *rest = arguments
    columns, sizes, parts = outcomes
    random.seed(1)
    whole, refused = parts[0], 0
    damaged = [whole[:length] for length in range(0, len(whole), 1 + len(whole) // 97)]
    for _ in range(600):
        bytes_ = bytearray(whole)
        bytes_[random.randrange(len(bytes_))] ^= 1 << random.randrange(8)
        damaged.append(bytes(bytes_))
    # Counts of rows that no memory holds.
    damaged += [count.to_bytes(8, "little", signed=True) + whole[8:] for count in (2**62, 2**63 - 1, -1, -(2**63), 2**40)]
    for part in damaged:
        try:
            read = restore(kind, of, name, (columns, sizes, (part,)), result, *rest)
        except carom.InputError:
            refused += 1
            continue
        use(read)
    assert refused > 97
    # Columns of other kinds or widths, sizes of other impacts, parts that are none.
    others = [
        (tuple((name, "text", *more) if kind_ == "real" else (name, kind_, *more) for name, kind_, *more in columns), sizes, parts),
        (tuple((name, kind_, 1 if width < 0 else width, *more) for name, kind_, width, *more in columns), sizes, parts),
        (columns[:3], sizes, parts),
        (columns, (2**40, 1, 1), parts),
        (columns, (1, 1, 1), parts),
        (columns, (-1, 1, 1), parts),
        (columns, sizes, (None,)),
        (columns, sizes, ("text",)),
        (columns, sizes, None),
        ((None,), sizes, parts),
        ((("\ud800", *columns[0][1:]), *columns[1:]), sizes, parts),
        (None, sizes, parts),
    ]
    for other in others:
        with pytest.raises(carom.InputError):
            use(restore(kind, of, name, other, result, *rest))
    with pytest.raises(carom.InputError):
        restore(kind, of, "no law", outcomes, result, *rest)
    with pytest.raises(carom.InputError):
        restore(kind, of, name, outcomes, (result[0], result[1], ()), *rest)
