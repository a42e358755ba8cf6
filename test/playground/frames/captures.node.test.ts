/** Captures that are opened, dropped, packed, broken, and closed again. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { openPlayground, type OpenPage, type Playground } from "../support/page.js";
import { counts, drop, exampleOf, filterInput, grid, openFiles, selects } from "./support.js";

const EVERYDAY = readFileSync(exampleOf("everyday.pcap"));

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

async function openedPage(): Promise<OpenPage> {
  const opened = await playground.open();
  await counts(opened.page, "2 frames");
  return opened;
}

async function closeCapture(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Close capture" }).click();
}

test("a capture and its rules, opened with the button, select the first frame that is lost", async () => {
  const { page, context, faults } = await openedPage();
  await selects(page, 2);
  await openFiles(page, [exampleOf("everyday.json"), exampleOf("everyday.pcap")]);
  await counts(page, "86 frames");
  await page.getByText("everyday.pcap", { exact: true }).first().waitFor();
  await selects(page, 48);
  await closeCapture(page);
  await page.getByText("Drop a capture, build a packet, or open an example.").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("files are dropped on the page: packed and cut off, a capture keeps the frames before the break", async () => {
  const { page, context, faults } = await openedPage();
  await drop(page, "everyday.pcap.gz", gzipSync(EVERYDAY));
  await counts(page, "86 frames");
  await closeCapture(page);
  await counts(page, "2 frames");
  await drop(page, "cut.pcap", EVERYDAY.subarray(0, 3000));
  await page.getByText(/The capture breaks off at byte \d+: .* before it can be used/).waitFor();
  await grid(page).getByText("192.168.203.5 > 192.168.203.3 ARP request").waitFor();
  await closeCapture(page);
  await counts(page, "2 frames");
  await drop(page, "notes.txt", Buffer.from("This is no capture."));
  await page.getByRole("alert").getByText("notes.txt was not opened").waitFor();
  await counts(page, "2 frames");
  await drop(page, "mine.json", readFileSync(exampleOf("rss.json")));
  await page.getByRole("alert").getByText("notes.txt").waitFor();
  await counts(
    page,
    `${(JSON.parse(readFileSync(exampleOf("rss.json"), "utf8")) as { frames: unknown[] }).frames.length} frames`,
  );
  expect(faults).toEqual([]);
  await context.close();
});

test("a capture is pasted, and an example with its rules is opened where there are no frames", async () => {
  const { page, context, faults } = await openedPage();
  await page.evaluate((base64) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], "pasted.pcap"));
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  }, EVERYDAY.toString("base64"));
  await counts(page, "86 frames");
  await closeCapture(page);
  await drop(page, "none.json", Buffer.from('{ "flowsteer": 1, "tables": [{ "name": "root", "level": 0 }] }'));
  await page.getByRole("button", { name: "ESP of strongSwan" }).click();
  await page.getByText("strongswan.pcap", { exact: true }).first().waitFor();
  await grid(page).getByRole("row").nth(1).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("the work on a long capture is stopped, and the frames of before stay", async () => {
  const { page, context, faults } = await openedPage();
  const [head, record] = [EVERYDAY.subarray(0, 24), EVERYDAY.subarray(24, 24 + 16 + 42)];
  const long = Buffer.concat([head, Buffer.alloc(2_000_000 * record.length, record)]);
  await openFiles(page, [{ name: "long.pcap.gz", mimeType: "", buffer: gzipSync(long, { level: 1 }) }]);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  await counts(page, "2 frames");
  await filterInput(page).fill("verdict:miss");
  await counts(page, "1 of 2 frames");
  expect(faults).toEqual([]);
  await context.close();
});
