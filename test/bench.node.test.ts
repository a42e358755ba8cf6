/** The benchmarks run, and engine and peers give equal answers; nothing here is timed. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("equal answers", () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const run = spawnSync(process.execPath, ["--import", "tsx", "bench/run.ts", "--quick"], {
    cwd: root,
    encoding: "utf8",
  });
  expect(run.stderr).toBe("");
  expect(run.status).toBe(0);
  expect(run.stdout).toContain("plain JavaScript");
}, 120_000);
