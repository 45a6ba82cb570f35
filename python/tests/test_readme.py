# SPDX-License-Identifier: Apache-2.0
"""What the README shows runs."""
import matplotlib
from readme import snippet

matplotlib.use("agg")


def test_from_matrices_to_a_plotted_set_in_five_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(snippet("carom.Impact("), names)
    assert names["impact"].names == ("A", "B") and names["ax"].get_xlabel().startswith("Jn.A")
    assert (tmp_path / "block.png").stat().st_size > 1000
