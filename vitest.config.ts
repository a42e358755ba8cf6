import { playwright } from "@vitest/browser-playwright";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig, type Plugin, type TestProjectConfiguration, type UserWorkspaceConfig } from "vitest/config";
import { findBrowser, launchOptions } from "./scripts/find-browser.mjs";

const ALL = ["test/**/*.test.ts"];
const PAGES = ["test/playground/**/*.node.test.ts"];

/** What `npm test` leaves out of the pages: it keeps their start, journeys over all parts, and what needs no browser. */
const DEEP_PAGES = [
  "test/playground/{accessibility,shell,speed}.node.test.ts",
  "test/playground/answers/{comparison,proved,totals}.node.test.ts",
  "test/playground/engine/{bigCapture,changes,hostile,random}.node.test.ts",
  "test/playground/frames/*.node.test.ts",
  "test/playground/rules/{editor,history,import,language,proofs,repairs,running}.node.test.ts",
  "test/playground/share/{dialogs,hostile,offline,reload,texts}.node.test.ts",
  "test/playground/way/way.node.test.ts",
];

/** What else it leaves to `--mode deep`: whatever needs many processes, compilers or seconds. */
const DEEP_ONLY = [
  "test/assembly/classify/{boundedSteps,filterSteps,multipliers}.node.test.ts",
  "test/assembly/crypto/ghash.node.test.ts",
  "test/assembly/out/outcomeClassSteps.node.test.ts",
  "test/{bench,bundlers}.node.test.ts",
  "test/campaign/smoke.node.test.ts",
  "test/cli/{annotate,folders,formats,fullDisk,inputs,parquet,play,workers}.node.test.ts",
  "test/cli/exec/{processes,programs,sanitized,virtualTime}.node.test.ts",
  "test/cli/extcap/extcap.node.test.ts",
  "test/cli/farm/{connections,division,farm,options,spans}.node.test.ts",
  "test/cli/serve/{control,guests,namespaces,python,webSocket,wires}.node.test.ts",
  "test/import/hostile.test.ts",
  "test/{outputSchemas,runtimes}.node.test.ts",
  "test/packet/captures.node.test.ts",
  "test/scenario/everyWay.node.test.ts",
  "test/programs.node.test.ts",
  "test/proof/cover/golden.node.test.ts",
  "test/proof/lint/examples.node.test.ts",
  "test/proof/difference/{examples.node,pipelines}.test.ts",
  "test/site.node.test.ts",
  "test/verbs/esp/keysErased.node.test.ts",
];

/** What `npm test` runs in the browser: the core, its ciphers, bursts, pools and each public entry. `--mode deep` runs all. */
const IN_BROWSER = [
  "test/engine/load.test.ts",
  "test/assembly/crypto/vectors.test.ts",
  "test/assembly/walk/pipelines.test.ts",
  "test/model/device/device.test.ts",
  "test/model/traffic/{burstColumns,burstUse,pool}.test.ts",
  "test/mlx5dv/dr/dr.test.ts",
  "test/packet/build.test.ts",
  "test/scenario/scenario.test.ts",
  "test/verbs/flow/flow.test.ts",
];

/** Long enough for any machine, however busy: only what never ends takes longer. */
const PATIENCE = 600_000;

/** A process waits for files and browsers half of its time: two of them use a machine of two processors. */
const PROCESSES = Math.max(2, availableParallelism() - 1);

/**
 * An imported .wasm file is its bytes, as in the bundles. Where coverage is counted, that core is the one with assertions,
 * too.
 */
