import { playwright } from "@vitest/browser-playwright";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { findBrowser } from "./scripts/find-browser.mjs";

const include = ["test/**/*.test.ts"];

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
      // Found while a test already runs, a dependency makes the page load again.
      optimizeDeps: { include: ["@assemblyscript/loader", "fast-check"] },
      test: {
        name: "browser",
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

export default defineConfig(async () => ({
  test: {
    projects: [
      {
        test: {
          name: "node",
          include,
          testTimeout: 20_000,
          setupFiles: process.env["FLOWSTEER_CORE"] === "coverage" ? ["scripts/coverage-transform.mjs"] : [],
        },
      },
      ...(await browserProjects()),
    ],
    coverage: { provider: "v8" as const, include: ["src/**/*.ts"], reporter: ["text-summary", "html"] },
  },
}));
