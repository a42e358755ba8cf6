/** Starts rdma-core's tests on flowsteer: `runTests.py`, which starts `bridge.ts`. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The commit of https://github.com/linux-rdma/rdma-core whose tests are run. */
export const RDMA_CORE_COMMIT = "691953d8d502f54088f776c5ba2aeed0a5ac945d";

/** Its modules of tests that steer flows. */
export const MODULES = ["tests.test_flow", "tests.test_mlx5_dr", "tests.test_mlx5_flow"];

/** What became of a test. "skipped": the device lacks what the test needs. */
export interface TestResult {
  /** `tests.test_flow.FlowTest.test_eth_spec_flow_traffic` */
  test: string;
  outcome: "passed" | "skipped" | "failed";
  reason: string;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A Python of 3.10 or later with scapy, which the tests use; undefined if there is none. */
export function findPython(): string | undefined {
  const candidates = [process.env["PYTHON"], "python3", "/usr/bin/python3"];
  const wanted = "import sys, scapy; assert sys.version_info >= (3, 10)";
  return candidates.find((one) => one !== undefined && spawnSync(one, ["-c", wanted]).status === 0);
}

/**
 * Runs the tests on a device of a profile.
 * @param folder what has the folder `tests` of rdma-core
 * @param names modules, classes or tests
 * @throws Error if they cannot be run
 */
export function runTests(python: string, folder: string, profile: string, names = MODULES): TestResult[] {
  const bridge = [process.execPath, "--import", "tsx", here("bridge.ts")];
  const { status, stdout, stderr } = spawnSync(python, [here("runTests.py"), profile, folder, ...names], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    cwd: here("../.."),
    env: { ...process.env, FLOWSTEER_BRIDGE: bridge.join("\t"), PYTHONDONTWRITEBYTECODE: "1" },
  });
  if (status !== 0) throw new Error(`rdma-core's tests did not run to their end:\n${stderr}`);
  return stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as TestResult);
}
