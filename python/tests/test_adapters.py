# SPDX-License-Identifier: Apache-2.0
"""Adapters import their simulator when they are called, and not before."""
import subprocess
import sys

import pytest

import carom

ADAPTERS = {"from_mujoco": "mujoco", "from_pinocchio": "pinocchio", "from_drake": "pydrake"}


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_simulator_that_is_missing_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, ADAPTERS[name], None)
    adapter = getattr(carom, name)
    with pytest.raises(ImportError, match=ADAPTERS[name]):
        adapter(*([None] * (5 if name == "from_pinocchio" else 2)))


def test_no_simulator_is_imported_before():
    lines = f"import sys, carom\nfor name in {list(ADAPTERS)}: getattr(carom, name)\nassert not {set(ADAPTERS.values())} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", lines], check=True)
