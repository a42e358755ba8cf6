/** The list by mouse and keyboard, its filter, and frames that are changed in it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlayground, type Playground } from "../support/page.js";
import { counts, exampleOf, filterInput, grid, openFiles, selectedRow, selects } from "./support.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

test("frames are selected by mouse and keyboard, and stay in view", async () => {
  const { page, context, faults } = await playground.open();
  await counts(page, "2 frames");
  await openFiles(page, [exampleOf("everyday.json"), exampleOf("everyday.pcap")]);
  await selects(page, 48);
  expect(await grid(page).getAttribute("aria-rowcount")).toBe("87");
  await grid(page).getByRole("row").filter({ hasText: "fe80::2 > ff02::5" }).first().click();
  for (const [key, number] of [
    ["End", 86],
    ["ArrowUp", 85],
    ["Home", 1],
    ["ArrowDown", 2],
    ["j", 3],
    ["j", 4],
    ["k", 3],
  ] as const) {
    await page.keyboard.press(key);
    await selects(page, number);
    const [row, list] = await Promise.all([selectedRow(page).boundingBox(), grid(page).boundingBox()]);
    expect(row!.y).toBeGreaterThanOrEqual(list!.y);
    expect(row!.y + row!.height).toBeLessThanOrEqual(list!.y + list!.height + 1);
  }
  expect(await grid(page).getAttribute("aria-activedescendant")).toBe(await selectedRow(page).getAttribute("id"));
  await page.keyboard.press("PageDown");
  await page.keyboard.press("PageUp");
  await selects(page, 3);
  await page.getByRole("heading", { name: "Path of frame 3" }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("the filter narrows the list, suggests what there is, and follows other panes", async () => {
  const { page, context, faults } = await playground.open();
  await counts(page, "2 frames");
  await grid(page).focus();
  await page.keyboard.press("/");
  await page.keyboard.type("verd");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("option", { name: /^miss/ }).waitFor();
  await page.keyboard.type("mi");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await counts(page, "1 of 2 frames");
  expect(await filterInput(page).inputValue()).toBe("verdict:miss ");
  await filterInput(page).fill('verdict:mist rule:"net 5001"');
  await page.getByText('"mist" is not a verdict').waitFor();
  await counts(page, "1 of 2 frames");
  await filterInput(page).fill('rule:"net 5001" 198.51.100.3');
  await counts(page, "1 of 2 frames");
  await grid(page).getByText("from host 3").waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await counts(page, "2 frames");
  await page.getByRole("button", { name: /deliver 1/ }).click();
  await counts(page, "1 of 2 frames");
  expect(await filterInput(page).inputValue()).toBe("verdict:deliver");
  expect(faults).toEqual([]);
  await context.close();
});

test("conditions on fields narrow the list, say what is wrong, and the path follows", async () => {
  const { page, context, faults } = await playground.open();
  await selects(page, 2);
  await filterInput(page).fill("vxlan.vni == 5001 && tcp.port == 443");
  await counts(page, "1 of 2 frames");
  await selects(page, 1);
  await page.getByRole("heading", { name: "Path of frame 1" }).waitFor();
  await filterInput(page).fill("udp.prot == 8472");
  await page.getByText('there is no field "udp.prot"; did you mean "udp.port"?').waitFor();
  await counts(page, "1 of 2 frames");
  await filterInput(page).fill('fs.verdict == "miss" || fs.rule == "net 5002"');
  await counts(page, "1 of 2 frames");
  await filterInput(page).fill("host 10.1.1.1");
  await page.getByText("No row with the words host 10.1.1.1").waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("fields, bytes and rules are applied as filters, by menu and by key", async () => {
  const { page, context, faults } = await playground.open();
  await selects(page, 2);
  const headers = page.getByRole("tree", { name: "Headers" });
  await headers.getByRole("treeitem", { name: /^udp/ }).locator(".header-line").click();
  await headers.getByText("destination_port").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Apply as filter", exact: true }).click();
  await expect.poll(() => filterInput(page).inputValue()).toBe("udp.dstport == 8472");
  await counts(page, "1 of 2 frames");
  await page.locator('[data-at="0"]').click();
  await page.locator('[data-at="1"]').click({ modifiers: ["Shift"] });
  await page.locator('[data-at="1"]').press("X");
  await expect.poll(() => filterInput(page).inputValue()).toBe("udp.dstport == 8472 && !(frame[0:2] == 02:00)");
  await counts(page, "0 of 2 frames");
  const rule = page.getByRole("button", { name: /^rule net 5001/ });
  await rule.click({ button: "right" });
  await page.getByRole("menu").press("Escape");
  await page.keyboard.press("a");
  await expect.poll(() => filterInput(page).inputValue()).toBe('fs.rule == "net 5001"');
  await counts(page, "1 of 2 frames");
  await selects(page, 1);
  expect(faults).toEqual([]);
  await context.close();
});

test("a frame of the document is duplicated and removed from its menu", async () => {
  const { page, context, faults } = await playground.open();
  await selects(page, 2);
  await page.getByRole("heading", { name: "Path of frame 2" }).waitFor();
  await grid(page).focus();
  await page.keyboard.press("Shift+F10");
  // The items that need the answer for the frame can be used once it is there.
  await page.getByRole("menuitem", { name: "Edit as new frame", disabled: false }).waitFor();
  await page.keyboard.press("Home");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await counts(page, "3 frames");
  await selects(page, 3);
  await grid(page).getByText("from host 4 2").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Remove frame" }).click();
  await counts(page, "2 frames");
  expect(faults).toEqual([]);
  await context.close();
});

test("columns are chosen and sorted, and stay chosen over a reload", async () => {
  const { page, context, faults } = await playground.open();
  await counts(page, "2 frames");
  await openFiles(page, [exampleOf("everyday.json"), exampleOf("everyday.pcap")]);
  await selects(page, 48);
  for (const name of ["VLAN", "Rules", "Tables", "Tag", "Time (s)"]) {
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("menuitemcheckbox", { name, exact: true }).click();
  }
  const titles = grid(page).getByRole("columnheader");
  const shown = ["No.", "Bytes", "Summary", "VLAN", "Rules", "Tables", "Tag", "Verdict", "To, or reason"];
  expect(await titles.allInnerTexts()).toEqual(shown);
  await titles.getByText("Tag").click();
  const first = selectedRow(page);
  const start = async (title: string, text: string): Promise<void> => {
    await expect
      .poll(async () => {
        await grid(page).press("Home");
        return first.locator(title).innerText();
      })
      .toBe(text);
  };
  await start(".tag", "25");
  await titles.getByText("Bytes").click();
  await titles.getByText("Bytes").click();
  expect(await titles.nth(1).getAttribute("aria-sort")).toBe("descending");
  await start(".length", "7106");
  await titles.getByText("Bytes").click();
  await start(".number", "1");
  await filterInput(page).fill("frame.number == 48");
  await selects(page, 48);
  expect(await first.locator(".rule").innerText()).toBe("multicast");
  expect(await first.locator(".table").innerText()).toBe("root");
  await page.reload();
  expect(await titles.allInnerTexts()).toEqual(shown);
  expect(faults).toEqual([]);
  await context.close();
});

test("rows are tinted by verdict, and no row is higher than 18 pixels", async () => {
  const { page, context } = await playground.open({ width: 1024, height: 768 });
  await counts(page, "2 frames");
  await grid(page).locator(".frame-row[data-verdict]").nth(1).waitFor();
  const looks = await grid(page)
    .locator(".frame-row")
    .evaluateAll((rows) =>
      rows.map((row) => [row.getBoundingClientRect().height, getComputedStyle(row).backgroundColor]),
    );
  expect(looks.map(([height]) => height)).toEqual([18, 18]);
  expect(looks[0]?.[1]).not.toBe("rgba(0, 0, 0, 0)");
  expect(looks[0]?.[1]).not.toBe(looks[1]?.[1]);
  await context.close();
});
