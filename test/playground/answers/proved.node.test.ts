/** The proved comparison in a browser: what an edit changes for all frames, as it is typed. */
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { cursorAfter, until, write } from "../rules/support/editor.js";
import { AXE, violations } from "../support/axe.js";
import { openPlayground, type OpenPage, type Playground } from "../support/page.js";
import { MAIL, openTotals, rulesOn, verdict, WEB } from "./support.js";

let playground: Playground;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

beforeEach(async () => {
  opened = await playground.open({ script: AXE });
  page = opened.page;
  await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
});
afterEach(async () => {
  expect(opened.faults).toEqual([]);
  await opened.context.close();
});

const PORTS = [443, 25];
const PROVED = "Equivalent for all frames: proved";

/** Writes rules, and compares with them from then on. */
async function pin(text: string): Promise<Locator> {
  await write(page, text);
  await verdict(page, "deliver", 2).waitFor();
  const totals = await openTotals(page);
  await totals.getByRole("button", { name: "Pin these rules" }).click();
  await totals.getByText(PROVED).waitFor();
  return totals;
}

const groups = (totals: Locator): Locator =>
  totals.getByRole("list", { name: "Frames that are treated differently" }).getByRole("listitem");

/** All of an element is in view in another one. */
async function expectInside(element: Locator, outer: Locator): Promise<void> {
  await until(async () => {
    const [inner, around] = [await element.boundingBox(), await outer.boundingBox()];
    const end = (box: typeof inner): number => (box === null ? Number.NaN : box.y + box.height);
    expect(inner?.y).toBeGreaterThanOrEqual(around?.y ?? Number.NaN);
    expect(end(inner)).toBeLessThanOrEqual(end(around) + 1);
  });
}

test("a value that is typed makes differences, whose frames are added and shown before and after", async () => {
  const totals = await pin(rulesOn([WEB, MAIL], PORTS));
  await cursorAfter(page, '"outer.tcp_dport":443');
  // 443 becomes 4438: no frame of the list is for it.
  await page.keyboard.type("8");
  await page.getByRole("button", { name: /\d differences$/ }).waitFor();
  const gone = groups(totals).first();
  const come = groups(totals)
    .filter({ hasText: /^Frames to TCP port 4438 that no rule .* are now sent to queue "web" by rule "web"/ })
    .first();
  expect(await gone.innerText()).toMatch(
    /^Frames to TCP port 443 that rule "web" sent to queue "web" no longer hit any rule/,
  );
  expect(await gone.innerText()).toMatch(/Before\s+● deliver\s+qp:web\s+by web\s+Now\s+▼ miss\s+no_rule\s+no rule/);
  expect(await violations(page)).toEqual([]);

  await come.getByRole("button", { name: "Add this frame" }).press("Enter");
  // Frames are no rules: the other differences stay true.
  expect(await gone.getByRole("button", { name: "Add this frame" }).isEnabled()).toBe(true);
  await page.getByRole("heading", { name: "Path of frame 3" }).waitFor();
  const frame = totals.getByRole("table", { name: "Frame 3 before and after" });
  await frame.waitFor();
  expect(await frame.getByRole("row", { name: /^Outcome/ }).textContent()).toMatch(/miss.*no_rule.*deliver.*qp:web/);
  const row = page.getByRole("grid").getByRole("row", { selected: true });
  await expect.poll(() => row.innerText()).toMatch(/> [\d.]+:4438/);
  await expectInside(row, page.getByRole("grid", { name: "Frames", exact: true }));
  await come.getByRole("button", { name: "Select frame 3", pressed: true }).waitFor();
  await page.getByRole("button", { name: /\d differences$/ }).waitFor();
});

test("descriptions and the order of keys change nothing: proved", async () => {
  const totals = await pin(rulesOn([WEB, MAIL], PORTS));
  const text = rulesOn([WEB, MAIL], PORTS);
  const { rules, ...rest } = JSON.parse(text) as { rules: Record<string, unknown>[] };
  const turned = rules.map((rule) => ({
    description: "the same",
    ...Object.fromEntries(Object.entries(rule).reverse()),
  }));
  await write(page, JSON.stringify({ title: "The same", rules: turned, ...rest }, null, 2));
  await totals.getByText("Of the rules before the last edit:").waitFor();
  await totals.getByText("Of the rules before the last edit:").waitFor({ state: "detached" });
  await totals.getByText(`${PROVED}. The rules are equivalent.`).waitFor();
  expect(await groups(totals).count()).toBe(0);
});

test("a rule that no frame comes to changes nothing, and what is not known is said", async () => {
  const totals = await pin(rulesOn([WEB, MAIL], PORTS));
  const dead = { ...WEB, name: "never", queue: "mail" };
  const text = rulesOn([WEB, MAIL, dead], PORTS);
  const document = JSON.parse(text) as { rules: object[] };
  document.rules[2] = { ...document.rules[2], priority: 1 };
  await write(page, JSON.stringify(document));
  await totals.getByText(`${PROVED}. No frame can notice the change.`).waitFor();

  const seeded = { ...document, device: { parser: { geneveOption0: { class: 1, type: 2 } } } };
  await write(page, JSON.stringify(seeded));
  await until(async () => expect(await totals.innerText()).toContain("Not known to be equivalent"));
  const change = totals.getByRole("listitem").filter({ hasText: "parser options" });
  expect(await change.innerText()).toBe(
    "The parser options of the device differ. Tried: nothing: any frame may notice it.",
  );
});

test("rules that are refused leave the last answer in view, marked, until the next good ones", async () => {
  const totals = await pin(rulesOn([WEB, MAIL], PORTS));
  await page.locator("body").press("c");
  await totals.getByText("All possible frames").waitFor({ state: "detached" });
  await totals.getByRole("radio", { name: "Pinned rules" }).check();
  await write(page, rulesOn([{ ...WEB, port: 80 }, MAIL], PORTS));
  await page.getByRole("button", { name: /\d differences$/ }).waitFor();
  await write(page, rulesOn([{ ...WEB, queue: "wob" }, MAIL], PORTS));
  await totals.getByText("Of the rules before the last edit:").waitFor();
  expect(await groups(totals).first().getByRole("button", { name: "Add this frame" }).isDisabled()).toBe(true);
  await write(page, rulesOn([WEB, MAIL], PORTS));
  await totals.getByText(PROVED).waitFor();
  expect(await groups(totals).count()).toBe(0);
});
