/** The device in a worker of a page, bundled as examples/page-worker says, in a browser. */
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { servePage, type PageServer } from "../../src/cli/serve/pageServer.js";
import { launchBrowser, PAGE_LIMITS } from "../support/browser.js";
import { installedFolder } from "../support/installed.js";
import { ROOT } from "../support/root.js";

vi.setConfig(PAGE_LIMITS);
const home = "examples/page-worker";

let folder: string;
let server: PageServer;
let browser: Browser;

beforeAll(async () => {
  folder = installedFolder();
  for (const name of ["index.html", "page.ts", "worker.ts"]) cpSync(join(ROOT, home, name), join(folder, name));
  // The two commands at the top of page.ts.
  const [bundle, copy] = [...readFileSync(join(ROOT, home, "page.ts"), "utf8").matchAll(/^\/\/ {5}(.+)$/gm)].map(
    ([, command = ""]) => command,
  );
  const program = join(createRequire(import.meta.url).resolve("esbuild/package.json"), "..", "bin", "esbuild");
  execFileSync(program, (bundle ?? "").split(" ").slice(1), { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  execFileSync("sh", ["-c", copy ?? ""], { cwd: folder });
  server = await servePage(join(folder, "out"), new Map(), 0);
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens the page, sends a frame to each port at once, and returns what it lists. */
async function answersTo(page: Page, ports: readonly number[]): Promise<string[]> {
  await page.goto(server.url);
  await page.evaluate((all) => {
    for (const port of all) {
      (document.getElementById("port") as HTMLInputElement).value = String(port);
      document.getElementById("send")?.click();
    }
  }, ports);
  await page.waitForFunction((count) => document.querySelectorAll("#answers li").length >= count, ports.length);
  return page.locator("#answers li").allTextContents();
}

test("frames that are sent while the worker loads get their verdicts, in order", async () => {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  try {
    expect(await answersTo(page, [443, 23, 80, 443])).toEqual([
      "deliver qp:web",
      "drop drop_action",
      "miss no_rule",
      "deliver qp:web",
    ]);
    expect(faults).toEqual([]);
  } finally {
    await page.close();
  }
});

test("a core that was not copied is named", async () => {
  rmSync(join(folder, "out", "core.wasm"));
  const page = await browser.newPage();
  try {
    const [answer] = await answersTo(page, [443]);
    expect(answer).toMatch(/^the worker failed: .*copy node_modules\/flowsteer\/dist\/core\.wasm/);
  } finally {
    await page.close();
  }
});
