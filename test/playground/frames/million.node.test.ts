/** A capture of a million frames: the list scrolls through all of it. Only with FLOWSTEER_DEEP. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { readFileSync } from "node:fs";
import { openPlayground } from "../support/page.js";
import { counts, exampleOf, filterInput, grid, openFiles, selects } from "./support.js";

const FRAMES = 1_000_000;

/** Scrolls by wheel for some frames of the display. @returns milliseconds of each */
async function scroll(page: Page, by: number): Promise<number[]> {
  return page.evaluate(async (step) => {
    const list = document.querySelector('[role="grid"]') as HTMLElement;
    const times: number[] = [];
    let last = await new Promise<number>(requestAnimationFrame);
    for (let i = 0; i < 120; i++) {
      list.scrollTop += step;
      const now = await new Promise<number>(requestAnimationFrame);
      times.push(now - last);
      last = now;
    }
    return times;
  }, by);
}

test.runIf(process.env.FLOWSTEER_DEEP === "1")(
  "a million rows scroll, and each can be selected",
  async () => {
    const playground = await openPlayground();
    try {
      const { page, faults } = await playground.open();
      await counts(page, "2 frames");
      const everyday = readFileSync(exampleOf("everyday.pcap"));
      const [head, record] = [everyday.subarray(0, 24), everyday.subarray(24, 24 + 16 + 42)];
      const buffer = gzipSync(Buffer.concat([head, Buffer.alloc(FRAMES * record.length, record)]), { level: 1 });
      const began = performance.now();
      await openFiles(page, [{ name: "million.pcap.gz", mimeType: "", buffer }]);
      await page.locator(".frames-count").getByText("1,000,000 frames").waitFor({ timeout: 300_000 });
      console.log(`opened in ${Math.round(performance.now() - began)} ms`);
      for (const by of [22, 300, 5000]) {
        const times = (await scroll(page, by)).sort((a, b) => a - b);
        const at = (share: number): string => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1);
        console.log(`scrolling ${by} px a frame: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, most ${at(1)} ms`);
      }
      await grid(page).focus();
      await page.keyboard.press("End");
      await grid(page).locator('[aria-selected="true"]').getByText("1,000,000").waitFor();
      expect(await grid(page).locator('[aria-selected="true"]').getAttribute("aria-rowindex")).toBe("1000001");
      await page.keyboard.press("ArrowUp");
      await grid(page).locator('[aria-selected="true"]').getByText("999,999").waitFor();
      await grid(page).evaluate((list) => (list.scrollTop = 0));
      await grid(page).getByRole("row").getByText("1", { exact: true }).first().waitFor();
      await filterInput(page).fill("777777");
      await counts(page, "1 of 1,000,000 frames");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await grid(page).focus();
      await page.keyboard.press("Home");
      await selects(page, 1);
      expect(faults).toEqual([]);
    } finally {
      await playground.close();
    }
  },
  600_000,
);
