/** A core that counts the statements that it executes. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { tellHits } from "../../../../scripts/coverage-hits.mjs";
import type { Core } from "../../../../src/engine/core.js";
import { loadOpenCore } from "../../../support/openCore.js";
import { ROOT } from "../../../support/root.js";

/** The statements that all counting cores have executed. */
export const Steps = { count: 0 };

export async function countingCore(): Promise<Core> {
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs", "--wasm", "coverage"], { cwd: ROOT });
  expect(status).toBe(0);
  const end = tellHits(() => {
    Steps.count++;
  });
  try {
    return await loadOpenCore(readFileSync(join(ROOT, "build/coverage/core.wasm")));
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
