#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py FILE...: runs pytest and reports as the other test programs do (TAP), for scripts/run-tests.sh."""
import os
import sys

import pytest


class Tap:
    """Lists a result as soon as it is known, so that the results before a crash are counted, too."""

    def __init__(self):
        self.count = 0

    def pytest_addoption(self, parser):
        # What pytest's own reports, which are off, would define: it asks for them when it explains a failed comparison.
        parser.addoption("--verbose", action="count", default=0)

    def pytest_collection_finish(self, session):
        print(f"1..{len(session.items)}", flush=True)

    def pytest_collectreport(self, report):
        # A file that cannot be imported has no tests of which one could fail.
        if report.failed:
            print(f"1..1\nnot ok 1 - {report.nodeid}\n{report.longreprtext}", flush=True)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.count += 1
            word = {"passed": "ok", "failed": "not ok", "skipped": "not ok"}[report.outcome]
            print(f"{word} {self.count} {'# SKIP ' if report.skipped else '- '}{report.nodeid}", flush=True)
            if report.failed:
                print(report.longreprtext, flush=True)


# Children of multiprocessing import this file, too.
if __name__ == "__main__":
    folder = os.path.dirname(__file__)
    sys.exit(pytest.main(["-p", "no:terminal", "-p", "no:cacheprovider", f"--rootdir={folder}", *sys.argv[1:]], plugins=[Tap()]))
