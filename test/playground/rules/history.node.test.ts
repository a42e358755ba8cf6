/** One history of the page: text, name, capture and repairs, from anywhere on the page. */
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { counts, filterInput, grid, openFiles, selects } from "../frames/support.js";
import { openPlayground, rulesEditor, type Playground } from "../support/page.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

const CAPTURE = fileURLToPath(new URL("../../../examples/everyday.pcap", import.meta.url));
const nameOf = (page: Page, name: string) => page.locator(".bar").getByText(name, { exact: true });

async function openExample(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: /^Examples/ }).click();
  await page.getByRole("option", { name }).click();
}

test("an example with its capture is undone and redone as one step", async () => {
  const { page, context, faults } = await playground.open();
  await counts(page, "2 frames");
  await openExample(page, "Everyday");
  await nameOf(page, "everyday").waitFor();
  await page.locator(".capture-bar").getByText("everyday.pcap").waitFor();
  await grid(page).focus();
  await page.keyboard.press("Control+z");
  await nameOf(page, "why-vxlan").waitFor();
  await counts(page, "2 frames");
  await page.locator(".capture-bar").getByText("everyday.pcap").waitFor({ state: "hidden" });
  await page.keyboard.press("Control+Shift+Z");
  await nameOf(page, "everyday").waitFor();
  await page.locator(".capture-bar").getByText("everyday.pcap").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("a capture alone is a step, and so are rules of another program with their name", async () => {
  const { page, context, faults } = await playground.open();
  await counts(page, "2 frames");
  await openFiles(page, [CAPTURE]);
  await page.locator(".capture-bar").getByText("everyday.pcap").waitFor();
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page
    .getByRole("textbox", { name: "Rules of another program" })
    .fill("flow create 0 ingress pattern eth / end actions queue index 1 / end");
  await page.getByRole("dialog").getByRole("button", { name: "Open as rules" }).click();
  await nameOf(page, "pasted").waitFor();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await grid(page).focus();
  await page.keyboard.press("Control+z");
  await nameOf(page, "why-vxlan").waitFor();
  await page.locator(".capture-bar").getByText("everyday.pcap").waitFor();
  await page.keyboard.press("Control+z");
  await counts(page, "2 frames");
  // The filter has a history of its own.
  await filterInput(page).fill("tcp");
  await page.keyboard.press("Control+z");
  await nameOf(page, "why-vxlan").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("a repair says what else it changes, and can be undone from where it was made", async () => {
  const { page, context, faults } = await playground.open();
  await selects(page, 2);
  const why = page.getByRole("region", { name: "Why", exact: true });
  const device = why.getByRole("listitem").filter({ hasText: "Register UDP port 8472" });
  await device.getByText("No other frame changes.").waitFor();
  await device.getByRole("button", { name: /^Try repair/ }).focus();
  await page.keyboard.press("Enter");
  await why.getByText(/^● deliver/).waitFor();
  await page.getByText(/^\d+ lines? changed\./).waitFor();
  await expect.poll(() => why.evaluate((element) => element.contains(document.activeElement))).toBe(true);
  await page.keyboard.press("Control+z");
  await why.getByText(/^▼ miss/).waitFor();
  expect(await page.getByText(/lines? changed\./).count()).toBe(0);
  await why.getByRole("button", { name: /^Try repair: Register/ }).click();
  await why.getByText(/^● deliver/).waitFor();
  await page.getByRole("button", { name: "Undo" }).last().click();
  await why.getByText(/^▼ miss/).waitFor();
  await rulesEditor(page).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("lessons of the tour are undone and redone with their rules, into the tour and out of it", async () => {
  const { page, context, faults } = await playground.open();
  await counts(page, "2 frames");
  const lesson = (name: string) => page.getByRole("region", { name });
  await page.getByRole("button", { name: "Tour", exact: true }).click();
  await lesson("1 of 8: Match").waitFor();
  await nameOf(page, "tour: Match").waitFor();
  await lesson("1 of 8: Match")
    .getByRole("button", { name: /^Lesson 2/ })
    .click();
  await nameOf(page, "tour: Priorities").waitFor();
  await grid(page).focus();
  await page.keyboard.press("Control+z");
  await lesson("1 of 8: Match").waitFor();
  await nameOf(page, "tour: Match").waitFor();
  await page.keyboard.press("Control+z");
  await nameOf(page, "why-vxlan").waitFor();
  await lesson("1 of 8: Match").waitFor({ state: "detached" });
  await counts(page, "2 frames");
  await page.keyboard.press("Control+Shift+Z");
  await lesson("1 of 8: Match").getByText("3 of 4 frames go where they should.").waitFor();
  await page.getByRole("button", { name: "Leave the tour" }).click();
  await nameOf(page, "why-vxlan").waitFor();
  await grid(page).focus();
  await page.keyboard.press("Control+z");
  await lesson("1 of 8: Match").waitFor();
  await page.keyboard.press("Control+Shift+Z");
  await lesson("1 of 8: Match").waitFor({ state: "detached" });
  await nameOf(page, "why-vxlan").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});
