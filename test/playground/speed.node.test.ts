/** The speed page: it measures each suite beside plain JavaScript, stops, and copies its result. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlayground, type Playground } from "./support/page.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

test("every suite is measured after equal answers, and the result is copied", async () => {
  const { page, context, faults } = await playground.open({ path: "speed.html?quick" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Measure" }).click();
  await page.getByText("Done. All answers equal").waitFor();
  for (const suite of ["Parse", "Classify", "Frames", "ESP"]) {
    const table = page.getByRole("region", { name: `Figures: ${suite}` });
    expect(await table.getByRole("row").count()).toBeGreaterThan(2);
    expect(await table.getByText(/^\d+(\.\d+)? x$/).count()).toBeGreaterThan(0);
  }
  await page.getByRole("button", { name: "Copy result" }).click();
  await page.getByText("Copied.").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^flowsteer \d+\.\d+\.\d+, .*cores.*clock has steps/);
  expect(copied.split("\n").filter((line) => line.startsWith("| ESP |")).length).toBeGreaterThan(2);
  await page.getByRole("button", { name: "Copy as JSON" }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith("{"));
  const report = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  expect(report.figures.every(({ nanoseconds }: { nanoseconds: number }) => nanoseconds > 0)).toBe(true);
  expect(faults).toEqual([]);
});

test("it stops", async () => {
  const { page, faults } = await playground.open({ path: "speed.html" });
  await page.getByRole("button", { name: "Measure" }).click();
  await page.getByText(/^Measuring 1 of/).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped.").waitFor();
  await page.getByRole("button", { name: /^Measure/ }).waitFor();
  expect(faults).toEqual([]);
});