const plugins: Plugin[] = [
  {
    name: "wasm-bytes",
    enforce: "pre",
    load(id) {
      if (!id.endsWith(".wasm")) return undefined;
      const counted = process.env["FLOWSTEER_CORE"] === "coverage";
      const base64 = readFileSync(
        counted ? id.replace(/\/build\/(debug|release)\//, "/build/coverage/") : id,
        "base64",
      );
      return `export default Uint8Array.from(atob("${base64}"), (one) => one.charCodeAt(0));`;
    },
  },
];

/** The tests that need no files, processes or sockets, in a real browser. */
async function browserProjects(env: Settings): Promise<TestProjectConfiguration[]> {
  if (/--project[= ](node|pages)( |$)/.test(process.argv.join(" "))) return [];
  const browser = await findBrowser();
  if (browser === undefined) {
    const text = "no browser: set CHROME_PATH or install Chromium";
    if (process.env["CI"]) throw new Error(text);
    console.warn(`\n*** The browser tests are SKIPPED: ${text} ***\n`);
    return [];
  }
  return [
    {
      plugins,
      // Threads share memory in pages that are cross-origin isolated.
      server: {
        headers: { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" },
      },
      // Found while a test already runs, a dependency makes the page load again.
      optimizeDeps: { include: ["@assemblyscript/loader", "fast-check"] },
      test: {
        name: "browser",
        // The random input is the same as in Node, so a small part of it shows what differs in a browser.
        env: { ...env, FLOWSTEER_DEEP: "0" },
        include: env["FLOWSTEER_DEEP"] === "1" ? ALL : IN_BROWSER,
        exclude: ["test/**/*.node.test.ts"],
        testTimeout: PATIENCE,
        hookTimeout: PATIENCE,
        browser: {
          enabled: true,
          headless: true,
          screenshotFailures: false,
          connectTimeout: PATIENCE,
          provider: playwright({
            launchOptions: { ...launchOptions(browser), timeout: PATIENCE },
          }),
          instances: [{ browser: "chromium" }],
        },
      },
    },
  ];
}

/** The tests in Node. */
export function nodeProject(env: Settings): { plugins: Plugin[]; test: NonNullable<UserWorkspaceConfig["test"]> } {
  return {
    plugins,
    test: {
      name: "node",
      env,
      include: ALL,
      exclude: env["FLOWSTEER_DEEP"] === "1" ? PAGES : [...PAGES, ...DEEP_ONLY],
      testTimeout: PATIENCE,
      hookTimeout: PATIENCE,
      // A third of the time of a short test file is the start of a process that reads all sources again.
      isolate: false,
      setupFiles: env["FLOWSTEER_CORE"] === "coverage" ? ["scripts/coverage-transform.mjs"] : [],
    },
  };
}

/**
 * The playground, driven by Node in a browser of its own. A person waits until the page shows what a click did; a test
 * that clicks before that fails once in some hundred runs. In CI it has a second try, which the report tells.
 */
function pagesProject(env: Settings): TestProjectConfiguration {
  const { plugins, test } = nodeProject(env);
  const exclude = env["FLOWSTEER_DEEP"] === "1" ? [] : DEEP_PAGES;
  const waits = { expect: { poll: { timeout: PATIENCE / 10 } }, retry: process.env["CI"] ? 1 : 0 };
  return { plugins, test: { ...test, ...waits, name: "pages", include: PAGES, exclude } };
}

/** FLOWSTEER_CORE, FLOWSTEER_SEED and so on, which the tests read in `import.meta.env`, also in the browser. */
type Settings = Record<string, string>;

export function settingsOf(mode: string): Settings {
  const given = Object.entries(process.env).filter(([name]) => name.startsWith("FLOWSTEER_"));
  return { ...(Object.fromEntries(given) as Settings), ...(mode === "deep" ? { FLOWSTEER_DEEP: "1" } : {}) };
}

export default defineConfig(async ({ mode }) => {
  const env = settingsOf(mode);
  return {
    test: {
      globalSetup: ["scripts/tests-setup.mjs"],
      // Seeds and counts of random tests are for whom a test fails.
      silent: "passed-only" as const,
      maxWorkers: PROCESSES,
      projects: [nodeProject(env), pagesProject(env), ...(await browserProjects(env))],
      coverage: { provider: "v8" as const, include: ["src/**/*.ts"], reporter: ["text-summary", "html"] },
    },
  };
});
