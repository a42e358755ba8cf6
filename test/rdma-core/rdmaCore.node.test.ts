/**
 * rdma-core's own flow-steering tests, unmodified, on flowsteer. They run in the deep tier where
 * Python with scapy is, and RDMA_CORE_TESTS names a folder with rdma-core's `tests` (README.md).
 */
import { readFileSync, writeSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { DEEP } from "../support/tier.js";
import { findPython, RDMA_CORE_COMMIT, runTests } from "./runTests.js";

interface Golden {
  source: string;
  tests: string[];
  /** By profile, the tests that did not pass. */
  notPassed: Record<string, Record<string, { outcome: string }>>;
}

const golden = JSON.parse(readFileSync(new URL("../golden/rdma-core.json", import.meta.url), "utf8")) as Golden;

test("the committed results are those of the pinned commit", () => {
  expect(golden.source).toContain(RDMA_CORE_COMMIT);
  expect(golden.tests).toHaveLength(54);
});

const folder = process.env["RDMA_CORE_TESTS"];
const python = DEEP && folder !== undefined ? findPython() : undefined;
if (DEEP && python === undefined) {
  const missing = folder === undefined ? "set RDMA_CORE_TESTS to a folder of rdma-core" : "no Python 3.10 with scapy";
  // Vitest shows what the console of a test file says only if a test fails.
  writeSync(2, `\n*** rdma-core's tests are SKIPPED: ${missing} ***\n`);
}

describe.runIf(python !== undefined)("rdma-core's tests have the committed results", () => {
  test.each(Object.entries(golden.notPassed))("%s", (profile, notPassed) => {
    const results = runTests(python as string, folder as string, profile);
    const expected = (name: string): string => notPassed[name]?.outcome ?? "passed";
    expect(results.filter(({ test: name, outcome }) => outcome !== expected(name))).toEqual([]);
    expect(results.map(({ test: name }) => name)).toEqual(golden.tests);
  });
});
