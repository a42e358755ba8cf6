/** Processes that unpack the packaged browser at the same time all get a whole one, also when one of them is killed. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { findBrowser } from "../scripts/find-browser.mjs";
import { DEEP } from "./support/tier.js";

const run = promisify(execFile);
const SCRIPT = new URL("../scripts/find-browser.mjs", import.meta.url).href;
const env = { ...process.env, FLOWSTEER_BROWSER: "package" };

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The arguments of node for a process that finds the browser in a cache and prints its path. */
function finding(cache: string): string[] {
  const code = `const { findBrowser } = await import(${JSON.stringify(SCRIPT)});
    console.log((await findBrowser(${JSON.stringify(cache)})).path);`;
  return ["--input-type=module", "--eval", code];
}

test.runIf(DEEP && process.platform === "linux" && process.arch === "x64")("unpacked by many, one killed", async () => {
  const cache = mkdtempSync(join(tmpdir(), "flowsteer-browser-"));
  try {
    const killed = spawn(process.execPath, finding(cache), { env, stdio: "ignore" });
    const ended = new Promise((resolve) => killed.once("exit", (_, signal) => resolve(signal)));
    // It has begun.
    while (readdirSync(cache).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const others = [1, 2].map(() => run(process.execPath, finding(cache), { env }));
    killed.kill("SIGKILL");
    expect(await ended).toBe("SIGKILL");
    const paths = (await Promise.all(others)).map(({ stdout }) => stdout.trim());
    expect(new Set(paths).size).toBe(1);
    vi.stubEnv("FLOWSTEER_BROWSER", "package");
    const found = await findBrowser(cache);
    const { stdout } = await run(paths[0] as string, ["--version"], { env: { ...process.env, ...found?.env } });
    expect(stdout).toContain("Chrom");
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
});
