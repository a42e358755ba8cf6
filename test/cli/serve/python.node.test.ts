/** examples/python: its own tests, against served devices. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/command.js";

const FOLDER = join(root, "examples/python");

/** Debian installs SimPy for its own Python only. */
const PYTHONS = ["python3", "/usr/bin/python3"];
const withSimPy = PYTHONS.find((python) => spawnSync(python, ["-c", "import simpy"]).status === 0);

test("the Python package does what its tests say", { timeout: 600_000 }, () => {
  const env = {
    ...process.env,
    FLOWSTEER_COMMAND: `"${process.execPath}" "${join(root, "dist/cli.js")}"`,
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const args = ["-W", "error::ResourceWarning", "-m", "unittest", "-v"];
  const { status, stderr } = spawnSync(withSimPy ?? "python3", args, { cwd: FOLDER, env, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const [, tests] = /^Ran (\d+) tests/m.exec(stderr) ?? [];
  expect(Number(tests)).toBeGreaterThan(14);
  expect(stderr.match(/skipped 'SimPy is not installed'/g)?.length ?? 0).toBe(withSimPy === undefined ? 2 : 0);
});
