"""Runs rdma-core's tests on flowsteer, each on a new device. Prints one JSON line a test.

Arguments: profile of the device, folder with rdma-core's `tests`, names of modules or tests.
"""

import gc
import importlib
import json
import os
import sys
import traceback
import types
import unittest
from typing import Any, Iterator

PROFILE, FOLDER, *NAMES = sys.argv[1:]
sys.argv[1:] = []
sys.path[:0] = [os.path.dirname(__file__), FOLDER, os.path.join(FOLDER, "tests")]

# The package `tests` imports all its modules, of which many need much more of pyverbs.
tests = types.ModuleType("tests")
tests.__path__ = [os.path.join(FOLDER, "tests")]
sys.modules["tests"] = tests

import host  # noqa: E402
from args_parser import parser  # noqa: E402
from pyverbs.link import call  # noqa: E402
from pyverbs.pyverbs_error import PyverbsRDMAError  # noqa: E402


class Result(unittest.TestResult):
    """Remembers what happened to the current test."""

    outcome = "passed"
    reason = ""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.outcome, self.reason = "passed", ""

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.outcome, self.reason = "skipped", reason

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._failed(err)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._failed(err)

    def _failed(self, err: Any) -> None:
        self.outcome = "failed"
        self.reason += "".join(traceback.format_exception(*err))


def each(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Returns the tests of a suite."""
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from each(one)
        else:
            yield one


def unclosed() -> str:
    """Closes the device. Returns why it cannot be closed: a test left something open."""
    gc.collect()
    try:
        call("close")
    except PyverbsRDMAError as error:
        return str(error)
    return ""


def main() -> None:
    """Runs the tests."""
    host.install()
    parser.parse_args()
    importlib.import_module("tests.utils")  # Before tests.mlx5_base: they import each other.
    for test in each(unittest.defaultTestLoader.loadTestsFromNames(NAMES)):
        call("open", PROFILE)
        result = Result()
        test.run(result)
        name, outcome, reason = test.id(), result.outcome, result.reason
        test.__dict__.clear()
        left = unclosed()
        if left and outcome == "passed":
            outcome, reason = "failed", left
        print(json.dumps({"test": name, "outcome": outcome, "reason": reason}), flush=True)


main()
