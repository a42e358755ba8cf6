/** The browser of the tests, and how long they wait for it. */
import { chromium, type Browser } from "playwright-core";
import { findBrowser, launchOptions } from "../../scripts/find-browser.mjs";

/** Milliseconds that a page may take for one thing, on a busy machine: after that the test fails and says where. */
export const PAGE_PATIENCE = 60_000;

/** For `vi.setConfig` in files that drive a page: a test takes a minute at most, many times that on a busy machine. */
export const PAGE_LIMITS = { testTimeout: 5 * PAGE_PATIENCE, hookTimeout: 2 * PAGE_PATIENCE };

export async function launchBrowser(): Promise<Browser> {
  const found = await findBrowser();
  if (found === undefined) throw new Error("no browser: set CHROME_PATH or install Chromium");
  const launch = (): Promise<Browser> => chromium.launch({ ...launchOptions(found), timeout: PAGE_PATIENCE });
  // Chromium itself crashes at its start once in some hundred launches.
  return launch().catch(launch);
}
