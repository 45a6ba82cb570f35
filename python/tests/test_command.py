# SPDX-License-Identifier: Apache-2.0
"""The package and the command give the same bits."""
import math
import warnings

import numpy as np
import pytest

import carom

SCENES = ["block.yaml", "boxwall.yaml", "compass.yaml", "ramone.yaml", "disks.yaml", "cube-k4.yaml", "cradle.yaml", "recompression.yaml", "corner.yaml"]


def as_json(column, value):
    """A cell as the command writes it: NaN stands for null, in lists where all are NaN."""
    if column.type in ("real", "integer") and np.ndim(value) == 0:
        number = None if value == np.iinfo(np.int64).min else value.item()
        return None if isinstance(number, float) and math.isnan(number) else number
    if column.type in ("real", "square"):
        return None if np.isnan(value).all() else value.tolist()
    if column.type == "boolean":
        return bool(value)
    if column.type == "flags":
        return [name for i, name in enumerate(column.names) if value >> i & 1]
    if column.type == "choice":
        return column.names[value]
    if column.type == "contacts":
        return None if value is None else list(value)
    if column.type == "series" and not column.names:
        return value.tolist()
    return value.tolist() if isinstance(value, np.ndarray) else value


def same(out, document, impact):
    """Every cell of every outcome, the result row, and the verdict."""
    assert len(out) == len(document["outcomes"])
    for name, column in out.columns.items():
        values = out[name]
        for i, outcome in enumerate(document["outcomes"]):
            expected = outcome[name]
            if name == "v_plus" and not impact.has_system:
                continue
            if column.type == "square" and expected is not None:
                expected = np.ravel(expected).tolist()
            assert as_json(column, values[i]) == expected, (name, i)
    for name, value in out.info.items():
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if isinstance(value, float) and math.isnan(value):
            value = None
        if isinstance(value, list) and value and value == [np.iinfo(np.int64).min] * len(value):
            value = None
        if isinstance(value, list) and value and all(isinstance(x, float) and math.isnan(x) for x in value):
            value = None
        assert value == document[name], name


@pytest.mark.filterwarnings("ignore::carom.Incomplete")
@pytest.mark.parametrize("law", carom.laws())
@pytest.mark.parametrize("scene", SCENES)
def test_every_law_gives_the_outcomes_of_the_command(scene, law, scenes, command):
    if law == "halm-posa-exact" and scene not in ("block.yaml", "wall.yaml"):
        pytest.skip("takes long")
    if not (scenes / scene).exists():
        pytest.skip("no such scene")
    loaded = carom.load(scenes / scene)
    options = {"samples": 256} if law == "halm-posa" else {}
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    try:
        out = loaded.resolve(law, **options)
    except (carom.InputError, carom.UnsupportedError):
        pytest.skip("does not apply")
    same(out, command("resolve", scenes / scene, "--law", law, *words), loaded.impact)


@pytest.mark.parametrize("sampler", ["walk", "lcp"])
def test_a_scene_s_max_steps_is_of_its_own_sampler(sampler, scenes, tmp_path, command):
    text = (scenes / "block.yaml").read_text().replace("model: block.xml", f"model: {scenes / 'block.xml'}").replace("max_steps: 10", "max_steps: 3")
    (tmp_path / "short.yaml").write_text(text)
    document = command("sample", tmp_path / "short.yaml", "--samples", 200, "--sampler", sampler)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", carom.Incomplete)
        out = carom.load(tmp_path / "short.yaml").sample(200, sampler=sampler)
    assert out.info["digest"] == document["digest"] and out.info["verdict"] == document["verdict"]
    assert (out.options["max_steps"] == "3") == (sampler != "walk")
