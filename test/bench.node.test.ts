/** The benchmarks run, and engine and peers give equal answers; nothing here is timed. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

test("equal answers", () => {
  expect(output("bench/run.ts", "--quick")).toContain("plain JavaScript");
});

test("the page of where the time goes", () => {
  const page = output("bench/profile/run.ts", "--quick");
  for (const kind of ["TCP, three tables", "VXLAN", "IPv6", "ESP", "acl1 10k"]) expect(page).toContain(`### ${kind}`);
});

/** What a program prints that ends well and says nothing on standard error. */
function output(...args: string[]): string {
  const run = spawnSync(process.execPath, ["--import", "tsx", ...args], { cwd: root, encoding: "utf8" });
  expect(run.stderr).toBe("");
  expect(run.status).toBe(0);
  return run.stdout;
}
