# SPDX-License-Identifier: Apache-2.0
"""Python in the README, for tests that run it."""
import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def snippet(word):
    """The lines of the one fenced block of Python that has the word."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (found,) = (block for block in blocks if word in block)
    assert len(found.splitlines()) == 5
    return found
