/** The browser that comes with the packages draws text, so that tests of layout measure something. */
import { chromium } from "playwright-core";
import { afterEach, expect, test, vi } from "vitest";
import { findBrowser } from "../scripts/find-browser.mjs";

afterEach(() => {
  vi.unstubAllEnvs();
});

test.runIf(process.platform === "linux" && process.arch === "x64")("text has a width", async () => {
  vi.stubEnv("FLOWSTEER_BROWSER", "package");
  const found = await findBrowser();
  if (found === undefined) throw new Error("the packaged browser is not there");
  const browser = await chromium.launch({
    executablePath: found.path,
    args: ["--no-sandbox"],
    env: { ...(process.env as Record<string, string>), ...found.env },
  });
  const page = await browser.newPage();
  await page.setContent(
    '<span id="a" style="font-size: 20px">steering</span> <span id="b" style="font-size: 40px">steering</span>',
  );
  const [small, large] = [await page.locator("#a").boundingBox(), await page.locator("#b").boundingBox()];
  await browser.close();
  expect(small?.width).toBeGreaterThan(40);
  expect((large?.width ?? 0) / (small?.width ?? 1)).toBeCloseTo(2, 1);
});
