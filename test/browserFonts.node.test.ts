/** The browser that comes with the packages draws text, so that tests of layout measure something. */
import { afterEach, expect, test, vi } from "vitest";
import { launchBrowser, PAGE_LIMITS } from "./support/browser.js";

vi.setConfig(PAGE_LIMITS);

afterEach(() => {
  vi.unstubAllEnvs();
});

test.runIf(process.platform === "linux" && process.arch === "x64")("text has a width", async () => {
  vi.stubEnv("FLOWSTEER_BROWSER", "package");
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await page.setContent(
    '<span id="a" style="font-size: 20px">steering</span> <span id="b" style="font-size: 40px">steering</span>',
  );
  const [small, large] = [await page.locator("#a").boundingBox(), await page.locator("#b").boundingBox()];
  await browser.close();
  expect(small?.width).toBeGreaterThan(40);
  expect((large?.width ?? 0) / (small?.width ?? 1)).toBeCloseTo(2, 1);
});
