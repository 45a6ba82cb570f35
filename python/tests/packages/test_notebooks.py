# SPDX-License-Identifier: Apache-2.0
"""The notebooks run, draw what they say, and are kept without outputs."""
import os
import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "notebooks"
RUN = pathlib.Path(__file__).resolve().parents[3] / os.environ.get("CAROM_BUILD", "build") / "notebooks"
# What each one needs beside carom, numpy and matplotlib, and how many pictures it draws.
NOTEBOOKS = {"1-footfall": ("mujoco", 2), "2-matrices": (None, 2), "3-training": ("mujoco", 1), "4-measured": ("h5py", 3)}


def test_all_notebooks_are_known():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_kept_without_outputs(name):
    for cell in nbformat.read(FOLDER / f"{name}.ipynb", as_version=4).cells:
        assert cell.cell_type == "markdown" or (cell.outputs == [] and cell.execution_count is None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run(name, tmp_path):
    needs, pictures = NOTEBOOKS[name]
    if needs:
        pytest.importorskip(needs)
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    # The documentation site shows them with their outputs.
    RUN.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, RUN / f"{name}.ipynb")
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == pictures
    assert not [output for output in outputs if output.get("name") == "stderr"]
