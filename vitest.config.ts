import { playwright } from "@vitest/browser-playwright";
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin, type TestProjectConfiguration } from "vitest/config";
import { findBrowser } from "./scripts/find-browser.mjs";

const include = ["test/**/*.test.ts"];

/** The flavour of the core that the tests run on, where not their own choice; `import.meta.env` has it. */
const flavour = process.env["FLOWSTEER_CORE"];
const env = flavour === undefined ? {} : { FLOWSTEER_CORE: flavour };

/** An imported .wasm file is its bytes, as in the bundles. */
const plugins: Plugin[] = [
  {
    name: "wasm-bytes",
    enforce: "pre",
    load(id) {
      if (!id.endsWith(".wasm")) return undefined;
      const base64 = readFileSync(id, "base64");
      return `export default Uint8Array.from(atob("${base64}"), (one) => one.charCodeAt(0));`;
    },
  },
];

/** The tests that need no files, processes or sockets, in a real browser. */
async function browserProjects(): Promise<TestProjectConfiguration[]> {
  if (/--project[= ]node( |$)/.test(process.argv.join(" "))) return [];
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
        env,
        include,
        exclude: ["test/**/*.node.test.ts"],
        testTimeout: 20_000,
        browser: {
          enabled: true,
          headless: true,
          screenshotFailures: false,
          provider: playwright({
            launchOptions: {
              executablePath: browser.path,
              args: ["--no-sandbox"],
              env: { ...(process.env as Record<string, string>), ...browser.env },
            },
          }),
          instances: [{ browser: "chromium" }],
        },
      },
    },
  ];
}

/** The tests in Node. */
export const nodeProject = {
  plugins,
  test: {
    name: "node",
    env,
    include,
    testTimeout: 20_000,
    setupFiles: flavour === "coverage" ? ["scripts/coverage-transform.mjs"] : [],
  },
};

export default defineConfig(async () => ({
  test: {
    globalSetup: ["scripts/tests-setup.mjs"],
    // Seeds and counts of random tests are for whom a test fails.
    silent: "passed-only" as const,
    projects: [nodeProject, ...(await browserProjects())],
    coverage: { provider: "v8" as const, include: ["src/**/*.ts"], reporter: ["text-summary", "html"] },
  },
}));
