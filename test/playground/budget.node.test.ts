/** What the page loads until it has answered its example: at most 400,000 bytes, compressed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BUILT, openPlayground, type Playground } from "./support/page.js";

const LIMIT = 400_000;

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

test("the page loads at most 400 kB before anything is opened", async () => {
  // The service worker, which these pages do not have, loads all files for later once the page is idle.
  const { page, context } = await playground.open({ path: "none", still: true });
  const paths = new Set<string>();
  context.on("request", (request) => {
    if (!request.url().startsWith("data:")) paths.add(new URL(request.url()).pathname.slice(1) || "index.html");
  });
  await page.goto(playground.url);
  await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
  await page.getByRole("heading", { name: /^Path/ }).waitFor();
  await page.waitForLoadState("networkidle");
  const sizes = [...paths].map((path) => ({
    path,
    bytes: gzipSync(readFileSync(join(BUILT, path)), { level: 9 }).length,
  }));
  sizes.sort((a, b) => b.bytes - a.bytes);
  const sum = sizes.reduce((all, { bytes }) => all + bytes, 0);
  const lines = sizes.map(({ path, bytes }) => `${String(bytes).padStart(8)}  ${path}`);
  console.log([...lines, `${String(sum).padStart(8)}  of ${LIMIT} bytes`].join("\n"));
  expect(sum).toBeLessThanOrEqual(LIMIT);
  await context.close();
});

test("the time until the page is painted and answers", async () => {
  const { page, context } = await playground.open({ still: true });
  await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
  const times = await page.evaluate(() => ({
    "first paint": performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    started: performance.getEntriesByName("started")[0]?.startTime,
    answered: performance.getEntriesByName("answered")[0]?.startTime,
  }));
  console.log(
    Object.entries(times)
      .map(([what, time]) => `${what} ${Math.round(time ?? Number.NaN)} ms`)
      .join(", "),
  );
  expect(Object.values(times).every((time) => time !== undefined)).toBe(true);
  await context.close();
});

test("the rules are readable before the editor comes, at the same places", async () => {
  const { page, context } = await playground.open({ still: true });
  // The rules are shown from the one on that the answer speaks of.
  await page.getByRole("region", { name: "Why", exact: true }).waitFor();
  const still = page.locator(".still-line");
  await still.nth(20).waitFor();
  const places = (lines: Element[]) => {
    const top = document.querySelector(".rules-editor")?.getBoundingClientRect().top ?? 0;
    const seen = lines.map((line) => [line.textContent, line.getBoundingClientRect().y] as const);
    return seen.filter(([, y]) => y >= top).slice(0, 20);
  };
  const before = await still.evaluateAll(places);
  await page.mouse.move(700, 300);
  const lines = page.locator(".rules-editor .cm-line");
  await lines.nth(20).waitFor();
  await expect.poll(() => lines.evaluateAll(places)).toEqual(before);
  expect(before.map(([text]) => text)[1]).toContain("net 5001");
  await context.close();
});
