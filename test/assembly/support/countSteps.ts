/** Counts the statements that a core executes: the core is built with a counter in each (the coverage core). */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { tellHits } from "../../../scripts/coverage-hits.mjs";
import { ROOT } from "../../support/root.js";

/** The statements that all cores of `countSteps` have executed. */
export const Steps = { count: 0 };

/** Opens something on a core whose statements are counted. */
export async function countSteps<T>(open: (core: Uint8Array) => Promise<T>): Promise<T> {
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs", "--wasm", "coverage"], { cwd: ROOT });
  expect(status).toBe(0);
  const end = tellHits(() => {
    Steps.count++;
  });
  try {
    return await open(readFileSync(join(ROOT, "build/coverage/core.wasm")));
  } finally {
    end();
  }
}

/** The most steps of a call, over all elements. */
export function mostSteps<T>(all: readonly T[], call: (one: T, n: number) => void): number {
  let worst = 0;
  for (const [n, one] of all.entries()) {
    Steps.count = 0;
    call(one, n);
    worst = Math.max(worst, Steps.count);
  }
  return worst;
}
