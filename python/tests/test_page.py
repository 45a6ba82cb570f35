# SPDX-License-Identifier: Apache-2.0
"""The explorer's page as a file: its data, and how it is written. What it does in a browser is in packages/test_explorer.py."""
import base64
import gzip
import json
import os
import re
import sys
import types

import numpy as np
import pytest

import carom


@pytest.fixture
def plotly(monkeypatch):
    """Stands for the package plotly, whose JavaScript these tests do not run."""
    module = types.ModuleType("plotly.offline")
    module.get_plotlyjs = lambda: "/* plotly */"
    monkeypatch.setitem(sys.modules, "plotly", types.ModuleType("plotly"))
    monkeypatch.setitem(sys.modules, "plotly.offline", module)


def data_of(page):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    return json.loads(text)


def unpack(text, itemsize, rows):
    planes = np.frombuffer(gzip.decompress(base64.b64decode(text)), np.uint8).reshape(itemsize, -1)
    kind = np.float32 if itemsize == 4 else np.uint8
    return np.ascontiguousarray(planes.T).view(kind).reshape(-1, rows)


@pytest.mark.parametrize("scene", ["block.yaml", "quadruped.yaml", "block-matrices.yaml"])
def test_the_page_holds_every_outcome(scene, scenes, tmp_path, plotly):
    loaded = carom.load(scenes / scene)
    comparison = carom.compare(loaded, samples=300)
    carom.explore(comparison, tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    assert data["title"] == loaded.name
    assert [law["name"] for law in data["laws"]] == list(comparison)
    for law, out in zip(data["laws"], comparison.values()):
        columns, rest = unpack(law["columns"], 4, len(out)), 1e-8 * loaded.impact.velocity_scale
        for axis, column in zip(data["axes"], columns):
            wanted = out[axis["name"]]
            assert np.allclose(column, wanted, rtol=1e-6, atol=rest, equal_nan=True), axis
        # Energies of rest are zero, not the squares of rounding errors.
        wanted = np.where(out["energy_ratio"] <= 2**-52, 0, out["energy_ratio"])
        assert np.array_equal(columns[-1], wanted.astype(np.float32), equal_nan=True)
        # Which contact does what, as the counts of the outcomes say.
        modes = unpack(law["modes"], 1, len(out))
        for contact, row in zip(loaded.impact.names, modes):
            assert out.modes()[contact] == {mode: int((row == i).sum()) for i, mode in enumerate(data["modes"])}
    assert (data["place"] is None) == (scene == "block-matrices.yaml")


def test_energies_of_rest_are_zero(tmp_path, plotly):
    # A point that comes to rest but for rounding.
    out = carom.Impact(np.diag([0.3, 0.7]), [0.1, 0.7], [0.7, -0.1], 10, [0.3, -0.9]).sample(64)
    assert 0 < out["energy_ratio"].max() < 1e-16
    carom.explore(out, tmp_path / "page.html")
    assert not unpack(data_of(tmp_path / "page.html")["laws"][0]["columns"], 4, 64)[-1].any()


def test_the_page_says_what_samples_are_of_the_set(scenes, tmp_path, plotly):
    for sampler in ("auto", "walk"):
        out = carom.load(scenes / "compass-matrices.yaml").sample(512, sampler=sampler)
        carom.explore(out, tmp_path / "page.html")
        (law,) = data_of(tmp_path / "page.html")["laws"]
        assert law["outside"] == out.info["approximate"] and (law["outside"] > 0) == (sampler == "auto")


def test_velocities_follow_from_impulses(scenes, tmp_path, plotly):
    out = carom.load(scenes / "quadruped.yaml").sample(64)
    carom.explore(out, tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    impulses = unpack(data["laws"][0]["columns"], 4, 64)[12:24]
    after = np.array(data["velocities"]["before"]) + impulses.T @ np.array(data["response"])
    assert np.allclose(after, out.velocity, atol=1e-5)
    assert data["velocities"]["names"][0] == "root.x"
    assert len(data["place"]["points"]) == 4
    assert data["place"]["bodies"][0] == ["world", "front_left_shank"]


def test_names_do_no_harm(block, tmp_path, plotly):
    impact = carom.Impact(**block, names=["</script><b>", "{{data}}"])
    carom.explore(impact.resolve("routh"), tmp_path / "page.html", title="<i>&")
    data = data_of(tmp_path / "page.html")
    assert data["contacts"] == ["</script><b>", "{{data}}"]
    assert "<title>&lt;i&gt;&amp;</title>" in (tmp_path / "page.html").read_text("utf-8")


def test_the_page_needs_no_network(block, tmp_path, plotly):
    carom.explore(carom.Impact(**block).resolve("routh"), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "default-src 'none'" in text
    assert not re.search(r"\b(src|href)\s*=", text.split("<script>")[0])


def test_only_pages_are_replaced(block, tmp_path, plotly):
    out = carom.Impact(**block).resolve("routh")
    page = tmp_path / "page.html"
    for _ in range(2):
        carom.explore(out, page)
    (tmp_path / "scene.yaml").write_text("name: mine\n")
    with pytest.raises(carom.InputError, match="not a page"):
        carom.explore(out, tmp_path / "scene.yaml")
    with pytest.raises(carom.InputError, match="not a file"):
        carom.explore(out, tmp_path)
    with pytest.raises(OSError, match="No such file"):
        carom.explore(out, tmp_path / "none" / "page.html")
    assert (tmp_path / "scene.yaml").read_text() == "name: mine\n"
    assert sorted(os.listdir(tmp_path)) == ["page.html", "scene.yaml"]


def test_permissions_are_those_of_any_file_or_of_the_page_that_is_replaced(block, tmp_path, plotly, monkeypatch):
    out, page = carom.Impact(**block).resolve("routh"), tmp_path / "page.html"
    (tmp_path / "any").write_text("")
    # The mask of the process is that of other threads, too.
    monkeypatch.delattr(os, "umask")
    carom.explore(out, page)
    assert page.stat().st_mode == (tmp_path / "any").stat().st_mode
    page.chmod(0o600)
    carom.explore(out, page)
    assert page.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_explored_is_said(block, scenes, tmp_path, plotly):
    impact = carom.Impact(**block)
    with pytest.raises(carom.InputError, match="nothing to show"):
        carom.explore(impact.sample(64, keep="extent"), tmp_path / "page.html")
    for given, words in [([], "no outcomes are given"), (7, "a carom.Outcomes is needed, not int")]:
        with pytest.raises(carom.InputError, match=words):
            carom.explore(given, tmp_path / "page.html")
    with pytest.raises(carom.InputError, match="contacts are not those"):
        carom.explore([impact.resolve("routh"), carom.load(scenes / "cradle.yaml").resolve("routh")], tmp_path / "page.html")
    assert not os.listdir(tmp_path)


def test_without_plotly_the_error_says_what_is_missing(block, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(ImportError, match="pip install plotly"):
        carom.explore(carom.Impact(**block).resolve("routh"), tmp_path / "page.html")


def test_files_with_several_laws_become_one_page(scenes, tmp_path, plotly):
    from carom.explorer import explore_files

    scene = carom.load(scenes / "block.yaml")
    for law in ("routh", "sequential"):
        scene.resolve(law).save(tmp_path / f"{law}.h5")
    explore_files([str(tmp_path / "routh.h5"), str(tmp_path / "sequential.h5")], str(tmp_path / "page.html"))
    data = data_of(tmp_path / "page.html")
    assert [law["name"] for law in data["laws"]] == ["routh", "sequential"]
    assert data["title"] == "rocking block" and data["place"] is not None
