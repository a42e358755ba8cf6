/** Proofs in the pane "Rules": findings with repairs, and rules that no frame hits. */
import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { AXE, violations } from "../support/axe.js";
import { openPlayground, type OpenPage, type Playground } from "../support/page.js";
import { cursorAfter, editor, problems, until, untilText, write } from "./support/editor.js";

const RULES = 500;
/** The rule that asks for the port of another one, which comes before it. */
const DEAD = 317;
const TAKER = 42;

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
  await untilText(page, "flowsteer");
});
afterEach(async () => {
  expect(opened.faults).toEqual([]);
  await opened.context.close();
});

/** Rules on TCP ports of their own, of which one asks for the port of another. */
function manyRules(): string {
  const rules = Array.from({ length: RULES }, (_, i) => ({
    name: `rule ${i}`,
    table: "root",
    priority: i === DEAD ? 1 : 0,
    match: { "outer.tcp_dport": 1000 + (i === DEAD ? TAKER : i) },
    actions: [{ queue: i === DEAD ? "other" : "web" }],
  }));
  const written = rules.map((rule) => JSON.stringify(rule)).join(",\n");
  const objects = `"queues": [{ "name": "web" }, { "name": "other" }], "tables": [{ "name": "root", "level": 0 }]`;
  return `{ "flowsteer": 1, ${objects},\n"rules": [\n${written}\n] }`;
}

test("the dead rule of 500 is found, said and marked", async () => {
  await write(page, manyRules());
  const finding = problems(page).getByRole("button", { name: new RegExp(`warning.*"rule ${DEAD}".*"rule ${TAKER}"`) });
  await finding.click();
  const marked = page.locator(".cm-deadRule");
  await until(async () => expect((await marked.allInnerTexts()).join("")).toContain(`"rule ${DEAD}"`));
  const mark = page.locator(".cm-dead");
  expect(await mark.count()).toBe(1);
  expect(await mark.getAttribute("title")).toContain(`"rule ${TAKER}"`);
  expect(await violations(page)).toEqual([]);
  // No other rule is marked.
  const lines = await page
    .locator(".cm-line")
    .filter({ has: page.locator(".cm-deadRule") })
    .allInnerTexts();
  expect(lines.map((line) => /"rule \d+"/.exec(line)?.[0])).toEqual([`"rule ${DEAD}"`]);
});

test("a frame that hits the selected rule is added", async () => {
  await write(page, manyRules());
  await cursorAfter(page, '"rule 3"');
  await page.getByRole("button", { name: /^Add a frame that hits "rule 3"/ }).click();
  const row = page.getByRole("row").filter({ hasText: "1003" });
  await row.waitFor();
  expect(await row.innerText()).toContain("deliver");
  await page.getByRole("button", { name: "rule rule 3, hit" }).waitFor();
  await untilText(page, "rule 3");
});

/** Rules with a meter, and frames of which none comes to the red ones, with or without one that turns the meter off. */
function metered(off: boolean): string {
  const example = readFileSync(new URL("../../../examples/state-meter.json", import.meta.url), "utf8");
  const { expect: _, $schema: __, frames, ...rest } = JSON.parse(example) as { frames: object[] } & Json;
  return JSON.stringify({ ...rest, frames: frames.slice(0, off ? undefined : 1) }, null, 1);
}

type Json = Record<string, unknown>;

test("frames that must come before a witness keep their times, after a pause", async () => {
  await write(page, metered(false));
  await cursorAfter(page, '"name": "red"');
  await page.getByRole("button", { name: 'Add a frame that hits "red"' }).click();
  await page.getByRole("button", { name: "rule red, hit" }).waitFor();
  const selected = page.getByRole("grid").getByRole("row", { selected: true });
  const row = await selected.innerText();
  expect(row).toContain("drop_action");
  // The meter is full again 10 seconds after the frame of the document.
  expect(row).toMatch(/^\d+\s+10\.00000[1-9]\s/);
  const before = page.getByRole("row", { name: /^2 10\.000000 / });
  expect(await before.innerText()).toContain("deliver");
});

test("a witness that other frames keep from its rule says so", async () => {
  await write(page, metered(true));
  await cursorAfter(page, '"name": "red"');
  await page.getByRole("button", { name: 'Add a frame that hits "red"' }).click();
  await page.getByText(/^Frame \d+ does not hit "red": the frames before it left different state\.$/).waitFor();
});

test("a finding is repaired by its button, and a refusal takes the place of findings", async () => {
  const rules = `{
  "flowsteer": 1,
  "queues": [{ "name": "web" }],
  "counters": [{ "name": "hits" }],
  "flows": [{ "name": "all", "queue": "web", "type": "all_default" }]
}`;
  await write(page, rules);
  await problems(page)
    .getByText(/^1 note/)
    .waitFor();
  await until(async () =>
    expect((await page.locator(".cm-lintRange-info").allInnerTexts()).join("")).toContain("hits"),
  );
  await problems(page)
    .getByRole("button", { name: /^Remove/ })
    .click();
  await problems(page).waitFor({ state: "detached" });
  await untilText(page, "hits", false);
  await write(page, rules.replace('"queue": "web"', '"queue": "wob"'));
  await problems(page)
    .getByText(/^1 error/)
    .waitFor();
  expect(await problems(page).getByRole("listitem").count()).toBe(1);
  expect(await editor(page).innerText()).toContain("wob");
});
