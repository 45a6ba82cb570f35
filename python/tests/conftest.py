# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share: the shipped scenes, and the command beside the package."""
import json
import os
import pathlib
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = ROOT / os.environ.get("CAROM_BUILD", "build") / "carom"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """What needs a library that the build lacks (scripts/libraries.mk) is skipped, where it says so."""
    report = (yield).get_result()
    said = str(call.excinfo.value) + report.capstderr if report.failed and call.excinfo else ""
    if "this build has no " in said:
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, said)


@pytest.fixture(autouse=True)
def heeded():
    """Ctrl-C counts, also where the tests run in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def scenes():
    return ROOT / "scenes"


@pytest.fixture
def command():
    """Runs the command and returns its JSON document."""

    def run(*words):
        done = subprocess.run([COMMAND, *map(str, words), "--json"], capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def block():
    """The rocking block of Halm & Posa as arrays: mass, normal, tangent, friction, velocity."""
    import carom

    impact = carom.load(ROOT / "scenes" / "block.yaml").impact
    return {name: getattr(impact, name).copy() for name in ("mass", "normal", "tangent", "friction", "velocity")}
