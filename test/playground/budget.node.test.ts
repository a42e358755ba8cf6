/** What the page loads until it has answered its example: at most 387,000 bytes, compressed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BUILT, openPlayground, rulesEditor, type Playground } from "./support/page.js";

const LIMIT = 387_000;

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

test("the page loads at most 387 kB before anything is opened", async () => {
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

test.each([
  [100, 100],
  [1000, 1000],
])(
  "an edit of %i rules over %i frames: from the key to the painted answer, as the footer says",
  async (rules, frames) => {
    const { page, context } = await playground.open();
    await rulesEditor(page).click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(documentOf(rules, frames));
    await page
      .getByText(`${frames.toLocaleString("en")} frames`)
      .first()
      .waitFor();
    await page.keyboard.press("ControlOrMeta+Home");
    await page.evaluate(watchAnswers);
    const footer = page.locator(".amount");
    const told: number[] = [];
    const measured: number[] = [];
    for (let key = 0; key < 12; key++) {
      const before = await page.evaluate(() => globalThis.answersSeen?.length ?? 0);
      // A space at the beginning is an edit of the text, and after it the rules are loaded again.
      await page.keyboard.press(key % 2 === 0 ? "Space" : "Backspace");
      await page.waitForFunction((seen) => (globalThis.answersSeen?.length ?? 0) > seen, before);
      measured.push((await page.evaluate(() => globalThis.answersSeen?.at(-1))) ?? 0);
      told.push(millisecondsIn(await footer.innerText()));
    }
    const median = (all: readonly number[]): number => [...all].sort((a, b) => a - b)[all.length >> 1] ?? 0;
    console.log(`key to paint: footer ${median(told)} ms, measured ${Math.round(median(measured))} ms`);
    // The footer is no smaller than what is measured from outside, but for the frame that shows it.
    expect(median(told)).toBeGreaterThan(median(measured) - 40);
    await context.close();
  },
);

declare global {
  var answersSeen: number[] | undefined;
}

/** Notes for each answer how long ago the key before it was pressed: the footer may show the same number twice. */
function watchAnswers(): void {
  const seen: number[] = (globalThis.answersSeen = []);
  let pressed = 0;
  addEventListener("keydown", ({ timeStamp }) => void (pressed = timeStamp), true);
  const note = (list: PerformanceObserverEntryList): void => {
    for (const _ of list.getEntriesByName("answer")) seen.push(performance.now() - pressed);
  };
  new PerformanceObserver(note).observe({ type: "measure" });
}

function millisecondsIn(footer: string): number {
  const [, value = "", unit] = /([\d.]+) (ms|s)$/.exec(footer) ?? [];
  return Number(value) * (unit === "s" ? 1000 : 1);
}

function documentOf(rules: number, frames: number): string {
  return JSON.stringify(
    {
      flowsteer: 1,
      queues: [{ name: "web" }],
      tables: [{ name: "root", level: 0 }],
      rules: Array.from({ length: rules }, (_, i) => ({
        name: `port ${i}`,
        table: "root",
        match: { "outer.tcp_dport": 1000 + i },
        actions: [{ queue: "web" }],
      })),
      frames: Array.from({ length: frames }, (_, i) => ({
        headers: [
          { header: "ethernet" },
          { header: "ipv4" },
          { header: "tcp", destination_port: 1000 + 7 * (i % 150) },
        ],
      })),
    },
    null,
    1,
  );
}
