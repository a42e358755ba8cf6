/** The frame of the page: keys, palette, dividers, theme, tabs, tour. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlayground, type Playground, rulesEditor } from "./support/page.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

async function opened(options = {}): ReturnType<Playground["open"]> {
  const all = await playground.open(options);
  await all.page.getByRole("list", { name: "Frames by verdict" }).waitFor();
  return all;
}

test("no two actions share a key, and the list of keys has every key once", async () => {
  const { page, context, faults } = await opened();
  await rulesEditor(page).waitFor();
  await page.locator("body").press("?");
  const dialog = page.getByRole("dialog", { name: "Keys" });
  await dialog.waitFor();
  const keys = await dialog.locator("kbd").allTextContents();
  expect(keys).toEqual(expect.arrayContaining(["Ctrl+K", "?", "e", "j", "k", "n", "p", "f", "/", "t"]));
  expect(new Set(keys).size).toBe(keys.length);
  // Behind a dialog, keys do nothing.
  await page.keyboard.press("t");
  await page.keyboard.press("Escape");
  expect(await dialog.count()).toBe(0);
  expect(await page.getByRole("region", { name: "All totals" }).count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test("keys without Ctrl are text in the editor, and actions elsewhere", async () => {
  const { page, context } = await opened();
  const editor = rulesEditor(page);
  await editor.click();
  await page.keyboard.press("?");
  await page.keyboard.press("t");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search actions" }).fill("theme dark");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  await page.reload();
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  await context.close();
});

test("dividers move with mouse and keys, remember their place, and go back", async () => {
  const { page, context } = await opened();
  const divider = page.getByRole("separator", { name: "Width of the rules" });
  const width = async (): Promise<number> => (await page.locator("#panel-rules").boundingBox())?.width ?? 0;
  const first = await width();
  await divider.focus();
  await page.keyboard.press("Shift+ArrowRight");
  await expect.poll(width).toBeGreaterThan(first + 100);
  expect(await divider.getAttribute("aria-valuenow")).toBe("50");
  const box = (await divider.boundingBox())!;
  await page.mouse.move(box.x + 2, 400);
  await page.mouse.down();
  await page.mouse.move(400, 400, { steps: 3 });
  await page.mouse.up();
  await expect.poll(async () => Math.abs((await width()) - 400)).toBeLessThan(10);
  await page.reload();
  await divider.waitFor();
  expect(Math.abs((await width()) - 400)).toBeLessThan(10);
  await divider.dblclick();
  await expect.poll(async () => Math.abs((await width()) - first)).toBeLessThan(2);
  await context.close();
});

test("a narrow page shows one pane at a time, as tabs", async () => {
  const { page, context } = await opened({ width: 390, height: 844 });
  const tab = (name: string) => page.getByRole("tab", { name });
  await page.getByRole("tabpanel", { name: "Frames" }).waitFor();
  await tab("Frames").focus();
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("tabpanel", { name: "Rules" }).waitFor();
  expect(await page.getByRole("tabpanel", { name: "Frames" }).count()).toBe(0);
  await tab("Totals").click();
  await page.getByRole("region", { name: "All totals" }).waitFor();
  await tab("Frames").click();
  expect(await page.getByRole("region", { name: "All totals" }).count()).toBe(0);
  const row = page.getByRole("grid").getByRole("row").filter({ hasText: "from host 4" });
  await row.click();
  const below = page.getByRole("region", { name: "Answer for frame 2" });
  await below.getByText("looks like tunnel on other port").waitFor();
  const [frame, said] = await Promise.all([row.boundingBox(), below.boundingBox()]);
  expect(said!.y).toBeGreaterThanOrEqual(frame!.y + frame!.height);
  expect(said!.y).toBeLessThan(frame!.y + frame!.height + 20);
  await below.getByRole("button", { name: "Show the path of frame 2" }).click();
  await page.getByRole("tabpanel", { name: "Path" }).waitFor();
  await context.close();
});

test("the tour checks its tasks, survives a reload, and gives the person's rules back", async () => {
  const { page, context, faults } = await opened();
  await page.getByRole("button", { name: "Tour" }).click();
  const tour = page.getByRole("region", { name: "1 of 8: Match" });
  await tour.getByText("3 of 4 frames go where they should.").waitFor();
  await tour.getByRole("button", { name: "Give a hint" }).click();
  await tour.getByRole("button", { name: "Give another hint" }).click();
  await tour.getByRole("button", { name: "Show a solution" }).click();
  await tour.getByText("Done.").waitFor();
  await page.reload();
  await tour.getByText("Done.").waitFor();
  await tour.getByRole("button", { name: "Next" }).click();
  await page.getByRole("region", { name: "2 of 8: Priorities" }).getByText("1 of 2 frames").waitFor();
  await page.getByRole("button", { name: "Lesson 1, done" }).waitFor();
  await page.getByRole("button", { name: "Leave the tour" }).click();
  await expectName(page, "why-vxlan");
  expect(faults).toEqual([]);
  await context.close();
});

async function expectName(page: Page, name: string): Promise<void> {
  await expect.poll(() => page.getByRole("textbox", { name: "Name of the rules" }).inputValue()).toBe(name);
}

test("the search of actions goes to frames, rules and fields", async () => {
  const { page, context, faults } = await playground.open();
  await page.getByRole("grid", { name: "Frames" }).getByText("from host 4").waitFor();
  const find = async (text: string, option: string): Promise<void> => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search actions" }).fill(text);
    await page.getByRole("option", { name: option, exact: true }).click();
  };
  await find("frame 1", "Go to frame 1");
  await page.getByRole("heading", { name: "Path of frame 1" }).waitFor();
  await find("net 5002", "Go to rule net 5002");
  await page.getByRole("button", { name: "rule net 5002", pressed: true }).waitFor();
  await find("vxlan.v", "Frames with vxlan.vni");
  await page.getByText("1 of 2 frames").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("every pane fills the window and comes back, by button and by key", async () => {
  const { page, context, faults } = await playground.open();
  await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
  const panes = ["rules", "frames", "way", "totals"];
  const widths = async (): Promise<number[]> =>
    Promise.all(panes.map(async (one) => (await page.locator(`#panel-${one}`).boundingBox())?.width ?? 0));
  const before = await widths();
  for (const [at, pane] of panes.entries()) {
    const own = page.locator(`#panel-${pane}`);
    await own.getByRole("button", { name: "Fill the window" }).click();
    const filled = await own.boundingBox();
    expect(filled?.width, pane).toBe(1440);
    expect(filled?.height, pane).toBeGreaterThan(800);
    expect((await widths()).filter((width) => width === 0).length, pane).toBe(pane === "totals" ? 3 : 2);
    await own.getByRole("button", { name: "Show all panes" }).click();
    expect(await widths()).toEqual(before);
    if (pane === "totals") continue;
    await page.keyboard.press("z");
    expect((await widths())[at], pane).toBe(1440);
    await page.keyboard.press("z");
    expect(await widths()).toEqual(before);
  }
  await page.keyboard.press("1");
  await page.locator("#panel-rules").press("z");
  await page.keyboard.press("2");
  expect((await widths())[1]).toBe(1440);
  expect(faults).toEqual([]);
  await context.close();
});
