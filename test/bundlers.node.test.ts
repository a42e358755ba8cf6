/**
 * The package in programs that current bundlers make, run in a browser: a scenario whose sections load on
 * demand, a pool with a worker, an explanation. The package is installed as a user installs it.
 */
import { cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build as esbuild } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { rollup } from "@rollup/wasm-node";
import { build as vite } from "vite";
import webpack from "webpack";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { launchBrowser, PAGE_LIMITS } from "./support/browser.js";
import { installedFolder } from "./support/installed.js";
import { DEEP } from "./support/tier.js";
import { servePage } from "../src/cli/serve/pageServer.js";

vi.setConfig(PAGE_LIMITS);

const PROGRAM = `
import { createDevicePool } from "flowsteer";
import { loadScenario } from "flowsteer/scenario";
import { why } from "flowsteer/explain";

const scenario = {
  flowsteer: 1,
  queues: [{ name: "web" }],
  counters: [{ name: "hits" }],
  tables: [{ name: "first", level: 0 }],
  rules: [{ name: "to web", table: "first", match: { "outer.tcp_dport": 443 }, actions: [{ count: "hits" }, { queue: "web" }] }],
  frames: [443, 80].map((destination_port) => ({
    headers: [
      { header: "ethernet" },
      { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
      { header: "tcp", source_port: 40000, destination_port },
    ],
  })),
};

async function main() {
  const loaded = await loadScenario(scenario);
  const verdicts = loaded.run().map(({ verdict }) => verdict);
  const { sentence } = await why(loaded.device, 1, loaded.frames[1].bytes, loaded.rules.get("to web"));
  const pool = await createDevicePool({ workers: 2 });
  const { workers } = pool.distribution;
  pool.close();
  return { verdicts, sentence, workers };
}

main().then(
  (result) => (document.title = JSON.stringify(result)),
  (error) => (document.title = "Error: " + error.message),
);
`;

let folder: string;
let browser: Browser;

beforeAll(async () => {
  folder = installedFolder();
  writeFileSync(join(folder, "app.js"), PROGRAM);
  writeFileSync(join(folder, "index.html"), '<!doctype html><script type="module" src="./app.js"></script>');
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What docs/bundlers.md tells users of bundlers that leave files behind. */
function copyFiles(out: string, names: readonly string[]): void {
  for (const name of names) cpSync(join(folder, "node_modules/flowsteer/dist", name), join(out, name));
}

const FILES = ["core.wasm", "traced.wasm", "worker.js"];

const BUNDLERS: Readonly<Record<string, (out: string) => Promise<void>>> = {
  esbuild: async (out) => {
    await esbuild({
      entryPoints: [join(folder, "app.js")],
      bundle: true,
      format: "esm",
      splitting: true,
      outdir: out,
      logLevel: "error",
    });
  },
  rollup: async (out) => {
    const warnings: string[] = [];
    const bundle = await rollup({
      input: join(folder, "app.js"),
      plugins: [nodeResolve({ browser: true })],
      onwarn: ({ message }) => warnings.push(message),
    });
    await bundle.write({ dir: out, format: "esm" });
    expect(warnings).toEqual([]);
  },
  vite: async (out) => {
    await vite({ root: folder, base: "./", logLevel: "error", build: { outDir: out, emptyOutDir: true } });
  },
  webpack: (out) =>
    new Promise((resolve, reject) => {
      const compiler = webpack({
        mode: "production",
        context: folder,
        entry: "./app.js",
        output: { path: out, filename: "app.js" },
        performance: false,
      });
      if (compiler === null) throw new Error("webpack made no compiler");
      compiler.run((error, stats) => {
        const problems = stats?.toJson({ errors: true, warnings: true });
        const texts = [...(problems?.errors ?? []), ...(problems?.warnings ?? [])].map(({ message }) => message);
        compiler.close(() => {
          if (error !== null || texts.length > 0) reject(error ?? new Error(texts.join("\n")));
          else resolve();
        });
      });
    }),
};

/** Bundlers that leave out the files which `new URL` names. */
const COPIED_BY_HAND = ["esbuild", "rollup"];

async function answerOf(out: string): Promise<{ title: string; faults: string[] }> {
  if (!existsSync(join(out, "index.html"))) cpSync(join(folder, "index.html"), join(out, "index.html"));
  const server = await servePage(out, new Map(), 0);
  const page: Page = await browser.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  try {
    await page.goto(server.url);
    await page.waitForFunction(() => document.title !== "");
    return { title: await page.title(), faults };
  } finally {
    await page.close();
    await server.close();
  }
}

const outOf = (name: string): string => join(folder, `out-${name}`);

test.each(DEEP ? Object.keys(BUNDLERS) : ["esbuild"])("a program that %s bundled runs in the browser", async (name) => {
  const out = outOf(name);
  await BUNDLERS[name]?.(out);
  if (COPIED_BY_HAND.includes(name)) copyFiles(out, FILES);
  const { title, faults } = await answerOf(out);
  expect(faults).toEqual([]);
  expect(JSON.parse(title)).toEqual({
    verdicts: ["deliver", "miss"],
    sentence: expect.stringContaining("outer.tcp_dport") as string,
    workers: 2,
  });
});

test.each(FILES)("%s is named where it was not copied, and what to do", async (missing) => {
  const out = outOf("without");
  await BUNDLERS["esbuild"]?.(out);
  copyFiles(out, FILES);
  rmSync(join(out, missing));
  const { title } = await answerOf(out);
  expect(title).toContain(`copy node_modules/flowsteer/dist/${missing}`);
});
