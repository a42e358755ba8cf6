"""Runs files of rdma-core's tests, and prints what each says: passed, skipped by reason, failed.

The working directory has rdma-core's `tests`; see golden-pyverbs.mjs.
"""

import json
import os
import sys
import unittest
from collections import Counter

sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "tests")]
from args_parser import parser  # noqa: E402

name = sys.argv[1]
sys.argv[1:] = ["--dev", "flowsteer0"]
parser.parse_args()
suite = unittest.defaultTestLoader.loadTestsFromName(f"tests.{name}")
with open(os.devnull, "w", encoding="utf8") as stream:
    result = unittest.TextTestRunner(stream=stream).run(suite)
failed = {test.id().removeprefix("tests."): text.strip().splitlines()[-1] for test, text in result.failures + result.errors}
skipped = Counter(reason for _, reason in result.skipped)
passed = result.testsRun - len(failed) - skipped.total()
print(json.dumps({"passed": passed, "skipped": dict(sorted(skipped.items())), "failed": failed}))
