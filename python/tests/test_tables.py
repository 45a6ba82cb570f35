# SPDX-License-Identifier: Apache-2.0
"""Outcomes as tables of other packages, and their numbers by name."""
import numpy as np
import pytest

import carom


def test_velocities_by_their_names(block):
    out = carom.Impact(**block, velocity_names=["x", "Jn.z", "tilt"]).sample(100, seed=1)
    assert np.array_equal(out["tilt"], out["v.3"]) and np.array_equal(out["v.tilt"], out["v.3"]) and np.array_equal(out["v.Jn.z"], out["v.2"])
    assert "x" in out and "Jn.z" not in out and "y" not in out
    assert out.max("tilt") == out["tilt"].max()


@pytest.mark.parametrize("law", carom.laws())
def test_pandas(block, law):
    pandas = pytest.importorskip("pandas")
    options = {"contact": "A"} if law == "stronge" else {}
    out = carom.Impact(**block, velocity_names=["x", "z", "tilt"]).resolve(law, **options)
    frame = out.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(out) and frame.index.name == "outcome"
    for name in ("v.x", "v.tilt", "Jn.A", "Jt.B", "Pn.B", "Pt.A"):
        assert np.array_equal(frame[name], out[name], equal_nan=True)
    assert np.array_equal(frame["energy_ratio"], out.energy_ratio, equal_nan=True) and list(frame["word"]) == list(out.word)
    assert frame.attrs["law"] == law and frame.attrs["units"]["v_plus"] == out.columns["v_plus"].unit


@pytest.mark.parametrize("law", carom.laws())
def test_xarray(block, law):
    xarray = pytest.importorskip("xarray")
    options = {"contact": "A"} if law == "stronge" else {}
    out = carom.Impact(**block, velocity_names=["x", "z", "tilt"]).resolve(law, **options)
    data = out.to_xarray()
    assert isinstance(data, xarray.Dataset) and set(data.data_vars) == set(out.columns)
    assert np.array_equal(data.v_plus.sel(velocity="tilt"), out["tilt"])
    assert np.array_equal(data.normal_impulse.sel(contact="B"), out["Pn.B"], equal_nan=True)
    assert np.array_equal(data.tangent_velocity.sel(tangent="A"), out["Jt.A"])
    assert data.normal_velocity.attrs["units"] == "m/s" and data.attrs["law"] == law
